// Search from everywhere: what is typed is looked for while it is typed; arrows choose, Enter opens. Without words, the last questions.
import { get } from "./api.js";
import { $, h, say, show, soon } from "./dom.js";
import { dayOf, mark, recordPath } from "./format.js";
import { scoped } from "./project.js";

const KEY = "otolith-questions";
const recent = () => {
  try {
    const kept = JSON.parse(localStorage.getItem(KEY) ?? "[]");
    return Array.isArray(kept) ? kept.filter((one) => typeof one === "string").slice(0, 8) : [];
  } catch {
    return [];
  }
};

export function remember(question) {
  const text = question.trim();
  if (!text) return;
  try {
    localStorage.setItem(KEY, JSON.stringify([text, ...recent().filter((one) => one !== text)].slice(0, 8)));
  } catch { /* then they are forgotten with the page */ }
}

export function openPalette(go) {
  const box = $("#palette");
  if (box.open) return;
  let options = [], at = -1, asking = null;
  const input = h("input", { type: "search", role: "combobox", placeholder: "Search, or ask a question", "aria-label": "Search", autocomplete: "off",
    "aria-expanded": "true", "aria-controls": "found", "aria-autocomplete": "list" });
  const list = h("ul", { id: "found", role: "listbox", "aria-label": "Found" });
  const told = h("p", { class: "notice", hidden: true }, "Nothing here is a sure answer; these come nearest.");

  const pick = (now) => {
    at = options.length ? (now + options.length) % options.length : -1;
    options.forEach((one, i) => one.element.setAttribute("aria-selected", String(i === at)));
    if (at >= 0) {
      input.setAttribute("aria-activedescendant", options[at].element.id);
      options[at].element.scrollIntoView({ block: "nearest" });
    } else input.removeAttribute("aria-activedescendant");
  };
  const draw = (found) => {
    options = found.map(({ path, question, content }, i) => {
      const element = h("li", { role: "option", id: `found-${i}`, "aria-selected": "false", onclick: () => enter({ path, question }) }, content);
      return { path, question, element };
    });
    show(list, options.map((one) => one.element));
    pick(options.length ? 0 : -1);
  };
  const enter = (one) => {
    const text = input.value.trim();
    remember(one?.question ?? text);
    box.close();
    if (one?.path) go(one.path);
    else if (one?.question ?? text) go(`/recall?q=${encodeURIComponent(one?.question ?? text)}`);
  };
  const before = () => {
    told.hidden = true;
    draw(recent().map((question) => ({ question, content: [h("span", { class: "title" }, question), h("span", { class: "meta" }, "asked before")] })));
  };
  const look = async () => {
    const text = input.value.trim();
    asking?.abort();
    if (!text) return before();
    asking = new AbortController();
    try {
      const found = await get("views/search", scoped({ q: text }), asking.signal);
      told.hidden = found.enough || !found.hits.length;
      draw([...found.hits.map((hit) => ({ path: recordPath(hit.id), content: [h("span", { class: "title" }, hit.title || hit.id),
        h("span", { class: "meta" }, mark(hit.kind, hit.type), dayOf(hit.created), hit.project && hit.project !== "default" ? h("span", {}, hit.project) : null),
        hit.opening && hit.opening !== hit.title ? h("span", { class: "opening" }, hit.opening) : null] })),
      { question: text, content: [h("span", { class: "title" }, `Recall “${text}”`), h("span", { class: "meta" }, "the whole answer, with reasons")] }]);
      say(found.hits.length === 1 ? "1 found" : `${found.hits.length} found`);
    } catch (error) {
      if (error.name === "AbortError") return;
      told.hidden = true;
      draw([]);
      show(list, h("li", { role: "option", "aria-selected": "false", class: "empty" }, error.message));
    }
  };
  input.addEventListener("input", soon(look, 90));
  input.addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown") pick(at + 1);
    else if (event.key === "ArrowUp") pick(at - 1);
    else if (event.key === "Enter" && (event.shiftKey || at < 0)) enter(null);
    else if (event.key === "Enter") enter(options[at]);
    else return;
    event.preventDefault();
  });
  show(box, h("h2", { id: "palette-title", class: "unseen" }, "Search"), input, told, list,
    h("p", { class: "keys" }, h("kbd", {}, "↑↓"), " choose ", h("kbd", {}, "Enter"), " open ", h("kbd", {}, "⇧ Enter"), " recall ", h("kbd", {}, "Esc"), " close"));
  box.onclick = (event) => { if (event.target === box) box.close(); };
  box.showModal();
  input.focus();
  before();
}
