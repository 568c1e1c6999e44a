// New: a note, a memo, a dialog that is pasted, files that are dropped. What is typed stays, whatever becomes of the server.
import { get, post } from "../api.js";
import { $, h, show, toast } from "../dom.js";
import * as drafts from "../drafts.js";
import { number, plural, recordPath, tabs, title } from "../format.js";
import table from "../kinds.js";
import { project } from "../project.js";

const TABS = [["note", "Note"], ["memo", "Memo"], ["dialog", "Dialog"], ["files", "Files"]];
const MOST = 3 << 20; // bytes that one drop may have; the server takes a request of four
const field = (label, element, hint = "") => h("label", { class: "field" }, label, element, hint ? h("small", {}, hint) : null);
const words = (text) => String(text ?? "").split(",").map((word) => word.trim()).filter(Boolean);

export async function open(stage, { words: asked, go }) {
  const tab = TABS.some(([name]) => name === asked.get("tab")) ? asked.get("tab") : "note";
  const place = h("div", { class: "proposal" });
  show(stage, title("New", h("p", { class: "lead" }, project() ? `It is kept in the project ${project()}.` : "It is kept in a file of your home.")), tabs(TABS, tab, "What to keep", go, "/new"), place);
  if (tab === "files") return files(place);
  const form = { note, memo, dialog }[tab](go);
  if (asked.get("title") && form.elements.title) form.elements.title.value = asked.get("title");
  const had = drafts.keep(form, tab);
  show(place, had ? h("p", { class: "notice" }, "This is what you typed before. ", h("button", { type: "button", class: "quiet", onclick: () => { drafts.clear(tab); go(`/new?tab=${tab}`); } }, "Begin anew")) : null, form);
  if (tab === "dialog") get("topics").then(({ items }) => show($("#topics", form), items.map((one) => h("option", { value: one.topic }))), () => {});
  return { shown: () => $("input, textarea", form).focus() };
}

function form(name, fields, send, go) {
  const button = h("button", { class: "main" }, "Keep");
  const told = h("div", { role: "alert" });
  const box = h("form", { class: "form card", onsubmit: async (event) => {
    event.preventDefault();
    const given = Object.fromEntries(new FormData(box));
    button.disabled = true;
    show(told);
    try {
      const made = await send(given);
      drafts.clear(name);
      toast("Kept", { undo: () => post("forget", { id: made.id }).then(() => toast("Taken back"), (error) => toast(error.message, { bad: true })) });
      go(recordPath(made.id));
    } catch (error) { // the form stays as it is
      show(told, h("p", { class: "notice" }, `${error.message[0].toUpperCase()}${error.message.slice(1)}. What you typed is still here.`));
      button.disabled = false;
    }
  } }, fields, told, h("div", { class: "bar" }, button));
  return box;
}

const note = (go) => form("note", [
  field("Title", h("input", { name: "title", required: true, maxlength: 300 })),
  field("Text", h("textarea", { name: "text", rows: 10 }), "Markdown; [[Title]] links to another record"),
  h("div", { class: "fields" },
    field("Type", h("select", { name: "type" }, table.note_types.map((one) => h("option", { value: one.name, selected: one.name === "general" }, one.name.replaceAll("_", " "))))),
    field("Tags", h("input", { name: "tags" }), "separated by commas")),
], ({ tags, ...given }) => post("note", { ...given, tags: words(tags), ...(project() ? { project: project() } : {}) }), go);

const memo = (go) => form("memo", [
  field("What to keep in mind", h("textarea", { name: "text", rows: 4, required: true }), "one thing, in a sentence or two: agents are told it at the start of a session"),
  h("div", { class: "fields" },
    field("Name", h("input", { name: "name", placeholder: "made from the text" }), "three words or more"),
    field("It is about", h("select", { name: "category" }, [["present", "how things are"], ["past", "what was learned"], ["future", "what is to come"]].map(([name, text]) => h("option", { value: name }, text))))),
], ({ name, text, category }) => post("memo", { name: slug(name || text), text, category, ...(project() ? { project: project() } : {}) }), go);

const slug = (text) => text.toLowerCase().normalize("NFC").replace(/[^\p{L}\p{M}\p{N}]+/gu, "_").replace(/^_+|_+$/g, "").split("_").slice(0, 8).join("_");

const dialog = (go) => form("dialog", [
  field("Dialog", h("textarea", { name: "dialog", rows: 14, required: true, placeholder: "Ann: I moved to Lisbon in May.\nAssistant: How do you like it?" }), "one turn a line, each with who said it; facts are drawn from it"),
  h("div", { class: "fields" }, field("Topic", h("input", { name: "topic", required: true, list: "topics" }), "what it is about, in a word or two"),
    h("datalist", { id: "topics" }), field("Title", h("input", { name: "title" }), "may be left out")),
], ({ dialog: said, topic, title: name }) => post("log", { dialog: said, topic: slug(topic).replaceAll("_", "-"), ...(name ? { title: name } : {}), ...(project() ? { project: project() } : {}) }), go);

// Files

function files(place) {
  const told = h("div", { role: "status", "aria-live": "polite" });
  const input = h("input", { type: "file", multiple: true, class: "unseen", id: "choose", onchange: () => take([...input.files].map((file) => [file.webkitRelativePath || file.name, file])) });
  const area = h("div", { class: "drop" }, h("p", {}, "Drop files here: an export of ChatGPT or Claude, an Obsidian vault, pages of Markdown, a transcript."),
    h("label", { class: "button", for: "choose", tabindex: 0, onkeydown: (event) => { if (event.key === "Enter" || event.key === " ") { event.preventDefault(); input.click(); } } }, "Choose files"), input,
    h("p", { class: "count" }, `Up to ${MOST >> 20} MB here. Anything larger: `, h("code", {}, "otolith import FILE")));
  const stop = (event) => { event.preventDefault(); area.classList.toggle("over", event.type === "dragover"); };
  area.addEventListener("dragover", stop);
  area.addEventListener("dragleave", stop);
  area.addEventListener("drop", async (event) => {
    stop(event);
    take(await dropped(event.dataTransfer));
  });
  show(place, area, told);

  async function take(list) {
    if (!list.length) return;
    const size = list.reduce((sum, [, file]) => sum + file.size, 0);
    if (size > MOST) {
      show(told, h("p", { class: "notice" }, `${list.length === 1 ? list[0][0] : `These ${number(list.length)} files`} ${list.length === 1 ? "has" : "have"} ${(size / 1048576).toFixed(1)} MB; the page takes ${MOST >> 20} MB. Import it at a terminal: otolith import ${list.length === 1 ? list[0][0] : "FOLDER"}`));
      return;
    }
    show(told, h("p", { class: "lead" }, "Looking at what is in there…"));
    try {
      const given = await Promise.all(list.map(async ([name, file]) => ({ name, data: await encoded(file) })));
      propose(given, await post("import", { files: given, dry_run: true }));
    } catch (error) {
      show(told, h("p", { class: "notice" }, error.message));
    }
  }
  function propose(given, found) {
    const count = Object.values(found.found).reduce((a, b) => a + b, 0);
    show(told, h("div", { class: "card" }, h("h2", {}, count ? `${list(found.found)} would come in` : "Nothing that could be kept is in there"), remarks(found),
      count ? [h("p", { class: "lead" }, "What comes from outside is found when you ask, but never told to an agent unasked until you vouch for it. What is yours is told like all you wrote."),
        h("div", { class: "bar proposal" }, h("button", { type: "button", class: "main", onclick: (event) => keep(event, given) }, "Import as from outside"),
          h("button", { type: "button", onclick: (event) => keep(event, given, true) }, "Import as mine"),
          h("button", { type: "button", class: "quiet", onclick: () => show(told) }, "Leave it"))] : null));
  }
  async function keep(event, given, mine = false) {
    for (const one of event.currentTarget.parentElement.children) one.disabled = true;
    try {
      const done = await post("import", { files: given });
      const own = mine && done.import ? () => post("trust", { import: done.import, undo: true }).then(() => toast("It counts as from outside"), (error) => toast(error.message, { bad: true })) : null;
      if (own) {
        await post("trust", { import: done.import });
        toast("It counts as yours", { undo: own });
      }
      const kept = Object.values(done.kept).reduce((a, b) => a + b, 0), known = Object.values(done.known).reduce((a, b) => a + b, 0);
      show(told, h("div", { class: "card" }, h("h2", {}, kept ? `${list(done.kept)} kept` : "Nothing new"), known ? h("p", { class: "lead" }, `${number(known)} were known already.`) : null, remarks(done),
        h("p", { class: "proposal" }, h("a", { class: "button", href: "/browse" }, "See them"))));
    } catch (error) {
      show(told, h("p", { class: "notice" }, error.message));
    }
  }
  return { shown: () => $("label", area).focus() };
}

const list = (counts) => Object.entries(counts).map(([kind, count]) => `${number(count)} ${plural(kind, count)}`).join(", ");
const remarks = (found) => [
  Object.keys(found.secrets).length ? h("p", { class: "notice" }, `Secrets are replaced before anything is written: ${Object.entries(found.secrets).map(([what, count]) => `${number(count)} × ${what}`).join(", ")}.`) : null,
  found.findings.length ? h("details", { class: "more" }, h("summary", {}, `${number(found.findings.length)} could not be read`), h("ul", { class: "plainlist" }, found.findings.slice(0, 50).map((one) => h("li", {}, h("span", { class: "text" }, `${one.path}: ${one.message}`))))) : null];

async function encoded(file) {
  const bytes = new Uint8Array(await file.arrayBuffer());
  let text = "";
  for (let at = 0; at < bytes.length; at += 0x8000) text += String.fromCharCode(...bytes.subarray(at, at + 0x8000));
  return btoa(text);
}

/** What was dropped as [path, file], folders opened. */
async function dropped(transfer) {
  const found = [];
  const walk = async (entry, path) => {
    if (entry.isFile) found.push([path + entry.name, await new Promise((done, fail) => entry.file(done, fail))]);
    else if (entry.isDirectory && !entry.name.startsWith(".")) {
      const reader = entry.createReader();
      for (;;) {
        const some = await new Promise((done, fail) => reader.readEntries(done, fail));
        if (!some.length) break;
        for (const one of some) await walk(one, `${path}${entry.name}/`);
      }
    }
  };
  const given = [...transfer.items].map((item) => [item.webkitGetAsEntry?.(), item.getAsFile()]); // now: later they are gone
  for (const [entry, file] of given) {
    if (entry?.isDirectory) await walk(entry, "");
    else if (file) found.push([file.name, file]);
  }
  return found;
}
