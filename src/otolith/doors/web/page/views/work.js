// Work: what was done and how it went, what is unfinished; chapters and wisdom as stories one would read.
import { get } from "../api.js";
import { h, show } from "../dom.js";
import { dayOf, empty, first, number, projectOf, recordPath, row, tabs, tagsOf, title, undone } from "../format.js";
import { scoped } from "../project.js";

export async function open(stage, { words, go }) {
  let data = await get("views/work", scoped());
  const all = [["work", `Work ${number(data.total)}`], ["chapters", `Chapters ${number(data.chapters.length)}`], ["wisdom", `Wisdom ${number(data.wisdom.length)}`]];
  const tab = all.some(([name]) => name === words.get("tab")) ? words.get("tab") : "work";
  const place = h("div", { class: "proposal" });
  const draw = () => show(place, { work: works, chapters: () => stories(data.chapters, "No chapter yet.", "Chapters are drawn from works that belong together, by upkeep or with "), wisdom: () => stories(data.wisdom, "No wisdom yet.", "It is drawn from several chapters of a project, by upkeep; see also ") }[tab]());
  const works = () => [
    data.unfinished.length ? h("section", { class: "waits first-one" }, h("h2", {}, "Unfinished"), h("ul", { class: "card" }, data.unfinished.slice(0, 10).map(undone))) : null,
    data.items.length ? h("ol", { class: "rows" }, data.items.map((item) => row(item)))
      : [empty("No work is recorded. Agents do it by themselves once they are connected: ", h("code", {}, "otolith install claude-code"), "; by hand: ", h("code", {}, "otolith record"), "."), data.total ? null : first("Nothing was worked on yet")],
    data.items.length < data.total ? h("p", { class: "empty" }, h("button", { type: "button", onclick: more }, "Show earlier work")) : null];
  const more = async () => {
    const next = await get("views/work", scoped({ offset: data.items.length }));
    data = { ...next, items: [...data.items, ...next.items] };
    draw();
  };
  const stories = (list, nothing, how) => (list.length ? list.map((one) => h("article", { class: "story" },
    h("h2", {}, h("a", { href: recordPath(one.id) }, one.title)),
    h("p", { class: "meta" }, h("span", {}, one.from.slice(0, 10) === one.to.slice(0, 10) ? dayOf(one.from) : `${dayOf(one.from)} to ${dayOf(one.to)}`), h("span", {}, `${number(one.parts)} ${tab === "chapters" ? (one.parts === 1 ? "work" : "works") : one.parts === 1 ? "chapter" : "chapters"}`), projectOf(one.project), tagsOf(one.tags)),
    h("p", {}, one.summary))) : empty(nothing, " ", how, h("code", {}, tab === "chapters" ? "otolith chapter" : "otolith upkeep"), "."));
  show(stage, title("Work"), tabs(all, tab, "What to show", go, "/work"), place);
  draw();
  return { refresh: async () => { data = await get("views/work", scoped({ limit: Math.max(40, data.items.length) })); draw(); } };
}
