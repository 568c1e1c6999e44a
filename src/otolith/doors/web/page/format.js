// Dates, numbers and the small marks that every list shares.
import { h } from "./dom.js";
import table from "./kinds.js";

const LONG = new Intl.DateTimeFormat(undefined, { weekday: "long", day: "numeric", month: "long", year: "numeric" });
const DAY = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short", year: "numeric" });
const MOMENT = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });
const AGO = new Intl.RelativeTimeFormat(undefined, { numeric: "auto" });
const STEPS = [["year", 31536000], ["month", 2592000], ["week", 604800], ["day", 86400], ["hour", 3600], ["minute", 60]];

const ROWS = new Map(table.kinds.map((row) => [row.name, row]));
export const KINDS = table.kinds.filter((row) => row.counted).map((row) => row.name);
/** What the table of kinds says of a kind. */
export const rowOf = (kind) => ROWS.get(kind) ?? { plural: `${kind}s`, lines: false, pin: "", forget: "" };
export const plural = (kind, count) => (count === 1 ? kind : rowOf(kind).plural);

export const number = (value) => Number(value ?? 0).toLocaleString();
export const longDay = (text) => LONG.format(new Date(`${text}T12:00:00`));
export const dayOf = (text) => DAY.format(new Date(text));
export const moment = (text) => MOMENT.format(new Date(text));

export function ago(text) {
  const seconds = (new Date(text) - Date.now()) / 1000;
  for (const [unit, size] of STEPS) {
    if (Math.abs(seconds) >= size) return AGO.format(Math.round(seconds / size), unit);
  }
  return "just now";
}

export const when = (text) => (text ? h("time", { datetime: text, title: moment(text) }, ago(text)) : null);

/** The coloured mark of a kind, with its name. */
export const mark = (kind, type = "") =>
  h("span", { class: `mark k-${KINDS.includes(kind) ? kind : "other"}` }, type && type !== kind ? `${kind} · ${type.replaceAll("_", " ")}` : kind);

export const markOf = (kind) => h("span", { class: `mark k-${KINDS.includes(kind) ? kind : "other"}` }, plural(kind, 2));

export const recordPath = (id) => `/record/${encodeURIComponent(id)}`;
export const tagsOf = (tags) => (tags ?? []).map((tag) =>
  h("a", { class: "tag", href: `/browse?tags=${encodeURIComponent(tag)}` }, tag));

export const projectOf = (name) => (name && name !== "default" && name !== "*" ? h("span", { class: "project" }, name) : null);

/** One record in a list; `before` stands in front of it, a box to select it by. */
export function row(item, more = null, before = null) {
  return h("li", { class: before ? "row selectable" : "row" }, before,
    h("div", {}, h("a", { class: "title", href: recordPath(item.id) }, item.title || item.id),
      item.opening && item.opening !== item.title ? h("p", { class: "opening" }, item.opening) : null,
      h("p", { class: "meta" }, mark(item.kind, item.type), outcome(item), when(item.changed ?? item.created), projectOf(item.project),
        item.edited ? h("span", {}, "edited") : null, item.trust === "outside" ? h("span", {}, "from outside") : null, tagsOf(item.tags?.slice(0, 4)), more)));
}

export const outcome = (item) => (item.kind === "work" && item.success !== null && item.success !== undefined
  ? h("span", { class: item.success ? "went well" : "went badly" }, item.success ? "worked" : "did not work") : null);

/** Something that was left undone, with why. */
export const undone = (one) => h("li", {}, h("a", { href: recordPath(one.id) }, one.title), h("span", {}, one.trigger === "follow-up" ? `still to do: ${one.why}` : one.why.replace(`${one.title}: `, "")));

export const title = (text, ...more) => h("div", { class: "head" }, h("h1", {}, text), more);
export const empty = (...text) => h("p", { class: "empty" }, text);
/** What an empty home says in every view: what to do first. */
export const first = (what) => h("div", { class: "card first" }, h("h2", {}, what),
  h("p", {}, "This home is empty. Begin with one of these:"),
  h("ul", {}, h("li", {}, h("a", { href: "/new" }, "Write a first note")), h("li", {}, h("a", { href: "/new?tab=files" }, "Drop an export of ChatGPT, Claude or Obsidian")),
    h("li", {}, "Let an agent remember by itself: ", h("code", {}, "otolith install claude-code"))));
/** Tabs that are addresses. */
export const tabs = (all, chosen, label, go, path) => h("div", { class: "choice", role: "tablist", "aria-label": label }, all.map(([name, text]) =>
  h("button", { type: "button", role: "tab", "aria-selected": String(name === chosen), onclick: () => go(`${path}?tab=${name}`) }, text)));
