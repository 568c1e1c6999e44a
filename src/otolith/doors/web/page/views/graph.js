// Graph: records and their links, in islands by project, tag or kind; a search box, the neighbourhood of one record, and the same as a list.
import { get, query } from "../api.js";
import { $, h, show, soon } from "../dom.js";
import { KINDS, dayOf, empty, first, mark, number, plural, projectOf, recordPath, tagsOf, title } from "../format.js";
import { draw } from "../picture.js";
import { project, scoped } from "../project.js";

const MOST = 5000, GROUPS = [["project", "Project"], ["tag", "Tag"], ["kind", "Kind"], ["none", "Links only"]], ISLANDS = 24, LISTED = 80;

export async function open(stage, { words, go }) {
  const kinds = new Set(words.getAll("kind"));
  const given = Object.fromEntries(["tags", "since", "before", "around", "depth", "group"].map((name) => [name, words.get(name) ?? ""]));
  const around = given.around, depth = Math.min(3, Math.max(1, Number(given.depth) || 1));
  const data = await get("views/graph", scoped({ tags: given.tags, since: given.since, before: given.before, kind: [...kinds], around, depth: around ? depth : "", whole: true, limit: around ? 1500 : MOST }));
  const address = (more) => `/graph${query({ ...given, kind: [...kinds], ...more })}`;
  const group = GROUPS.some(([name]) => name === given.group) ? given.group : around ? "none" : new Set(data.nodes.map((node) => node.project)).size > 1 ? "project" : "kind";
  const head = title("Graph", h("span", { class: "count" }, data.starts.length ? `${number(data.total)} records` : `${number(data.nodes.length)} records, ${number(data.links.length)} links`));
  if (!data.nodes.length) {
    show(stage, head, tools(), data.starts.length ? tooMany(data, go) : around || kinds.size || given.tags || project() ? empty("Nothing fits these filters.") : first("Nothing to draw yet"));
    return {};
  }

  function tools() {
    const choice = (label, all, on, name) => h("div", { class: "choice", role: "group", "aria-label": label }, all.map(([value, text]) =>
      h("button", { type: "button", "aria-pressed": String(value === on), onclick: () => go(address({ [name]: value })) }, text)));
    return h("div", { class: "tools" },
      around ? [choice("How far", [["1", "1 link"], ["2", "2 links"], ["3", "3 links"]], String(depth), "depth"), h("button", { type: "button", class: "quiet", onclick: () => go(address({ around: "", depth: "" })) }, "Show everything")]
        : data.nodes.length ? choice("Islands by", GROUPS, group, "group") : null,
      h("details", { class: "filters", open: kinds.size > 0 || Boolean(given.tags || given.since || given.before) }, h("summary", {}, "Filters"),
        h("div", { class: "bar fields-kinds" }, KINDS.map((kind) => h("button", { type: "button", class: `chip k-${kind}`, "aria-pressed": String(kinds.has(kind)), onclick: () => {
          if (!kinds.delete(kind)) kinds.add(kind);
          go(address({}));
        } }, plural(kind, 2)))),
        h("div", { class: "fields" }, [["tags", "Tag", "text"], ["since", "Since", "date"], ["before", "Before", "date"]].map(([name, label, type]) =>
          h("label", { class: "field" }, label, h("input", { type, value: given[name], onchange: (event) => go(address({ [name]: event.target.value.trim() })) }))))));
  }

  const canvas = h("canvas", { "aria-hidden": "true" });
  const above = h("canvas", { class: "above", tabindex: 0, role: "application", "aria-roledescription": "graph", "aria-label": `Graph of ${data.nodes.length} records and ${data.links.length} links; arrows go through them, Enter opens. The list beside it has the same.` });
  const hint = h("div", { class: "hint-title", hidden: true }), peek = h("div", { class: "peek card", role: "status", hidden: true });
  const box = h("input", { type: "search", "aria-label": "Find in the graph", placeholder: "Find in the graph", autocomplete: "off" });
  const list = h("ol", { class: "plainlist nodes" });
  const sorted = data.nodes.toSorted((a, b) => b.degree - a.degree);
  let picture = null;

  const fill = () => {
    const asked = box.value.toLowerCase().split(/\s+/).filter(Boolean);
    const found = sorted.filter((node) => asked.every((word) => node.title.toLowerCase().includes(word) || node.tags.some((tag) => tag.toLowerCase().includes(word))));
    show(list, found.slice(0, LISTED).map((node) => h("li", {}, h("button", { type: "button", class: `pick k-${node.kind}`, onclick: () => picture?.pick(node.id) }, node.title || node.id), h("span", {}, node.degree === 1 ? "1 link" : `${number(node.degree)} links`))),
      found.length > LISTED ? h("li", {}, h("span", {}, `and ${number(found.length - LISTED)} more: type to narrow down`)) : null, found.length ? null : h("li", {}, h("span", {}, "Nothing in this picture is called so.")));
    return found;
  };
  box.addEventListener("input", soon(fill, 80));
  box.addEventListener("keydown", (event) => { if (event.key === "Enter") { event.preventDefault(); const [best] = fill(); if (best) picture?.pick(best.id); } });

  const choose = (node) => {
    peek.hidden = !node;
    if (!node) return;
    const name = (id) => data.nodes.find((one) => one.id === id)?.title ?? id;
    const own = data.links.filter((link) => link.source === node.id || link.target === node.id).slice(0, 8);
    show(peek, h("h2", {}, node.title || node.id), h("p", { class: "meta" }, mark(node.kind, node.type), dayOf(node.created), projectOf(node.project), tagsOf(node.tags)),
      own.length ? h("ul", { class: "links" }, own.map((link) => h("li", {}, h("small", {}, `${link.source === node.id ? "" : "← "}${link.type.replaceAll("_", " ")}`), name(link.source === node.id ? link.target : link.source)))) : null,
      h("div", { class: "bar" }, h("a", { class: "button", href: recordPath(node.id) }, "Open"), h("button", { type: "button", onclick: () => go(address({ around: node.id, depth: 1 })) }, "Only around it"), h("button", { type: "button", class: "quiet", onclick: () => choose(null) }, "Close")));
  };
  const hover = (node, x, y) => {
    hint.hidden = !node;
    if (!node) return;
    hint.textContent = node.title || node.id;
    hint.style.left = `${Math.min(x + 12, canvas.clientWidth - 200)}px`;
    hint.style.top = `${y + 14}px`;
  };
  fill();
  show(stage, head, tools(), h("div", { class: "drawing" },
    h("div", { class: "stage" }, canvas, above, hint, peek, h("div", { class: "zoom" },
      h("button", { type: "button", "aria-label": "Zoom in", onclick: () => picture?.zoom(1.35) }, "+"),
      h("button", { type: "button", "aria-label": "Zoom out", onclick: () => picture?.zoom(1 / 1.35) }, "−"),
      h("button", { type: "button", "aria-label": "Fit", onclick: () => picture?.fit() }, "⤢"))),
    h("aside", { "aria-label": "Records in the graph" }, box, list)));
  return {
    shown: () => { picture = draw(canvas, above, data, islands(data.nodes, group), { choose, hover, enter: (node) => go(recordPath(node.id)) }); },
    close: () => picture?.close(),
    key: (key) => {
      if (key === "+" || key === "=") picture?.zoom(1.35);
      else if (key === "-") picture?.zoom(1 / 1.35);
      else if (key === "f") picture?.fit();
      else if (key === "Escape") choose(null);
      else return false;
      return true;
    },
  };
}

/** Which island each node belongs to; what is in none of the largest is on the last. */
function islands(nodes, by) {
  const tags = new Map();
  if (by === "tag") for (const node of nodes) for (const tag of node.tags) tags.set(tag, (tags.get(tag) ?? 0) + 1);
  const commonest = (node) => node.tags.toSorted((a, b) => tags.get(b) - tags.get(a))[0] ?? "no tag";
  const name = { project: (node) => (node.project && node.project !== "default" && node.project !== "*" ? node.project : "no project"), tag: commonest, kind: (node) => plural(node.kind, 2), none: () => "" }[by];
  const all = nodes.map(name), counts = new Map();
  for (const one of all) counts.set(one, (counts.get(one) ?? 0) + 1);
  const kept = [...counts].sort((a, b) => b[1] - a[1]).slice(0, ISLANDS).map(([one]) => one);
  const rest = counts.size > kept.length;
  const place = new Map(kept.map((one, i) => [one, i]));
  return { of: all.map((one) => place.get(one) ?? kept.length), names: [...kept, ...(rest ? ["others"] : [])] };
}

/** Too many to be seen at once: say so, and begin somewhere. */
function tooMany(data, go) {
  const box = h("input", { type: "search", "aria-label": "Find a record", placeholder: "Find a record to begin with", autocomplete: "off" });
  const list = h("ul", { class: "plainlist" });
  const fill = (nodes) => show(list, nodes.map((node) => h("li", {}, h("a", { href: `/graph${query({ around: node.id, depth: 1 })}` }, node.title || node.id), node.degree ? h("span", {}, `${number(node.degree)} links`) : mark(node.kind))));
  fill(data.starts.slice(0, 12));
  box.addEventListener("input", soon(async () => fill(box.value.trim() ? (await get("views/search", scoped({ q: box.value.trim(), limit: 12 }))).hits : data.starts.slice(0, 12)), 120));
  return h("div", { class: "card too-many" }, h("h2", {}, `${number(data.total)} records are too many for one picture`),
    h("p", { class: "lead" }, `A picture of more than ${number(MOST)} shows nothing. Choose a project above, filter by a tag or a kind, or look around one record; the most linked ones are here.`), box, list);
}
