// Graph: records and their typed links on one canvas; filter, zoom, drag, open. Positions come from a worker.
import { get, query } from "../api.js";
import { $, h, show } from "../dom.js";
import { KINDS, dayOf, empty, mark, number, plural, recordPath, tagsOf, title } from "../format.js";

const scripts = window.trustedTypes?.createPolicy("otolith", { createScriptURL: (url) => {
  if (new URL(url).origin !== location.origin) throw new TypeError("foreign script");
  return url;
} });
const FIELDS = [["tags", "Tag"], ["type", "Type"], ["project", "Project"]];

export async function open(stage, { words, go }) {
  const kinds = new Set(words.getAll("kind"));
  const given = Object.fromEntries([...FIELDS, ["since"], ["before"], ["around"]].map(([name]) => [name, words.get(name) ?? ""]));
  const data = await get("views/graph", { ...given, kind: [...kinds] });
  const shown = new Set(data.nodes.map((node) => node.kind));
  const address = (more) => `/graph${query({ ...given, kind: [...kinds], ...more })}`;
  const canvas = h("canvas", { tabindex: 0, role: "img", "aria-label": `Graph of ${data.nodes.length} records and ${data.links.length} links` });
  const peek = h("div", { class: "peek card", hidden: true });
  const field = ([name, label, type]) => h("input", { type: type ?? "text", placeholder: label, "aria-label": label, value: given[name],
    onchange: (event) => go(address({ [name]: event.target.value.trim() })) });
  show(stage,
    title("Graph", h("span", { class: "count" }, `${number(data.nodes.length)} ${data.nodes.length < data.total ? `of ${number(data.total)} ` : ""}records, ${number(data.links.length)} links`)),
    h("div", { class: "tools" },
      h("div", { class: "bar" }, KINDS.map((kind) =>
        h("button", { type: "button", class: `chip k-${kind}`, "aria-pressed": String(kinds.size ? kinds.has(kind) : shown.has(kind)), onclick: () => {
          if (!kinds.delete(kind)) kinds.add(kind);
          go(address({}));
        } }, plural(kind, 2)))),
      FIELDS.map(field), field(["since", "Since", "date"]), field(["before", "Before", "date"]),
      given.around ? h("button", { type: "button", class: "quiet", onclick: () => go(address({ around: "" })) }, "Show everything") : null),
    h("div", { class: "stage" }, canvas, peek, h("div", { class: "zoom" },
      h("button", { type: "button", "aria-label": "Zoom in", onclick: () => picture?.zoom(1.35) }, "+"),
      h("button", { type: "button", "aria-label": "Zoom out", onclick: () => picture?.zoom(1 / 1.35) }, "−"),
      h("button", { type: "button", "aria-label": "Fit", onclick: () => picture?.fit() }, "⤢"))));
  if (!data.nodes.length) show($(".stage", stage), empty("Nothing fits these filters."));
  let picture = null;
  const choose = (node) => {
    peek.hidden = !node;
    if (!node) return;
    const around = data.links.filter((link) => link.source === node.id || link.target === node.id);
    show(peek, h("h2", {}, node.title), h("p", { class: "meta" }, mark(node.kind, node.type), h("span", {}, dayOf(node.created)), tagsOf(node.tags)),
      h("p", { class: "small" }, `${around.length} ${around.length === 1 ? "link" : "links"}: ${[...new Set(around.map((link) => link.type.replaceAll("_", " ")))].slice(0, 4).join(", ") || "none"}`),
      h("div", { class: "bar" }, h("a", { class: "button", href: recordPath(node.id) }, "Open"), h("button", { type: "button", onclick: () => go(`/graph${query({ around: node.id })}`) }, "Only around it")));
  };
  return {
    shown: () => { if (data.nodes.length) picture = draw(canvas, data, choose, (node) => go(recordPath(node.id))); },
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

function draw(canvas, data, choose, enter) {
  const pen = canvas.getContext("2d");
  const style = getComputedStyle(document.documentElement);
  const colour = (name) => style.getPropertyValue(`--${name}`).trim();
  const place = new Map(data.nodes.map((node, at) => [node.id, at]));
  const ends = new Int32Array(data.links.flatMap((link) => [place.get(link.source), place.get(link.target)]));
  const radii = data.nodes.map((node) => 3 + Math.min(9, Math.sqrt(node.degree) * 1.6));
  const groups = new Map();
  data.nodes.forEach((node, at) => {
    if (!groups.has(node.kind)) groups.set(node.kind, []);
    groups.get(node.kind).push(at);
  });
  let at = null, scale = 1, left = 0, top = 0, over = -1, chosen = -1, fitted = false, asked = false, closed = false;
  const near = new Set();
  const worker = new Worker(scripts ? scripts.createScriptURL(new URL("../force.js", import.meta.url).href) : new URL("../force.js", import.meta.url));
  worker.onmessage = ({ data: told }) => {
    at = told.at;
    canvas.dataset.calm = String(told.calm);
    if (!fitted) fit();
    paint();
  };
  worker.postMessage({ nodes: data.nodes.length, ends });

  function size() {
    const { width, height } = canvas.getBoundingClientRect();
    canvas.width = width * devicePixelRatio;
    canvas.height = height * devicePixelRatio;
    paint();
  }
  function fit(done = false) {
    if (!at) return;
    let [low, high, west, east] = [Infinity, -Infinity, Infinity, -Infinity];
    for (let i = 0; i < at.length; i += 2) {
      west = Math.min(west, at[i]); east = Math.max(east, at[i]); low = Math.min(low, at[i + 1]); high = Math.max(high, at[i + 1]);
    }
    const { width, height } = canvas.getBoundingClientRect();
    scale = Math.min(2, 0.9 * Math.min(width / (east - west + 40), height / (high - low + 40)));
    left = width / 2 - scale * (west + east) / 2;
    top = height / 2 - scale * (low + high) / 2;
    fitted = done;
    paint();
  }
  function zoom(by, x = canvas.clientWidth / 2, y = canvas.clientHeight / 2) {
    const now = Math.min(8, Math.max(0.04, scale * by));
    left = x - (x - left) * (now / scale);
    top = y - (y - top) * (now / scale);
    scale = now;
    fitted = true;
    paint();
  }
  function paint() {
    if (asked || closed) return;
    asked = true;
    requestAnimationFrame(() => { asked = false; if (at && !closed) render(); });
  }
  function render() {
    const began = performance.now();
    const ratio = devicePixelRatio;
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.clearRect(0, 0, canvas.width, canvas.height);
    pen.setTransform(ratio * scale, 0, 0, ratio * scale, ratio * left, ratio * top);
    pen.lineWidth = Math.max(0.5, 0.9 / scale) * 0.9;
    pen.strokeStyle = colour("soft");
    pen.globalAlpha = near.size ? 0.1 : ends.length > 1000 ? 0.28 : 0.5;
    pen.beginPath();
    for (let i = 0; i < ends.length; i += 2) { pen.moveTo(at[2 * ends[i]], at[2 * ends[i] + 1]); pen.lineTo(at[2 * ends[i + 1]], at[2 * ends[i + 1] + 1]); }
    pen.stroke();
    for (const [kind, members] of groups) {
      pen.fillStyle = colour(kind);
      for (const faded of [true, false]) {
        pen.globalAlpha = faded ? (near.size ? 0.18 : 0.5) : 1;
        pen.beginPath();
        for (const i of members) {
          if ((near.size ? !near.has(i) : data.nodes[i].sunk) !== faded) continue;
          pen.moveTo(at[2 * i] + radii[i], at[2 * i + 1]);
          pen.arc(at[2 * i], at[2 * i + 1], radii[i], 0, 7);
        }
        pen.fill();
      }
    }
    pen.globalAlpha = 1;
    if (near.size) marked();
    names();
    canvas.dataset.frame = (performance.now() - began).toFixed(1);
  }
  function marked() {
    const one = chosen >= 0 ? chosen : over;
    pen.strokeStyle = colour("accent");
    pen.fillStyle = colour("soft");
    pen.font = `${10 / scale}px ${style.getPropertyValue("--font")}`;
    pen.textAlign = "center";
    data.links.forEach((link, i) => {
      const a = ends[2 * i], b = ends[2 * i + 1];
      if (a !== one && b !== one) return;
      pen.beginPath(); pen.moveTo(at[2 * a], at[2 * a + 1]); pen.lineTo(at[2 * b], at[2 * b + 1]); pen.stroke();
      if (near.size < 24) pen.fillText(link.type.replaceAll("_", " "), (at[2 * a] + at[2 * b]) / 2, (at[2 * a + 1] + at[2 * b + 1]) / 2);
    });
    pen.lineWidth = 2 / scale;
    pen.beginPath(); pen.arc(at[2 * one], at[2 * one + 1], radii[one] + 3 / scale, 0, 7); pen.stroke();
  }
  function names() {
    const { width, height } = canvas.getBoundingClientRect();
    pen.fillStyle = colour("ink");
    pen.textAlign = "center";
    pen.font = `${11.5 / scale}px ${style.getPropertyValue("--font")}`;
    const taken = [];
    const order = near.size ? [...near] : order_by_degree;
    for (const i of order) {
      const x = left + scale * at[2 * i], y = top + scale * at[2 * i + 1] + scale * radii[i] + 13;
      if (x < -50 || y < -20 || x > width + 50 || y > height + 20) continue;
      const text = data.nodes[i].title.length > 34 ? `${data.nodes[i].title.slice(0, 32)}…` : data.nodes[i].title;
      const half = text.length * 3.1;
      if (taken.some(([px, py, ph]) => Math.abs(px - x) < ph + half + 6 && Math.abs(py - y) < 15)) continue;
      taken.push([x, y, half]);
      pen.fillText(text, (x - left) / scale, (y - top) / scale);
      if (taken.length > 70) break;
    }
  }
  const order_by_degree = data.nodes.map((_, i) => i).sort((a, b) => data.nodes[b].degree - data.nodes[a].degree);

  function hit(x, y) {
    if (!at) return -1;
    const px = (x - left) / scale, py = (y - top) / scale;
    let best = -1, nearest = Infinity;
    for (let i = 0; i < radii.length; i += 1) {
      const far = (at[2 * i] - px) ** 2 + (at[2 * i + 1] - py) ** 2;
      if (far < nearest && far < (radii[i] + 7 / scale) ** 2) { best = i; nearest = far; }
    }
    return best;
  }
  function light(one) {
    near.clear();
    if (one >= 0) {
      near.add(one);
      for (let i = 0; i < ends.length; i += 2) {
        if (ends[i] === one) near.add(ends[i + 1]);
        if (ends[i + 1] === one) near.add(ends[i]);
      }
    }
    paint();
  }
  const spot = (event) => {
    const box = canvas.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };
  let drag = null;
  const fingers = new Map();
  canvas.onpointerdown = (event) => {
    canvas.setPointerCapture(event.pointerId);
    const [x, y] = spot(event);
    fingers.set(event.pointerId, [x, y]);
    drag = { x, y, from: [x, y], node: hit(x, y), moved: false };
  };
  canvas.onpointermove = (event) => {
    const [x, y] = spot(event);
    if (fingers.size === 2 && fingers.has(event.pointerId)) {
      const [other] = [...fingers].filter(([id]) => id !== event.pointerId).map(([, where]) => where);
      const [bx, by] = fingers.get(event.pointerId);
      zoom(Math.hypot(x - other[0], y - other[1]) / Math.max(1, Math.hypot(bx - other[0], by - other[1])), (x + other[0]) / 2, (y + other[1]) / 2);
      fingers.set(event.pointerId, [x, y]);
    } else if (drag) {
      drag.moved ||= Math.hypot(x - drag.from[0], y - drag.from[1]) > 4;
      if (!drag.moved) return;
      fitted = true;
      if (drag.node >= 0) worker.postMessage({ move: drag.node, x: (x - left) / scale, y: (y - top) / scale });
      else { left += x - drag.x; top += y - drag.y; paint(); }
      Object.assign(drag, { x, y });
    } else {
      const now = hit(x, y);
      if (now !== over) { over = now; canvas.classList.toggle("on", over >= 0); if (chosen < 0) light(over); }
    }
  };
  canvas.onpointerup = canvas.onpointercancel = (event) => {
    fingers.delete(event.pointerId);
    if (drag && !drag.moved && event.type === "pointerup") {
      chosen = drag.node;
      light(chosen);
      choose(data.nodes[chosen]);
    }
    drag = null;
  };
  canvas.ondblclick = (event) => { const one = hit(...spot(event)); if (one >= 0) enter(data.nodes[one]); };
  canvas.onwheel = (event) => { event.preventDefault(); zoom(Math.exp(-event.deltaY * 0.0016), ...spot(event)); };
  canvas.onkeydown = (event) => { // the same by keyboard: arrows go through the records, Enter opens
    const by = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (by) {
      const order = order_by_degree.indexOf(chosen) + by;
      chosen = order_by_degree[(order + order_by_degree.length) % order_by_degree.length];
      light(chosen);
      choose(data.nodes[chosen]);
    } else if (event.key === "Enter" && chosen >= 0) enter(data.nodes[chosen]);
    else return;
    event.preventDefault();
  };
  const watching = new ResizeObserver(size);
  watching.observe(canvas);
  canvas.where = (id) => { const i = place.get(id); return at && i !== undefined ? [left + scale * at[2 * i], top + scale * at[2 * i + 1]] : null; };
  return { zoom, fit: () => fit(true), close: () => { closed = true; worker.terminate(); watching.disconnect(); } };
}
