// Health: what fades, what is broken, how much is used, how the home grows; and the nightly round, watched live.
import { get, post } from "../api.js";
import { bars, legend } from "../chart.js";
import { h, show, toast } from "../dom.js";
import { KINDS, first, number, recordPath, title } from "../format.js";
import { project } from "../project.js";

export async function open(stage) {
  const job = h("div", { class: "card" });
  const body = h("div", {});
  let running = null;
  show(stage, title("Health", project() ? h("p", { class: "lead" }, "Of the whole home, whatever project is chosen.") : null), body, h("section", {}, h("h2", {}, "Upkeep"), job));

  const rest = (told = null) => {
    running = null;
    show(job, h("p", {}, "Take in hand edits, fold usage, climb the ladders, score decay, rebuild the front pages. A second run changes nothing."),
      h("div", { class: "bar proposal" }, h("button", { type: "button", class: "main", onclick: run }, "Run upkeep"),
        h("button", { type: "button", onclick: check }, "Check the files")), told);
  };
  const run = async () => {
    running = h("i", { style: { width: "2%" } });
    const count = h("p", { class: "count" }, "starting");
    running.count = count;
    show(job, h("p", {}, "Upkeep is running."), h("div", { class: "track", role: "progressbar", "aria-label": "Upkeep" }, running), count);
    try {
      const done = await post("upkeep");
      rest(report(done));
    } catch (error) {
      rest(h("p", { class: "notice" }, error.message));
    }
    await refresh();
  };
  const check = async () => {
    show(job, h("p", {}, "Looking at every file…"));
    try {
      const { findings } = await get("check");
      rest(h("div", { class: "proposal" }, findings.length ? findings.map(finding) : h("p", {}, "Everything is in order.")));
    } catch (error) {
      rest();
      toast(error.message, { bad: true });
    }
  };
  const refresh = async () => {
    const [data, gone] = await Promise.all([get("views/health"), get("views/forgotten")]);
    draw(body, data, gone, refresh);
  };
  rest();
  await refresh();
  return {
    refresh: () => { if (!running) refresh(); },
    progress: (told) => {
      if (!running || told.ended) return;
      running.style.width = `${Math.max(2, (100 * told.done) / Math.max(1, told.total))}%`;
      running.count.textContent = `step ${Math.min(told.done + 1, told.total)} of ${told.total}`;
    },
  };
}

function draw(body, data, gone, refresh) {
  if (!data.records && !data.findings.length && !gone.items.length) return show(body, first("Nothing to look after yet"));
  const { bins, width, statuses, pinned, fading } = data.decay;
  const months = data.growth.slice(-36);
  const uses = data.usage.days.map(({ day, doors }) => ({ label: day, parts: { plain: Object.values(doors).reduce((a, b) => a + b, 0) } }));
  const tile = (value, what) => h("div", { class: "tile" }, h("b", {}, value), h("span", {}, what));
  show(body,
    h("div", { class: "tiles" }, tile(number(data.records), "records"), tile(number(data.links), "links"), tile(number(data.uses), "times used"),
      tile(data.index_lag < 60 ? `${data.index_lag.toFixed(1)} s` : `${Math.round(data.index_lag / 60)} min`, "since the last sweep"), tile(number(data.findings.length), "findings")),
    h("section", { class: "grid" },
      h("div", { class: "card" }, h("h2", {}, "How strongly notes stand"),
        bars(bins.map((count, i) => ({ label: `score ${(i * width).toFixed(1)} to ${((i + 1) * width).toFixed(1)}`, parts: { plain: count } })), { width: 420, label: "Decay histogram", ticks: [[0, "0 faded"], [0.5, "1"], [1, "2 and more"]] }),
        h("div", { class: "legend" }, Object.entries(statuses).map(([name, count]) => h("span", {}, `${name} ${number(count)}`)), h("span", {}, `Pinned ${number(pinned)}`))),
      h("div", { class: "card" }, h("h2", {}, "Growth"),
        bars(months.map(({ month, kinds }) => ({ label: month, parts: Object.fromEntries([...KINDS, ...Object.keys(kinds)].filter((kind) => kinds[kind]).map((kind) => [kind, kinds[kind]])) })), { width: 420, label: "Records by month", ticks: months.length ? [[0, months[0].month], [1, months.at(-1).month]] : [] }),
        legend(KINDS.filter((kind) => months.some((one) => one.kinds[kind])))),
      h("div", { class: "card" }, h("h2", {}, "Use by day"), uses.length ? bars(uses, { width: 420, label: "Uses by day", ticks: [[0, uses[0].label], [1, uses.at(-1).label]] }) : h("p", { class: "lead" }, "Nothing was used yet.")),
      h("div", { class: "card" }, h("h2", {}, "Used most"), list(data.usage.top, (one) => `${number(one.uses)}×`, "Nothing was used yet.")),
      h("div", { class: "card" }, h("h2", {}, "Told by itself, in thirty days"), told(data.delivery)),
      h("div", { class: "card" }, h("h2", {}, "About to fade"), list(fading, (one) => one.score.toFixed(2), "No note is fading.")),
      h("div", { class: "card" }, h("h2", {}, "Forgotten"), gone.items.length ? h("ul", { class: "plainlist" }, gone.items.slice(0, 12).map((one) =>
        h("li", {}, h("a", { href: recordPath(one.id) }, one.title || one.id), h("button", { type: "button", class: "quiet", onclick: async () => {
          await post("restore", { id: one.id }).then(() => toast("Restored"), (error) => toast(error.message, { bad: true }));
          await refresh();
        } }, "Restore")))) : h("p", { class: "lead" }, "Nothing lies in the archive."))),
    data.findings.length ? h("section", {}, h("h2", {}, "Findings"), h("div", { class: "card" }, data.findings.map(finding))) : null,
    h("section", {}, h("h2", {}, "Index"), h("dl", { class: "facts card" }, [["Home", data.home], ["Index", data.index], ["Files", number(data.documents)], ["Passages", number(data.passages)], ["Tags", number(data.tags)]]
      .map(([name, value]) => [h("dt", {}, name), h("dd", {}, String(value))]))));
}

const list = (items, value, nothing) => (items.length ? h("ul", { class: "plainlist" }, items.map((one) =>
  h("li", {}, h("a", { href: recordPath(one.id) }, one.title), h("span", {}, value(one))))) : h("p", { class: "lead" }, nothing));

// what brief, prompt and edit brought, and whether the agent then used it
const told = (delivery) => (delivery.all.delivered ? h("ul", { class: "plainlist" }, Object.entries(delivery).filter(([, row]) => row.delivered).map(([door, row]) =>
  h("li", {}, h("span", {}, door), h("span", {}, `${number(row.delivered)} told, ${number(row.used)} used, ${number(row.ignored)} ignored${row.unseen ? `, ${number(row.unseen)} unseen` : ""}`))))
  : h("p", { class: "lead" }, "Nothing was told yet."));

const finding = (one) => h("div", { class: "finding" }, h("code", {}, one.line ? `${one.path}:${one.line}` : one.path), ` ${one.message}`, h("p", {}, one.remedy));

function report(done) {
  const lines = [...Object.entries(done.changed ?? {}), ...Object.entries(done.proposals ?? {})].flatMap(([rung, told]) => told.map((line) => h("li", {}, h("span", {}, rung), ` ${line}`)));
  const failed = Object.entries(done.failed ?? {}).map(([rung, why]) => h("p", { class: "notice" }, `${rung}: ${why}`));
  return h("div", { class: "proposal", role: "status" }, failed, lines.length ? h("ul", { class: "plainlist" }, lines.slice(0, 40)) : h("p", {}, "Nothing had to change."));
}
