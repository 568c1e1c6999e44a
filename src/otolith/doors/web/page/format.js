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
  h("span", { class: `mark k-${KINDS.includes(kind) ? kind : "other"}` }, type && type !== kind ? `${kind} · ${type}` : kind);

export const recordPath = (id) => `/record/${encodeURIComponent(id)}`;
export const tagsOf = (tags) => (tags ?? []).map((tag) =>
  h("a", { class: "tag", href: `/recall?tags=${encodeURIComponent(tag)}&q=${encodeURIComponent(tag)}` }, tag));

/** One record in a list. */
export function row(item, more = null) {
  return h("li", { class: "row" },
    h("a", { class: "title", href: recordPath(item.id) }, item.title || item.id),
    item.opening && item.opening !== item.title ? h("p", { class: "opening" }, item.opening) : null,
    h("p", { class: "meta" }, mark(item.kind, item.type), when(item.changed ?? item.created),
      item.edited ? h("span", {}, "edited") : null, tagsOf(item.tags?.slice(0, 4)), more));
}

export const title = (text, ...more) => h("div", { class: "head" }, h("h1", {}, text), more);
export const empty = (...text) => h("p", { class: "empty" }, text);
