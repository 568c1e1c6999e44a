// Timeline: how the memory grew, and with the slider what it held as of any day.
import { get, query } from "../api.js";
import { bars, legend } from "../chart.js";
import { $, h, say, show, soon } from "../dom.js";
import { KINDS, dayOf, empty, first as begin, number, plural, row, title } from "../format.js";
import { project, scoped } from "../project.js";

const DAY = 86400000;
const at = (text) => Date.parse(`${text}T00:00:00Z`);
const iso = (time) => new Date(time).toISOString().slice(0, 10);

export async function open(stage, { words }) {
  let data = await get("views/timeline", scoped({ at: words.get("at") }));
  if (!data.days.length) {
    show(stage, title("Timeline"), project() ? empty(`Nothing belongs to ${project()} yet.`) : begin("No time to look back on yet"));
    return {};
  }
  let first = at(data.days[0].day), last = Math.max(at(data.days.at(-1).day), first);
  const slider = h("input", { class: "slider", type: "range", min: 0, max: Math.round((last - first) / DAY), step: 1, "aria-label": "As of" });
  const picture = h("div", {}), list = h("div", {}), head = h("div", { class: "asof" });
  show(stage, title("Timeline"), h("div", { class: "card" }, picture, slider, head), list);

  const draw = () => {
    const chosen = at(data.at);
    slider.value = Math.round((chosen - first) / DAY);
    slider.setAttribute("aria-valuetext", dayOf(data.at));
    show(picture, columns(data.days, first, last, chosen), legend(KINDS.filter((kind) => data.days.some((one) => one.kinds[kind]))));
    show(head, h("b", {}, dayOf(data.at)), h("span", { class: "count" }, `${number(data.total)} records as of this day`));
    const days = new Map();
    for (const item of data.items) {
      const day = item.created.slice(0, 10);
      if (!days.has(day)) days.set(day, []);
      days.get(day).push(item);
    }
    const counts = new Map(data.days.map((one) => [one.day, one.kinds]));
    show(list, [...days].map(([day, items]) => oneDay(day, items, counts.get(day) ?? {})),
      data.items.length < data.total ? h("p", { class: "empty" }, h("button", { type: "button", onclick: more }, "Show earlier ones")) : null);
  };
  const load = async (day) => {
    data = await get("views/timeline", scoped({ at: day }));
    history.replaceState(null, "", `/timeline${query({ at: day })}`);
    draw();
    say(`${data.total} records as of ${dayOf(day)}`);
  };
  const more = async () => {
    const next = await get("views/timeline", scoped({ at: data.at, offset: data.items.length }));
    data.items.push(...next.items);
    draw();
  };
  const later = soon(load, 160);
  slider.addEventListener("input", () => {
    const day = iso(first + slider.valueAsNumber * DAY);
    $("b", head).textContent = dayOf(day);
    later(day);
  });
  draw();
  return {
    refresh: async () => {
      data = await get("views/timeline", scoped({ at: data.at }));
      first = at(data.days[0]?.day ?? data.at);
      last = Math.max(at(data.days.at(-1)?.day ?? data.at), first);
      slider.max = Math.round((last - first) / DAY);
      draw();
    },
  };
}

const FEW = 12; // records of a day that are shown at once: an import brings thousands
/** A day: how much of what, the first few, and the others when they are asked for. */
function oneDay(day, items, kinds) {
  const all = Object.entries(kinds).sort((a, b) => b[1] - a[1]).map(([kind, count]) => `${number(count)} ${plural(kind, count)}`).join(", ");
  const rest = h("ol", { class: "rows", hidden: true });
  return h("section", { class: "day" }, h("h2", {}, dayOf(day), h("small", {}, all)), h("ol", { class: "rows" }, items.slice(0, FEW).map((item) => row(item))), rest,
    items.length > FEW ? h("button", { type: "button", class: "quiet", onclick: (event) => {
      rest.hidden = false;
      show(rest, items.slice(FEW).map((item) => row(item)));
      event.currentTarget.remove();
    } }, `Show ${number(items.length - FEW)} more of this day`) : null);
}

/** At most 120 columns over the whole time; those after the chosen day are pale. */
function columns(days, first, last, chosen) {
  const span = Math.round((last - first) / DAY) + 1, wide = Math.max(1, Math.ceil(span / 120)), count = Math.ceil(span / wide);
  const found = Array.from({ length: count }, (_, i) => ({ label: dayOf(iso(first + i * wide * DAY)), parts: {}, after: first + i * wide * DAY > chosen }));
  for (const { day, kinds } of days) {
    const parts = found[Math.floor((at(day) - first) / DAY / wide)].parts;
    for (const kind of [...KINDS, ...Object.keys(kinds).filter((one) => !KINDS.includes(one))]) if (kinds[kind]) parts[kind] = (parts[kind] ?? 0) + kinds[kind];
  }
  return bars(found, { label: "Records by day", even: true, cursor: Math.min(1, ((chosen - first) / DAY / wide + 1 / wide) / count), ticks: [[0, dayOf(iso(first))], [1, dayOf(iso(last))]] });
}
