// History: what changed in what is held true, what agents were told and whether they used it, and who did what.
import { get } from "../api.js";
import { h, show } from "../dom.js";
import { dayOf, empty, mark, moment, number, recordPath, tabs, title } from "../format.js";
import { project, scoped } from "../project.js";

const TABS = [["changes", "What changed"], ["told", "Told to agents"], ["audit", "Audit"]];
const BY = { brief: "at the start of a session", prompt: "with a question", edit: "before an edit" };

export async function open(stage, { words, go }) {
  const tab = TABS.some(([name]) => name === words.get("tab")) ? words.get("tab") : "changes";
  const place = h("div", { class: "proposal" });
  show(stage, title("History"), tabs(TABS, tab, "What to show", go, "/history"), place);
  await { changes, told, audit }[tab](place, words.get("about") ?? "");
  return {};
}

/** What held when: of everything, or of one person, thing or topic. */
async function changes(place, about) {
  const list = h("div", {});
  const draw = async (asked) => {
    try {
      const found = await get("history", asked ? { about: asked, limit: 200 } : { limit: 200 });
      const items = found.items.filter((one) => !project() || ["", "default", project()].includes(one.project ?? ""));
      show(list, items.length ? h("ol", { class: "events" }, items.toReversed().map(event)) : empty("Nothing was said that something later replaced. When a statement changes, the old and the new one stand here."));
    } catch (error) {
      show(list, empty(error.message));
    }
  };
  const event = (one) => h("li", {}, h("time", { datetime: one.when }, dayOf(one.when)), h("div", {},
    h("a", { href: recordPath(one.record) }, one.text || one.record), one.was ? h("p", {}, "instead of ", h("del", {}, one.was)) : null,
    h("p", { class: "meta" }, h("span", {}, one.what), one.until ? h("span", {}, `held until ${dayOf(one.until)}`) : null, one.topic ? h("span", {}, one.topic) : null, one.project && one.project !== "default" ? h("span", {}, one.project) : null, one.why ? h("q", {}, one.why) : null)));
  const form = h("form", { class: "bar", onsubmit: (event) => { event.preventDefault(); draw(form.elements.about.value.trim()); } },
    h("input", { name: "about", type: "search", "aria-label": "About", placeholder: "A person, a thing or a topic", value: about }), h("button", {}, "Show"));
  show(place, form, list);
  await draw(about);
}

async function told(place) {
  let data = await get("views/told", scoped());
  const draw = () => {
    const all = data.counts.all;
    show(place, all.delivered ? h("p", { class: "lead" }, `In thirty days ${number(all.delivered)} records were told, ${number(all.used)} of them used, ${number(all.ignored)} not; of ${number(all.unseen)} nobody can tell.`) : null,
      data.items.length ? h("ol", { class: "events" }, data.items.map((one) => h("li", {}, h("time", { datetime: one.at, title: one.session }, moment(one.at)), h("div", {},
        h("p", { class: "meta" }, BY[one.by] ?? one.by), h("ul", { class: "plainlist" }, one.records.map((record) => h("li", {},
          record.title ? h("a", { href: recordPath(record.id) }, record.title) : h("span", { class: "text" }, "no longer there"),
          h("span", { class: record.used ? "went well" : "" }, record.used === null ? "not seen yet" : record.used ? "used" : "not used"))))))))
        : empty("No agent was told anything yet. Connect one with ", h("code", {}, "otolith install claude-code"), "; what it is told, and whether it used it, stands here."),
      data.items.length < data.total ? h("p", { class: "empty" }, h("button", { type: "button", onclick: more }, "Show earlier ones")) : null);
  };
  const more = async () => {
    const next = await get("views/told", scoped({ offset: data.items.length }));
    data = { ...next, items: [...data.items, ...next.items] };
    draw();
  };
  draw();
}

async function audit(place) {
  const asked = { verb: "", door: "" };
  let data = await get("views/audit", scoped());
  const list = h("div", {});
  const choose = (name, label, values) => h("select", { "aria-label": label, onchange: async (event) => { asked[name] = event.target.value; data = await get("views/audit", scoped(asked)); draw(); } },
    h("option", { value: "" }, label), values.map((one) => h("option", { value: one }, one)));
  const draw = () => show(list, data.items.length ? h("ol", { class: "events" }, data.items.map((one) => h("li", {}, h("time", { datetime: one.ts }, moment(one.ts)), h("div", {},
    h("p", {}, h("b", {}, one.verb), " ", one.title ? h("a", { href: recordPath(one.id) }, one.title) : h("code", {}, one.id)),
    h("p", { class: "meta" }, mark(one.kind), h("span", {}, [one.origin?.agent, one.origin?.door].filter(Boolean).join(" by ")), one.origin?.project && one.origin.project !== "default" ? h("span", {}, one.origin.project) : null)))))
    : empty("Nothing was written yet. Every write stands here: who, when, through which door; nothing of its content."),
  data.items.length < data.total ? h("p", { class: "empty" }, h("button", { type: "button", onclick: more }, "Show earlier ones")) : null);
  const more = async () => {
    const next = await get("views/audit", scoped({ ...asked, offset: data.items.length }));
    data = { ...next, items: [...data.items, ...next.items] };
    draw();
  };
  show(place, data.items.length ? h("div", { class: "bar" }, choose("verb", "All acts", data.verbs), choose("door", "All doors", data.doors)) : null, list);
  draw();
}
