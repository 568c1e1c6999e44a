// Today: what was done lately, day by day, and what waits for a person; below it what an agent is told first.
import { get } from "../api.js";
import { h, show } from "../dom.js";
import { dayOf, first, longDay, number, plural, row, title, undone } from "../format.js";
import { project, scoped } from "../project.js";

const A_DAY = 6; // records of a day that are shown; the rest is counted

export async function open(stage, { data }) {
  draw(stage, data ?? (await get("views/today", scoped())));
  return { refresh: async () => draw(stage, await get("views/today", scoped())) };
}

function draw(stage, data) {
  requestAnimationFrame(() => setTimeout(() => performance.mark("today"))); // measured by bench/serve.py
  const nothing = !data.changed.length;
  show(stage,
    title(longDay(data.date), h("p", { class: "lead" }, nothing ? (project() ? `Nothing belongs to ${project()} yet.` : "Nothing is kept yet.") : lately(data))),
    nothing && !project() ? first("Welcome") : [waiting(data), done(data)],
    data.diary.length && !project() ? h("section", {}, h("h2", {}, "Diary"), h("ul", { class: "plainlist card" }, data.diary.map((one) =>
      h("li", {}, h("span", { class: "text" }, one.title), h("span", {}, dayOf(one.at)))))) : null,
    data.brief && !nothing ? h("section", {}, h("h2", {}, "What an agent is told first"), brief(data.brief)) : null);
}

/** The brief is below the fold: what renders Markdown is loaded when the rest stands. */
function brief(text) {
  const box = h("div", { class: "card" });
  import("../markdown.js").then(({ folded }) => show(box, folded(text, { breaks: true })));
  return box;
}

function lately(data) {
  const week = new Map();
  const since = new Date(Date.parse(`${data.date}T00:00:00Z`) - 6 * 86400000).toISOString().slice(0, 10);
  for (const { day, kinds } of data.days) if (day >= since) for (const [kind, count] of Object.entries(kinds)) week.set(kind, (week.get(kind) ?? 0) + count);
  if (!week.size) return `Nothing new in seven days; the last was kept on ${dayOf(data.changed[0].changed)}.`;
  return `In seven days: ${[...week].sort((a, b) => b[1] - a[1]).map(([kind, count]) => `${number(count)} ${plural(kind, count)}`).join(", ")}.`;
}

function waiting(data) {
  const { facts, contradictions, findings, unfinished } = data.waiting;
  const item = (count, what, path, why) => (count ? h("li", {}, h("a", { href: path }, h("b", {}, number(count)), ` ${what}`), h("span", {}, why)) : null);
  const lines = [
    item(contradictions, contradictions === 1 ? "contradiction" : "contradictions", "/review?tab=contradictions", "two statements, and only you know which holds"),
    item(facts, facts === 1 ? "fact to review" : "facts to review", "/review", "drawn from dialogs, not yet seen by anybody"),
    item(findings, findings === 1 ? "file to look at" : "files to look at", "/health", "something in the home cannot be read as it stands"),
    ...unfinished.map(undone),
  ].filter(Boolean);
  return h("section", { class: "waits", "aria-labelledby": "waits" }, h("h2", { id: "waits" }, "What waits for you"),
    lines.length ? h("ul", { class: "card" }, lines) : h("p", { class: "lead" }, "Nothing. All is answered."));
}

/** By day, newest first: a few records of each, and how many more there were. */
function done(data) {
  const days = new Map();
  for (const item of data.changed) {
    const day = item.changed.slice(0, 10);
    if (!days.has(day)) days.set(day, []);
    days.get(day).push(item);
  }
  const counts = new Map(data.days.map(({ day, kinds }) => [day, Object.values(kinds).reduce((a, b) => a + b, 0)]));
  return h("section", { "aria-labelledby": "changed" }, h("h2", { id: "changed" }, "Done lately"),
    [...days].slice(0, 8).map(([day, items]) => {
      const more = Math.max(counts.get(day) ?? 0, items.length) - Math.min(A_DAY, items.length);
      return h("div", { class: "day" }, h("h3", {}, day === data.date ? "Today" : dayOf(day)),
        h("ol", { class: "rows" }, items.slice(0, A_DAY).map((item) => row(item))),
        more > 0 ? h("a", { class: "more-of", href: `/timeline?at=${day}` }, `and ${number(more)} more`) : null);
    }));
}
