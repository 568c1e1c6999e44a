// Recall: one box, filters, hits with the reasons for them, how much they cost, and a copy for a prompt.
import { get, query } from "../api.js";
import { $, h, say, show, toast } from "../dom.js";
import { KINDS, dayOf, empty, first, mark, number, projectOf, recordPath, rowOf, tagsOf, title } from "../format.js";
import { article } from "../markdown.js";
import { remember } from "../palette.js";
import { project, scoped } from "../project.js";

const DEPTHS = [["summary", "In a line"], ["outcome", "With results"], ["reasoning", "With reasons"], ["full", "Whole text"], ["complete", "With all around it"]];
const FIELDS = [["type", "Type", "text"], ["tags", "Tag", "text"], ["topic", "Topic", "text"],
  ["since", "Since", "date"], ["before", "Before", "date"], ["as_of", "As of", "date"]];

export async function open(stage, { words, go }) {
  const asked = Object.fromEntries(words);
  const depth = DEPTHS.some(([name]) => name === asked.depth) ? asked.depth : "full";
  const box = h("input", { type: "search", name: "q", placeholder: "What do you want to know?", "aria-label": "Question", autocomplete: "off", value: asked.q ?? "" });
  const kinds = new Set(words.getAll("kind"));
  const results = h("div", { "aria-live": "polite" });
  const form = h("form", { onsubmit: (event) => { event.preventDefault(); go(address()); } },
    h("div", { class: "ask" }, box, h("button", { class: "main" }, "Recall")),
    h("div", { class: "tools" },
      h("div", { class: "choice", role: "group", "aria-label": "How much of each" }, DEPTHS.map(([name, label]) =>
        h("button", { type: "button", "aria-pressed": String(name === depth), onclick: () => go(address({ depth: name })) }, label))),
      h("label", { class: "meter" }, "At most tokens ", h("input", { name: "budget", type: "number", min: 50, step: 50, size: 6, placeholder: "none", value: asked.budget ?? "" }))),
    h("details", { class: "filters", open: FIELDS.some(([name]) => asked[name]) || kinds.size > 0 },
      h("summary", {}, "Filters"),
      h("div", { class: "bar fields-kinds" }, KINDS.map((kind) => h("button", { type: "button", class: `chip k-${kind}`, "aria-pressed": String(kinds.has(kind)), onclick: (event) => toggle(event, kind) }, kind))),
      h("div", { class: "fields" }, FIELDS.map(([name, label, type]) =>
        h("label", { class: "field" }, label, h("input", { name, type, value: asked[name] ?? "" }))))));

  function toggle(event, kind) {
    if (!kinds.delete(kind)) kinds.add(kind);
    event.currentTarget.setAttribute("aria-pressed", String(kinds.has(kind)));
  }
  function address(more = {}) {
    const given = Object.fromEntries([...new FormData(form)].map(([name, value]) => [name, String(value).trim()]));
    return `/recall${query({ ...given, kind: [...kinds], depth: depth === "full" ? "" : depth, ...more })}`;
  }

  show(stage, title("Recall"), form, results);
  if (asked.q?.trim()) {
    remember(asked.q);
    await ask(results, scoped({ ...asked, depth, kind: words.getAll("kind") }));
  } else {
    const { records } = await get("views/frame");
    show(results, records ? empty("Ask in your own words. Every hit says why it is there.", project() ? ` Only ${project()} is asked.` : "") : first("Nothing to recall yet"));
  }
  return { shown: () => { if (!asked.q) box.focus(); }, key: (key) => key === "/" && (box.focus(), true) };
}

async function ask(place, { q, ...given }) {
  const found = await get("recall", { query: q, ...given });
  const named = [...new Set(found.hits.flatMap((one) => [one.superseded_by, ...one.why.map((why) => LINKED.exec(why)?.[2])]).filter(Boolean))];
  const titles = named.length ? (await get("views/titles", { id: named })).titles : {};
  const parts = [];
  if (!found.enough && found.hits.length) parts.push(h("p", { class: "notice" }, h("b", {}, "Nothing sure. "), "No record answers this for certain; these come nearest."));
  show(place, h("div", { class: "tools" }, h("span", { class: "count" }, `${found.hits.length} ${found.hits.length === 1 ? "hit" : "hits"}`), meter(found),
    found.hits.length ? h("button", { type: "button", class: "quiet", onclick: () => copy(found) }, "Copy as context") : null),
  ...parts, found.hits.length ? h("ol", {}, found.hits.map((one) => hit(one, titles))) : empty("Nothing is known about this."));
  say(`${found.hits.length} hits`);
  for (const one of place.querySelectorAll(".hit")) {
    const text = $(".prose", one);
    if (!text) continue;
    requestAnimationFrame(() => {
      const long = text.scrollHeight > text.clientHeight + 4;
      text.classList.toggle("cut", long);
      if (long) one.append(h("button", { type: "button", class: "quiet", onclick: (event) => { event.currentTarget.textContent = one.classList.toggle("open") ? "Less" : "More"; } }, "More"));
    });
  }
}

function meter(found) {
  const share = found.budget ? Math.min(1, found.tokens / found.budget) : 0;
  const bar = h("b", { style: { width: `${share * 100}%` } });
  return h("span", { class: "meter" }, `${number(found.tokens)} tokens`, found.budget ? [h("i", {}, bar), `of ${number(found.budget)}`] : null);
}

function hit(one, titles) {
  return h("li", { class: "hit" }, h("h2", {}, h("a", { href: recordPath(one.id) }, one.title)),
    h("p", { class: "meta" }, mark(one.kind, one.type), h("time", { datetime: one.created }, dayOf(one.created)), projectOf(one.origin?.project), one.why.map((why) => reason(why, titles)),
      one.superseded_by ? h("a", { class: "sunk-note", href: recordPath(one.superseded_by) }, `replaced by ${titles[one.superseded_by]?.title ?? "a newer one"}`) : null, tagsOf(one.tags)),
    one.text.trim() === one.title ? null : article(one.text, "prose small", { breaks: rowOf(one.kind).lines }),
    one.context?.length ? h("details", { class: "more" }, h("summary", {}, "Around it"), one.context.map((near) => article(near.text, "prose small"))) : null);
}

const LINKED = /^linked: (\S+) (\S+)$/;
/** Why a hit is there, in words and titles. */
function reason(why, titles) {
  const [, word, id] = LINKED.exec(why) ?? [];
  if (id) return h("span", { class: "why" }, `${word.toLowerCase().replaceAll("_", " ")}: ${titles[id]?.title ?? "another record"}`);
  return h("span", { class: "why", title: why }, /^meaning [\d.]+$/.test(why) ? "close in meaning" : why);
}

async function copy(found) {
  const text = found.hits.map((one) => `## ${one.title}\n[${one.kind} ${one.id}; ${String(one.created).slice(0, 10)}]\n${one.text}`).join("\n\n");
  try {
    await navigator.clipboard.writeText(text);
    toast(`${number(found.tokens)} tokens copied`);
  } catch {
    toast("The browser did not allow copying", { bad: true });
  }
}
