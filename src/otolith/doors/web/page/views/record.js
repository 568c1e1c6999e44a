// A record: its text or layers, what it is linked to, what became of it and of what it says; edit with conflicts shown, pin, forget,
// restore, and former versions.
import { Refused, change, get, post, query } from "../api.js";
import { difference, flat } from "../diff.js";
import { $, h, show, toast } from "../dom.js";
import * as drafts from "../drafts.js";
import { dayOf, mark, moment, number, projectOf, recordPath, rowOf, tagsOf, title, when } from "../format.js";
import * as layers from "../layers.js";
import { article } from "../markdown.js";

const SHOWN = { work: layers.work, chapter: layers.story, wisdom: layers.story };
const MAIN = ["text", "content", "summary"];

export async function open(stage, { rest, go }) {
  let data = await get("views/record", { id: rest });
  let form = null;
  let acting = 0;
  const notice = h("div", { role: "status" });

  const draw = () => {
    form = null;
    show(notice);
    show(stage, notice, data.forgotten ? gone() : null,
      title(data.title || data.id, h("p", { class: "meta lead" }, mark(data.kind, data.type), when(data.created), projectOf(data.project), data.pinned ? h("span", {}, "pinned") : null, tagsOf(data.tags))),
      data.newer ? h("p", { class: "notice" }, "Something newer takes its place: ", h("a", { href: recordPath(data.newer.id) }, data.newer.title)) : null,
      h("div", { class: "about" },
        h("div", {}, body(), data.forgotten ? null : actions(), versions()),
        h("aside", { "aria-label": "About this record" }, links(), held(), standing(), about(), happened())));
  };
  const body = () => (SHOWN[data.kind] && !data.forgotten ? SHOWN[data.kind](data) : article(data.text, "prose", { breaks: rowOf(data.kind).lines }));
  const gone = () => h("div", { class: "gone" }, h("span", {}, "This record is forgotten: it lies in the archive and is not recalled."),
    h("button", { type: "button", onclick: () => act("restore", "Restored") }, "Restore"));
  const actions = () => h("div", { class: "bar proposal" },
    data.editable.length ? h("button", { type: "button", onclick: edit }, "Edit", h("kbd", {}, "e")) : null,
    !rowOf(data.kind).pin ? null : h("button", { type: "button", onclick: pin }, data.pinned ? "Unpin" : "Pin", h("kbd", {}, "p")),
    !rowOf(data.kind).forget ? null : h("button", { type: "button", class: "bad", onclick: forget }, "Forget"),
    h("a", { class: "button quiet", href: `/graph${query({ around: data.id })}` }, "Graph"));

  const act = async (verb, done, more = {}) => {
    acting += 1;
    try {
      await post(verb, { id: data.id, ...more });
      data = await get("views/record", { id: data.id, again: true });
      const undo = { forget: () => act("restore", "Restored"), pin: () => act("pin", "Taken back", { pinned: !more.pinned }),
        restore: more.version && data.versions.length ? () => act("restore", "Taken back", { version: data.versions[0].version }) : null }[verb];
      toast(done, done === "Taken back" || !undo ? {} : { undo });
      draw();
    } catch (error) {
      toast(error.message, { bad: true });
    } finally {
      acting -= 1;
    }
  };
  const pin = () => act("pin", data.pinned ? "Unpinned" : "Pinned", { pinned: !data.pinned });
  const forget = () => act("forget", "Forgotten");

  const links = () => (data.links.length ? h("section", {}, h("h2", {}, "Links"), h("ul", { class: "links" }, data.links.slice(0, 40).map((one) =>
    h("li", {}, h("small", {}, one.link.replaceAll("_", " ")), h("a", { href: recordPath(one.id) }, one.title || one.id), one.context ? h("small", {}, one.context) : null)))) : null);
  const standing = () => (data.decay ? h("section", {}, h("h2", {}, "Standing"), h("p", {}, data.pinned ? "Pinned; it does not fade." : `${data.decay.status}, ${data.decay.score}`),
    data.decay.next && !data.pinned ? h("p", { class: "lead" }, `${data.decay.next.status} in ${Math.round(data.decay.next.days)} days if nobody asks`) : null) : null);
  const about = () => h("section", {}, h("h2", {}, "About"), h("dl", { class: "facts" }, [
    ["File", data.path], ["Written", data.created ? moment(data.created) : null], ["Changed", data.updated ? moment(data.updated) : null],
    ["By", data.origin ? [data.origin.agent, data.origin.door].filter(Boolean).join(", ") : null], ["Trust", data.origin?.trust], ["Project", data.project],
    ["Importance", data.importance], ["Used", data.uses ? (data.uses === 1 ? "once" : `${number(data.uses)} times`) : "never"], ["Id", data.id],
  ].filter(([, value]) => value !== null && value !== undefined && value !== "").map(([name, value]) => [h("dt", {}, name), h("dd", {}, String(value))])));
  const happened = () => (data.history.length ? h("section", {}, h("h2", {}, "History"), h("ol", { class: "log" }, data.history.slice(0, 20).map((one) =>
    h("li", {}, h("b", {}, one.verb), " ", when(one.ts), one.origin?.agent || one.origin?.door ? ` by ${[one.origin.agent, one.origin.door].filter(Boolean).join(", ")}` : "")))) : null);

  const held = () => (data.claims.length ? h("section", {}, h("h2", {}, "What it says"), h("ul", { class: "links" }, data.claims.slice(0, 12).map((one) => h("li", {},
    one.until ? h("del", {}, one.text) : one.text, h("small", {}, one.until ? `from ${dayOf(one.since)} to ${dayOf(one.until)}` : `since ${dayOf(one.since)}`),
    one.closed_by ? h("a", { href: recordPath(one.closed_by.id) }, one.closed_by.text) : null)))) : null);

  /** What edits replaced: each version beside what came after it, and a way back. */
  const versions = () => (data.versions.length ? h("section", { class: "versions" }, h("h2", {}, "Former versions"), data.versions.map((one, at) => {
    const after = at ? data.versions[at - 1].record : data.record;
    const changed = Object.keys(one.record).filter((name) => flat(one.record[name]) !== flat(after[name] ?? ""));
    return h("details", { class: "more" }, h("summary", {}, `until ${moment(one.until)}`, h("small", {}, changed.length ? ` ${changed.join(", ")} changed` : " nothing changed")),
      changed.map((name) => [h("h3", {}, name), h("div", { class: "diff", tabindex: 0, role: "group", "aria-label": `What changed in ${name}` }, difference(flat(one.record[name]), flat(after[name]), { gone: true }))]),
      h("div", { class: "bar proposal" }, h("button", { type: "button", onclick: () => act("restore", "This version is back", { version: one.version }) }, "Bring this version back")));
  })) : null);

  // Editing

  const edit = (from = null) => {
    if (!data.editable.length) return;
    const before = from instanceof Event || !from ? data.record : from;
    const etag = data.etag;
    form = h("form", { class: "form card", onsubmit: (event) => { event.preventDefault(); save(etag, fields(form, data)); } },
      data.editable.map((name) => field(name, before[name])),
      h("div", { class: "bar" }, h("button", { class: "main" }, "Save"), h("button", { type: "button", class: "quiet", onclick: leave }, "Cancel")));
    if (drafts.keep(form, `edit ${data.id}`)) show(notice, h("p", { class: "notice" }, "This is what you typed before."));
    show(stage, title(`Edit: ${data.title}`), notice, form);
    $("input, textarea", form).focus();
  };
  const leave = () => { drafts.clear(`edit ${data.id}`); draw(); };
  const save = async (etag, now) => {
    const changed = Object.fromEntries(Object.entries(now).filter(([name, value]) => JSON.stringify(value) !== JSON.stringify(data.record[name] ?? (name === "tags" ? [] : ""))));
    if (!Object.keys(changed).length) return leave();
    try {
      await change(data.id, etag, changed);
      drafts.clear(`edit ${data.id}`);
      data = await get("views/record", { id: data.id, again: true });
      const before = data.versions[0]?.version;
      toast("Saved", before ? { undo: () => act("restore", "Taken back", { version: before }) } : {});
      draw();
    } catch (error) {
      if (error instanceof Refused && error.status === 409 && error.body?.current) clash(changed, error.body.current);
      else toast(`${error.message}. What you typed is still here.`, { bad: true });
    }
  };
  const clash = (mine, current) => {
    form = null;
    const names = Object.keys(mine);
    const side = (name, other, own) => h("div", {}, h("h3", {}, name), names.map((one) => h("div", { class: "diff", tabindex: 0, role: "group", "aria-label": `${name}: ${one}` }, difference(flat(other[one]), flat(own[one])))));
    show(stage, title(`Edit: ${data.title}`), h("div", { class: "card clash", role: "alert" }, h("h2", {}, "This record was changed meanwhile"),
      h("p", { class: "lead" }, "Nothing was overwritten. Both versions stand here; choose one, or go on editing yours."),
      h("div", { class: "pair" }, side("Yours", current.record, mine), side("In the home now", mine, current.record)),
      h("div", { class: "bar proposal" },
        h("button", { type: "button", class: "main", onclick: () => { data = { ...data, record: current.record, etag: current.etag }; save(current.etag, mine); } }, "Keep mine"),
        h("button", { type: "button", onclick: async () => { drafts.clear(`edit ${data.id}`); data = await get("views/record", { id: data.id, again: true }); draw(); } }, "Take theirs"),
        h("button", { type: "button", onclick: () => { drafts.clear(`edit ${data.id}`); data = { ...data, record: current.record, etag: current.etag }; edit({ ...current.record, ...mine }); } }, "Go on editing"))));
  };

  const latest = async () => {
    for (let tries = 0; ; tries += 1) {
      try {
        return await get("views/record", { id: data.id, again: true });
      } catch (error) {
        if (error.status === 404 && (acting || tries)) return null; // gone for good, or on its way
        if (error.status !== 404) return data;
        await new Promise((later) => setTimeout(later, 500));
      }
    }
  };

  draw();
  return {
    key: (key) => {
      if (form || data.forgotten) return false;
      if (key === "e") edit();
      else if (key === "p") pin();
      else return false;
      return true;
    },
    refresh: async (told) => {
      if (!told.lost && !told.records.some((one) => one.id === data.id)) return;
      const now = await latest();
      if (acting) return; // while it moves it may be nowhere for a moment; whoever moves it looks again
      if (!now) { if (!form) go("/"); return; }
      if (now.etag === data.etag && now.pinned === data.pinned && now.forgotten === data.forgotten) return;
      if (form) show(notice, h("p", { class: "notice" }, "The file was changed elsewhere while you edit. Saving will show both versions."));
      else if (!$(".clash", stage)) { data = now; draw(); }
    },
  };
}

function field(name, value) {
  const label = name[0].toUpperCase() + name.slice(1);
  if (MAIN.includes(name)) return h("label", { class: "field" }, label, h("textarea", { name, rows: 14, value: value ?? "" }));
  if (["importance", "strength", "confidence"].includes(name)) return h("label", { class: "field" }, label, h("input", { name, type: "number", min: 0, max: 1, step: 0.05, value: value ?? "" }));
  return h("label", { class: "field" }, label, h("input", { name, value: Array.isArray(value) ? value.join(", ") : value ?? "" }));
}

function fields(form, data) {
  const found = {};
  for (const [name, value] of new FormData(form)) {
    if (name === "tags") found.tags = String(value).split(",").map((tag) => tag.trim()).filter(Boolean);
    else if (["importance", "strength", "confidence"].includes(name)) { if (value !== "") found[name] = Number(value); }
    else if (String(value) !== String(data.record[name] ?? "").replaceAll("\r\n", "\n")) found[name] = String(value).replaceAll("\r\n", "\n");
  }
  return found;
}
