// Today: the brief, what changed, what waits for a person.
import { get } from "../api.js";
import { h, show } from "../dom.js";
import { KINDS, empty, longDay, moment, number, plural, row, title } from "../format.js";
import { folded } from "../markdown.js";

export async function open(stage, { data }) {
  draw(stage, data ?? (await get("views/today")));
  return { refresh: async () => draw(stage, await get("views/today")) };
}

function draw(stage, data) {
  requestAnimationFrame(() => setTimeout(() => performance.mark("today"))); // measured by bench/serve.py
  const kinds = Object.entries(data.kinds).filter(([kind]) => KINDS.includes(kind))
    .sort((a, b) => b[1] - a[1]).slice(0, 6).map(([kind, count]) => `${number(count)} ${plural(kind, count)}`);
  show(stage,
    title(longDay(data.date), h("p", { class: "lead" }, kinds.length ? kinds.join(" · ") : "Nothing is kept yet.")),
    waiting(data),
    data.brief ? h("section", {}, h("h2", {}, "Brief"), h("div", { class: "card" }, folded(data.brief, { breaks: true }))) : null,
    h("section", { "aria-labelledby": "changed" }, h("h2", { id: "changed" }, "What changed"),
      data.changed.length ? h("ol", { class: "rows" }, data.changed.map((item) => row(item)))
        : empty("Keep a first note with ", h("code", {}, "otolith note"), " or let an agent remember.")),
    data.diary.length ? h("section", {}, h("h2", {}, "Diary"), h("ul", { class: "plainlist card" }, data.diary.map((one) =>
      h("li", {}, h("a", {}, one.title), h("span", {}, moment(one.at)))))) : null);
}

function waiting(data) {
  const { facts, contradictions, findings } = data.waiting;
  const tile = (count, what, path) => h("a", { class: count ? "tile" : "tile calm", href: path }, h("b", {}, number(count)), h("span", {}, what));
  return h("div", { class: "tiles", role: "group", "aria-label": "What waits for you" },
    tile(facts, facts === 1 ? "fact to review" : "facts to review", "/review"),
    tile(contradictions, contradictions === 1 ? "contradiction" : "contradictions", "/review?tab=contradictions"),
    tile(findings, findings === 1 ? "finding" : "findings", "/health"),
    tile(data.new_this_week, "new this week", "/timeline"));
}
