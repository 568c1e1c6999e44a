// The page: which view is shown, the keys that lead around, and what the server tells while it is open.
import { $, h, say, show, soon, toast } from "./dom.js";

const VIEWS = ["today", "recall", "review", "graph", "timeline", "health", "record"];
const GO = { t: "/", r: "/recall", v: "/review", g: "/graph", l: "/timeline", h: "/health" };
const KEYS = [
  ["/", "Recall: type a question"], ["g t", "Today"], ["g r", "Recall"], ["g v", "Review"], ["g g", "Graph"], ["g l", "Timeline"],
  ["g h", "Health"], ["j  k", "Next and previous in a list"], ["e", "Edit the record"], ["p", "Pin the record"],
  ["0 – 9", "Score the fact under review"], ["c  x  s  u", "Correct, reject, skip, undo a fact"], ["?", "This help"],
];

const main = $("#main");
let current = null;
let turn = 0;
let first = $("#today") && JSON.parse($("#today").textContent);

/** Which view an address means: [name, its own part of the path]. */
function read(url) {
  const [, name = "", ...rest] = url.pathname.split("/");
  if (name === "record") return ["record", decodeURIComponent(rest.join("/"))];
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
  const data = name === "today" ? first : null;
  first = null;
  try {
    const view = await module.open(stage, { rest, words: url.searchParams, go, again, data });
    if (mine !== turn) return view?.close?.();
    current = view ?? {};
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
  else if (key === "/") { go("/recall"); }
  else if (key === "j" || key === "k") step(key === "j" ? 1 : -1);
  else if (!current?.key?.(key, event)) { pressed = key; return; }
  pressed = "";
  event.preventDefault();
});

function step(by) {
  const links = [...main.querySelectorAll(".row > .title, .hit h2 a")];
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
    if (seen) refresh({ records: [], lost: true });
    seen = true;
  });
  events.addEventListener("change", (event) => refresh(JSON.parse(event.data)));
  events.addEventListener("progress", (event) => current?.progress?.(JSON.parse(event.data)));
  events.addEventListener("notice", (event) => {
    const told = JSON.parse(event.data);
    toast(told.hint ? `${told.message}; ${told.hint}` : told.message, { bad: true });
  });
  events.onerror = () => state("off", "offline");
}

await open(new URL(location.href), { keep: true });
listen();
