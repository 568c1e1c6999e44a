// The page: which view is shown, the keys that lead around, and what the server tells while it is open.
// A view is one file in views/ with an `open(stage, {rest, words, go, again, data})` that fills the stage and returns what it
// answers to: `key`, `refresh`, `progress`, `shown`, `close`, each of which it may leave out.
import { get } from "./api.js";
import { $, h, say, show, soon, toast } from "./dom.js";
import { number } from "./format.js";
import { openPalette } from "./palette.js";
import { choose, project } from "./project.js";

const VIEWS = ["today", "new", "browse", "recall", "review", "work", "graph", "timeline", "history", "health", "record"];
const GO = { t: "/", n: "/new", b: "/browse", r: "/recall", v: "/review", w: "/work", g: "/graph", l: "/timeline", i: "/history", h: "/health" };
const KEYS = [
  ["/", "Search from everywhere"], ["n", "Keep something new"], ["g t", "Today"], ["g b", "Browse"], ["g r", "Recall"], ["g v", "Review"], ["g w", "Work"], ["g g", "Graph"],
  ["g l", "Timeline"], ["g i", "History"], ["g h", "Health"], ["j  k", "Next and previous in a list"], ["x", "Select in a list"], ["e", "Edit the record"], ["p", "Pin the record"],
  ["0 – 9", "Score the fact under review"], ["c  x  s  u", "Correct, reject, skip, undo a fact"], ["?", "This help"],
];

const main = $("#main");
let current = null;
let turn = 0;
let first = $("#today") && JSON.parse($("#today").textContent);

/** Which view an address means: [name, its own part of the path]. */
function read(url) {
  const [, name = "", ...rest] = url.pathname.split("/");
  if (name === "record") return ["record", decodeURIComponent(rest.join("/")).replace(/^(memory:\/\/|otolith:)/, "")];
  return [VIEWS.includes(name) ? name : "today", ""];
}

async function open(url, { keep = false } = {}) {
  const mine = ++turn;
  const [name, rest] = read(url);
  for (const link of document.querySelectorAll("#nav a")) {
    if (link.dataset.view === name) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  const module = await import(`./views/${name}.js`);
  if (mine !== turn) return;
  current?.close?.();
  current = null;
  const stage = h("div", { class: `view v-${name}` });
  const data = name === "today" && !project() ? first : null;
  first = null;
  try {
    const view = await module.open(stage, { rest, words: url.searchParams, go, again, data });
    if (mine !== turn) return view?.close?.();
    current = view ?? {};
    $("#nav").classList.remove("open");
    $("#more").setAttribute("aria-expanded", "false");
    show(main, stage);
    current.shown?.();
    const heading = $("h1", stage)?.textContent ?? name;
    document.title = `${heading} · Otolith`;
    if (!keep) {
      window.scrollTo(0, 0);
      main.focus({ preventScroll: true });
      say(heading);
    }
  } catch (error) {
    if (mine === turn) show(main, h("div", { class: "view" }, h("h1", {}, "That did not work"), h("p", { class: "empty" }, error.message)));
  }
}

export function go(path) {
  history.pushState(null, "", path);
  return open(new URL(location.href));
}

function again() {
  return open(new URL(location.href), { keep: true });
}

document.addEventListener("click", (event) => {
  const link = event.target.closest("a[href]");
  if (!link || event.defaultPrevented || event.button || event.metaKey || event.ctrlKey || event.shiftKey || link.target) return;
  const url = new URL(link.href, location.href);
  if (url.origin !== location.origin || link.getAttribute("href").startsWith("#")) return;
  event.preventDefault();
  if (link.dataset.record) current?.leave?.();
  go(url.pathname + url.search);
});

window.addEventListener("popstate", () => open(new URL(location.href)));

// Keys

let pressed = "";
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target.closest("input, textarea, select, [contenteditable]")) {
    if (event.key === "Escape") event.target.blur();
    return;
  }
  if ($("dialog[open]")) return;
  const key = event.key;
  if (pressed === "g" && GO[key]) go(GO[key]);
  else if (key === "?") help();
  else if (key === "/") openPalette(go);
  else if (key === "n") go("/new");
  else if (key === "j" || key === "k") step(key === "j" ? 1 : -1);
  else if (!current?.key?.(key, event)) { pressed = key; return; }
  pressed = "";
  event.preventDefault();
});

function step(by) {
  const links = [...main.querySelectorAll(".row .title, .hit h2 a")];
  const at = links.indexOf(document.activeElement);
  links[Math.min(links.length - 1, Math.max(0, at + by))]?.focus();
}

function help() {
  const box = $("#help");
  show(box, h("h2", { id: "help-title" }, "Keys"),
    h("dl", {}, KEYS.map(([key, what]) => [h("dt", {}, h("kbd", {}, key)), h("dd", {}, what)])),
    h("form", { method: "dialog" }, h("button", { type: "button", class: "quiet", onclick: () => box.close() }, "Close")));
  box.showModal();
}

// The frame: the home's name, the project, search and something new

let framed = "";
async function frame() {
  const told = await get("views/frame").catch(() => null);
  if (!told || JSON.stringify(told) === framed) return;
  framed = JSON.stringify(told);
  $("#home").textContent = told.home;
  $("#home").title = told.path;
  const names = told.projects.map((one) => one.name);
  if (project() && !names.includes(project())) names.unshift(project());
  const select = $("#project");
  show(select, h("option", { value: "" }, `All of ${told.home}`), names.map((name) => {
    const count = told.projects.find((one) => one.name === name)?.records ?? 0;
    return h("option", { value: name, selected: name === project() }, `${name === "default" ? "no project" : name} (${number(count)})`);
  }));
}
$("#project").addEventListener("change", (event) => {
  choose(event.target.value);
  again();
});
$("#search").addEventListener("click", () => openPalette(go));
$("#more").addEventListener("click", () => {
  $("#more").setAttribute("aria-expanded", String($("#nav").classList.toggle("open")));
});

// What the server tells

const live = $("#live");
function state(name, text) {
  live.dataset.state = name;
  $("span", live).textContent = text;
}

let waiting = { records: [], lost: false };
const flush = soon(() => {
  const change = waiting;
  waiting = { records: [], lost: false };
  frame();
  current?.refresh?.(change);
}, 120);
function refresh(change) {
  waiting.records.push(...change.records);
  waiting.lost ||= Boolean(change.lost || change.removed);
  flush();
}

let seen = null;
function listen() {
  const events = new EventSource("/api/events");
  events.addEventListener("hello", () => {
    state("on", "live");
    $("#gone").hidden = true;
    if (seen) refresh({ records: [], lost: true });
    seen = true;
  });
  events.addEventListener("change", (event) => refresh(JSON.parse(event.data)));
  events.addEventListener("progress", (event) => current?.progress?.(JSON.parse(event.data)));
  events.addEventListener("notice", (event) => {
    const told = JSON.parse(event.data);
    toast(told.hint ? `${told.message}; ${told.hint}` : told.message, { bad: true });
  });
  events.onerror = () => {
    state("off", "offline");
    setTimeout(() => { if (live.dataset.state === "off") $("#gone").hidden = false; }, 2500); // not for a moment's pause
  };
}
document.addEventListener("gone", () => {
  state("off", "offline");
  $("#gone").hidden = false;
});
window.addEventListener("beforeunload", () => current?.close?.());

frame();
await open(new URL(location.href), { keep: true });
listen();
