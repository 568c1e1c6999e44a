// Browse: everything by kind, tag, topic and project; filter while typing; select several and tag, link, merge, trust or forget them, each with an undo.
import { change, get, post, query } from "../api.js";
import { $, h, say, show, soon, toast } from "../dom.js";
import { empty, first, mark, markOf, number, plural, recordPath, row, title } from "../format.js";
import table from "../kinds.js";
import { project, scoped } from "../project.js";

const FACETS = [["kinds", "kind", "Kind"], ["topics", "topic", "Topic"], ["tags", "tags", "Tag"], ["projects", "project", "Project"]];

export async function open(stage, { words, go }) {
  const asked = { kind: words.getAll("kind"), type: words.getAll("type"), tags: words.getAll("tags"), topic: words.get("topic") ?? "", archive: words.get("archive") === "true" };
  if (words.get("project")) asked.project = words.get("project");
  const chosen = new Map(); // id → item, in the order of choosing
  const box = h("input", { type: "search", "aria-label": "Filter by title", placeholder: "Filter by title", autocomplete: "off", value: words.get("title") ?? "" });
  const side = h("aside", { class: "facets", "aria-label": "Narrow down" }), list = h("div", {}), bar = h("div", { class: "selected", role: "region", "aria-label": "Selected", hidden: true });
  const count = h("span", { class: "count", role: "status" });
  let data = null, asking = null;
  const address = (more) => `/browse${query({ ...asked, title: box.value.trim(), ...more })}`;

  const load = async (offset = 0) => {
    asking?.abort();
    asking = new AbortController();
    let found;
    try {
      found = await get("views/browse", scoped({ ...asked, title: box.value.trim(), offset, limit: Math.min(500, Math.max(50, offset ? 50 : data?.items.length ?? 50)) }), asking.signal);
    } catch (error) {
      if (error.name === "AbortError") return; // a later question is on its way
      if (!data) throw error;
      return failed(error);
    }
    data = offset ? { ...found, items: [...data.items, ...found.items] } : found;
    draw();
  };
  const draw = () => {
    count.textContent = `${number(data.total)} ${asked.archive ? "in the archive" : data.total === 1 ? "record" : "records"}`;
    if (!asked.archive) show(side, FACETS.map(facet), h("p", {}, h("a", { href: "/browse?archive=true" }, `Archive (${number(data.archived)})`)));
    else show(side, h("p", {}, h("a", { href: "/browse" }, "Back to all records")));
    show(list, data.items.length ? h("ol", { class: "rows" }, data.items.map((item) => (asked.archive ? archived(item) : row(item, null, pick(item))))) : nothing(),
      data.items.length < data.total ? h("p", { class: "empty" }, h("button", { type: "button", onclick: () => load(data.items.length) }, "Show more")) : null);
  };
  const nothing = () => (asked.archive ? empty("Nothing lies in the archive.")
    : box.value || Object.values(asked).some((value) => (Array.isArray(value) ? value.length : value)) || project() ? empty("Nothing fits. ", h("a", { href: "/browse" }, "Show everything")) : first("Nothing to browse yet"));
  const facet = ([plurals, name, label]) => {
    const values = data[plurals] ?? [], on = [].concat(asked[name] ?? []).filter(Boolean);
    if (name === "project" && project()) return null;
    if (!values.length && !on.length) return null;
    const missing = on.filter((one) => !values.some((value) => value.name === one)).map((one) => ({ name: one, records: 0 }));
    return h("section", {}, h("h2", {}, label), h("ul", {}, [...missing, ...values].slice(0, 14).map((one) => {
      const has = on.includes(one.name);
      const next = name === "kind" || name === "tags" ? (has ? on.filter((other) => other !== one.name) : [...on, one.name]) : has ? "" : one.name;
      return h("li", {}, h("a", { href: address({ [name]: next }), "aria-current": has ? "true" : null }, h("span", {}, name === "kind" ? markOf(one.name) : one.name === "default" ? "no project" : one.name), h("small", {}, number(one.records))));
    })));
  };
  const pick = (item) => h("input", { type: "checkbox", "aria-label": `Select ${item.title || item.id}`, checked: chosen.has(item.id), onchange: (event) => {
    if (event.target.checked) chosen.set(item.id, item);
    else chosen.delete(item.id);
    acts();
  } });
  const archived = (item) => h("li", { class: "row" }, h("a", { class: "title", href: recordPath(item.id) }, item.title || item.id),
    h("p", { class: "meta" }, mark(item.kind), h("button", { type: "button", class: "quiet", onclick: async () => {
      await post("restore", { id: item.id }).then(() => toast("Restored", { undo: () => post("forget", { id: item.id }).then(() => load(), failed) }), failed);
      load();
    } }, "Restore")));
  const failed = (error) => toast(error.message, { bad: true });

  // Acts on what is selected

  const acts = () => {
    bar.hidden = !chosen.size;
    const items = [...chosen.values()], notes = items.every((one) => one.kind === "note");
    const act = (label, run, given = {}) => h("button", { type: "button", onclick: run, ...given }, label);
    if (!chosen.size) return;
    show(bar, h("b", {}, `${number(chosen.size)} selected`),
      act("Tag…", () => ask("Tags, separated by commas", "Tag", (text) => tag(items, text))),
      act("Link…", () => ask("Title or id of the record to link to", "Link", (text, word) => link(items, text, word), linkWords(items))),
      items.length > 1 && notes ? act("Merge", () => merge(items)) : null,
      items.some((one) => one.trust === "outside") ? act("Trust", () => each(items.filter((one) => one.trust === "outside"), "count as yours",
        (one) => post("trust", { import: one.id }), (one) => post("trust", { import: one.id, undo: true }))) : null,
      act("Forget", () => each(items, "forgotten", (one) => post("forget", { id: one.id }), (one) => post("restore", { id: one.id })), { class: "bad" }),
      act("Clear", clear, { class: "quiet" }));
    say(`${chosen.size} selected`);
  };
  const clear = () => {
    chosen.clear();
    for (const one of list.querySelectorAll("input:checked")) one.checked = false;
    acts();
  };
  const linkWords = (items) => table.link_types.map((one) => one.name).filter((name) => (items[0]?.kind === "note" ? name === name.toUpperCase() : name === name.toLowerCase()) && !["pinned", "merged_into", "part_of"].includes(name));
  const ask = (label, done, run, choices = null) => {
    const input = h("input", { name: "text", "aria-label": label, placeholder: label, required: true });
    const form = h("form", { class: "bar", onsubmit: (event) => { event.preventDefault(); run(input.value.trim(), form.elements.word?.value); } },
      choices ? h("select", { name: "word", "aria-label": "Kind of link" }, choices.map((one) => h("option", { value: one, selected: one.toLowerCase() === "related_to" }, one.toLowerCase().replaceAll("_", " ")))) : null,
      input, h("button", { class: "main" }, done), h("button", { type: "button", class: "quiet", onclick: acts }, "Cancel"));
    show(bar, form);
    input.focus();
  };
  /** Do it to each; tell how many it was, what went wrong, and how to take all of it back. */
  const each = async (items, what, run, back) => {
    const done = [], wrong = [];
    for (const item of items) {
      try {
        done.push([item, await run(item)]);
      } catch (error) {
        wrong.push(error.message);
      }
    }
    if (done.length) {
      toast(`${number(done.length)} ${what}`, { undo: async () => {
        for (const [item, made] of done.reverse()) await back(item, made).catch(failed);
        toast("Taken back");
        load();
      } });
    }
    if (wrong.length) toast(wrong.length === 1 ? wrong[0] : `${number(wrong.length)} were left: ${wrong[0]}`, { bad: true });
    clear();
    await load();
  };
  const tag = (items, text) => {
    const more = text.split(",").map((one) => one.trim()).filter(Boolean);
    return each(items, "tagged", async (item) => {
      const { etag, record } = await get(`records/${encodeURIComponent(item.id)}`);
      const before = record.tags ?? [];
      await change(item.id, etag, { tags: [...new Set([...before, ...more])] });
      return before;
    }, async (item, before) => change(item.id, (await get(`records/${encodeURIComponent(item.id)}`)).etag, { tags: before }));
  };
  const link = (items, target, type) => each(items, "linked", (item) => post("link", { source: item.id, type, target }), (item) => post("unlink", { source: item.id, type, target }));
  const merge = ([keep, ...others]) => each(others, `merged into ${keep.title}`, (item) => post("merge", { keep: keep.id, absorb: item.id }), (item) => post("unmerge", { absorbed: item.id }));

  await load();
  show(stage, title(asked.archive ? "Archive" : "Browse", count), h("div", { class: "browse" }, side, h("div", {}, h("div", { class: "filterbar" }, box), bar, list)));
  box.addEventListener("input", soon(() => { history.replaceState(null, "", address({})); load(); }, 110));
  return {
    refresh: () => load(),
    key: (key) => {
      const near = document.activeElement?.closest?.(".row")?.querySelector("input[type=checkbox]");
      if (key === "x" && near) near.click();
      else if (key === "f") box.focus();
      else return false;
      return true;
    },
  };
}
