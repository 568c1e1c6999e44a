// A record: its text, what it is linked to, what happened to it; edit with conflicts shown, pin, forget, restore.
import { Refused, change, get, post, query } from "../api.js";
import { $, h, show, toast } from "../dom.js";
import { mark, moment, number, recordPath, rowOf, tagsOf, title, when } from "../format.js";
import { article } from "../markdown.js";

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
      title(data.title || data.id, h("p", { class: "meta lead" }, mark(data.kind, data.type), when(data.created), data.pinned ? h("span", {}, "pinned") : null, tagsOf(data.tags))),
      data.superseded_by ? h("p", { class: "notice" }, "Something newer takes its place: ", h("a", { href: recordPath(data.superseded_by) }, data.superseded_by)) : null,
      h("div", { class: "about" },
        h("div", {}, article(data.text, "prose", { breaks: rowOf(data.kind).lines }), data.forgotten ? null : actions()),
        h("aside", { "aria-label": "About this record" }, links(), standing(), about(), happened())));
  };
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
      toast(done, verb === "forget" ? { undo: () => act("restore", "Restored") } : {});
      data = await get("views/record", { id: data.id, again: true });
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
    h("li", {}, h("b", {}, one.verb), " ", when(one.ts), one.origin?.door ? ` by ${one.origin.door}` : "")))) : null);

  // Editing

  const edit = (from = null) => {
    if (!data.editable.length) return;
    const before = from instanceof Event || !from ? data.record : from;
    const etag = data.etag;
    form = h("form", { class: "form card", onsubmit: (event) => { event.preventDefault(); save(etag, fields(form, data)); } },
      data.editable.map((name) => field(name, before[name])),
      h("div", { class: "bar" }, h("button", { class: "main" }, "Save"), h("button", { type: "button", class: "quiet", onclick: draw }, "Cancel")));
    show(stage, title(`Edit: ${data.title}`), notice, form);
    $("input, textarea", form).focus();
  };
  const save = async (etag, now) => {
    const changed = Object.fromEntries(Object.entries(now).filter(([name, value]) => JSON.stringify(value) !== JSON.stringify(data.record[name] ?? (name === "tags" ? [] : ""))));
    if (!Object.keys(changed).length) return draw();
    try {
      await change(data.id, etag, changed);
      data = await get("views/record", { id: data.id, again: true });
      toast("Saved");
      draw();
    } catch (error) {
      if (error instanceof Refused && error.status === 409 && error.body?.current) clash(changed, error.body.current);
      else toast(error.message, { bad: true });
    }
  };
  const clash = (mine, current) => {
    form = null;
    const names = Object.keys(mine);
    const side = (name, other, own) => h("div", {}, h("h3", {}, name), names.map((one) => h("div", { class: "diff" }, difference(flat(other[one]), flat(own[one])))));
    show(stage, title(`Edit: ${data.title}`), h("div", { class: "card clash", role: "alert" }, h("h2", {}, "This record was changed meanwhile"),
      h("p", { class: "lead" }, "Nothing was overwritten. Both versions stand here; choose one, or go on editing yours."),
      h("div", { class: "pair" }, side("Yours", current.record, mine), side("In the home now", mine, current.record)),
      h("div", { class: "bar proposal" },
        h("button", { type: "button", class: "main", onclick: () => { data = { ...data, record: current.record, etag: current.etag }; save(current.etag, mine); } }, "Keep mine"),
        h("button", { type: "button", onclick: async () => { data = await get("views/record", { id: data.id, again: true }); draw(); } }, "Take theirs"),
        h("button", { type: "button", onclick: () => { data = { ...data, record: current.record, etag: current.etag }; edit({ ...current.record, ...mine }); } }, "Go on editing"))));
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

const flat = (value) => (Array.isArray(value) ? value.join(", ") : String(value ?? ""));

/** The lines of `now`, with those that are not in `before` marked, and in their place those that are gone. */
function difference(before, now) {
  const a = before.split("\n"), b = now.split("\n");
  if (a.length * b.length > 400000) return [h("span", {}, now)];
  const table = Array.from({ length: a.length + 1 }, () => new Int32Array(b.length + 1));
  for (let i = a.length - 1; i >= 0; i -= 1) for (let j = b.length - 1; j >= 0; j -= 1) table[i][j] = a[i] === b[j] ? table[i + 1][j + 1] + 1 : Math.max(table[i + 1][j], table[i][j + 1]);
  const out = [];
  let i = 0, j = 0;
  while (j < b.length || i < a.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) { out.push(h("span", {}, b[j] || " ")); i += 1; j += 1; }
    else if (j < b.length && (i >= a.length || table[i][j + 1] >= table[i + 1][j])) { out.push(h("ins", {}, b[j] || " ")); j += 1; }
    else i += 1;
  }
  return out;
}
