// A graph on a canvas. The whole is painted once for a view and moved as a picture while one pans or zooms; what is hovered or chosen is
// drawn on a second canvas above it. Small nodes are dots, names stand where there is room for them, and no two overprint.
const scripts = window.trustedTypes?.createPolicy("otolith", { createScriptURL: (url) => {
  if (new URL(url).origin !== location.origin) throw new TypeError("foreign script");
  return url;
} });
const FONT = 11.5, CELL = 40;

/** Draw data.nodes and data.links in groups; `choose(node)` and `hover(node, x, y)` tell what a person points at. */
export function draw(canvas, above, data, groups, { choose, hover, enter }) {
  const pen = canvas.getContext("2d", { alpha: true }), over = above.getContext("2d");
  const style = getComputedStyle(document.documentElement);
  const colour = (name) => style.getPropertyValue(`--${name}`).trim();
  const place = new Map(data.nodes.map((node, i) => [node.id, i]));
  const ends = new Int32Array(data.links.flatMap((link) => [place.get(link.source), place.get(link.target)]));
  const radii = data.nodes.map((node) => 3 + Math.min(9, Math.sqrt(node.degree) * 1.5));
  const byDegree = data.nodes.map((_, i) => i).sort((a, b) => data.nodes[b].degree - data.nodes[a].degree);
  const names = data.nodes.map((node) => (node.title.length > 34 ? `${node.title.slice(0, 32)}…` : node.title));
  const inks = new Map(); // kind → its nodes
  data.nodes.forEach((node, i) => inks.set(node.kind, [...(inks.get(node.kind) ?? []), i]));
  let at = null, isles = [], grid = new Map(), scale = 1, left = 0, top = 0, seen = null, fitted = false, asked = false, closed = false, pointed = -1, chosen = -1;
  let late = null; // the timer that paints sharply once things are still
  const store = document.createElement("canvas"), paint = store.getContext("2d");

  const worker = new Worker(scripts ? scripts.createScriptURL(new URL("./force.js", import.meta.url).href) : new URL("./force.js", import.meta.url));
  worker.onmessage = ({ data: told }) => {
    ({ at, isles } = told);
    canvas.dataset.calm = String(told.calm);
    grid = new Map();
    for (let i = 0; i < radii.length; i += 1) {
      const key = `${Math.floor(at[2 * i] / CELL)} ${Math.floor(at[2 * i + 1] / CELL)}`;
      if (grid.has(key)) grid.get(key).push(i);
      else grid.set(key, [i]);
    }
    if (!fitted) fit();
    sharp();
  };
  worker.postMessage({ nodes: data.nodes.length, ends, groups: Int32Array.from(groups.of), wide: canvas.clientWidth / Math.max(1, canvas.clientHeight) });

  const size = () => {
    const { width, height } = canvas.getBoundingClientRect();
    for (const one of [canvas, above, store]) { one.width = Math.max(1, width * devicePixelRatio); one.height = Math.max(1, height * devicePixelRatio); }
    if (at && !fitted) fit();
    sharp();
  };
  function fit(done = false) {
    if (!at) return;
    let [low, high, west, east] = [Infinity, -Infinity, Infinity, -Infinity];
    for (let i = 0; i < at.length; i += 2) { west = Math.min(west, at[i]); east = Math.max(east, at[i]); low = Math.min(low, at[i + 1]); high = Math.max(high, at[i + 1]); }
    const { width, height } = canvas.getBoundingClientRect();
    scale = Math.min(2, 0.88 * Math.min(width / (east - west + 60), height / (high - low + 60)));
    left = width / 2 - (scale * (west + east)) / 2;
    top = height / 2 - (scale * (low + high)) / 2;
    fitted = done;
  }
  function zoom(by, x = canvas.clientWidth / 2, y = canvas.clientHeight / 2) {
    const now = Math.min(8, Math.max(0.03, scale * by));
    left = x - (x - left) * (now / scale);
    top = y - (y - top) * (now / scale);
    scale = now;
    fitted = true;
    moved();
  }
  /** The picture as it is, at its new place; sharp again when things are still. */
  function moved() {
    clearTimeout(late);
    late = setTimeout(sharp, 140);
    if (asked || closed) return;
    asked = true;
    requestAnimationFrame(() => {
      asked = false;
      if (closed || !seen) return;
      const began = performance.now(), ratio = devicePixelRatio, by = scale / seen.scale;
      pen.setTransform(1, 0, 0, 1, 0, 0);
      pen.clearRect(0, 0, canvas.width, canvas.height);
      pen.drawImage(store, ratio * (left - seen.left * by), ratio * (top - seen.top * by), store.width * by, store.height * by);
      marked();
      canvas.dataset.frame = (performance.now() - began).toFixed(1);
    });
  }
  function sharp() {
    clearTimeout(late);
    if (!at || closed) return;
    const began = performance.now(), ratio = devicePixelRatio;
    paint.setTransform(1, 0, 0, 1, 0, 0);
    paint.clearRect(0, 0, store.width, store.height);
    paint.setTransform(ratio, 0, 0, ratio, 0, 0);
    islands();
    lines();
    dots();
    texts();
    seen = { scale, left, top };
    pen.setTransform(1, 0, 0, 1, 0, 0);
    pen.clearRect(0, 0, canvas.width, canvas.height);
    pen.drawImage(store, 0, 0);
    marked();
    canvas.dataset.paint = (performance.now() - began).toFixed(1);
    canvas.dataset.frame ??= canvas.dataset.paint;
  }
  const shown = (i) => Math.max(0.9, radii[i] * Math.min(1.4, Math.max(0.26, scale)));
  const X = (i) => left + scale * at[2 * i], Y = (i) => top + scale * at[2 * i + 1];
  function islands() {
    if (groups.names.length < 2) return;
    paint.fillStyle = colour("sunk");
    paint.globalAlpha = 0.7;
    for (const isle of isles) { paint.beginPath(); paint.arc(left + scale * isle.x, top + scale * isle.y, scale * (isle.r - 4), 0, 7); paint.fill(); }
    paint.globalAlpha = 1;
  }
  function lines() {
    const { width, height } = canvas.getBoundingClientRect();
    paint.strokeStyle = colour("soft");
    for (const bridges of groups.names.length > 1 ? [false, true] : [false]) { // links between islands are fainter than those inside
      paint.lineWidth = Math.max(0.5, Math.min(1.2, scale));
      paint.globalAlpha = (bridges ? 0.1 : 0.4) * (ends.length > 4000 && scale < 0.5 ? 0.6 : 1);
      paint.beginPath();
      for (let i = 0; i < ends.length; i += 2) {
        const a = ends[i], b = ends[i + 1];
        if (groups.names.length > 1 && (groups.of[a] !== groups.of[b]) !== bridges) continue;
        const ax = X(a), ay = Y(a), bx = X(b), by = Y(b);
        if ((ax < 0 && bx < 0) || (ay < 0 && by < 0) || (ax > width && bx > width) || (ay > height && by > height)) continue;
        paint.moveTo(ax, ay);
        paint.lineTo(bx, by);
      }
      paint.stroke();
    }
    paint.globalAlpha = 1;
  }
  function dots() {
    const { width, height } = canvas.getBoundingClientRect();
    for (const [kind, members] of inks) {
      paint.fillStyle = colour(kind);
      for (const faded of [true, false]) {
        paint.globalAlpha = faded ? 0.45 : 1;
        paint.beginPath();
        for (const i of members) {
          if (data.nodes[i].sunk !== faded) continue;
          const x = X(i), y = Y(i), r = shown(i);
          if (x < -r || y < -r || x > width + r || y > height + r) continue;
          if (r < 2.2) paint.rect(x - r, y - r, 2 * r, 2 * r);
          else { paint.moveTo(x + r, y); paint.arc(x, y, r, 0, 7); }
        }
        paint.fill();
      }
    }
    paint.globalAlpha = 1;
  }
  /** Names where there is room: the islands' first, then the most linked. */
  function texts() {
    const { width, height } = canvas.getBoundingClientRect(), rows = new Map(), family = style.getPropertyValue("--font");
    const free = (x, y, half) => {
      const near = [-1, 0, 1].flatMap((by) => rows.get(Math.round(y / 16) + by) ?? []);
      if (near.some(([px, py, ph]) => Math.abs(px - x) < ph + half + 5 && Math.abs(py - y) < 14)) return false;
      const key = Math.round(y / 16);
      rows.set(key, [...(rows.get(key) ?? []), [x, y, half]]);
      return true;
    };
    const write = (text, x, y, weight, ink) => {
      paint.font = `${weight} ${FONT}px ${family}`;
      const half = paint.measureText(text).width / 2;
      if (x + half < 0 || y < 8 || x - half > width || y > height + 8 || !free(x, y, half)) return false;
      paint.lineWidth = 4;
      paint.strokeStyle = colour("card");
      paint.strokeText(text, x, y);
      paint.fillStyle = ink;
      paint.fillText(text, x, y);
      return true;
    };
    paint.textAlign = "center";
    paint.lineJoin = "round";
    if (groups.names.length > 1) isles.forEach((isle, i) => write(groups.names[i], left + scale * isle.x, top + scale * (isle.y - isle.r) + 12, "650", colour("ink")));
    if (radii.length <= 400) for (let i = 0; i < radii.length; i += 1) free(X(i), Y(i), shown(i) - 4); // no name over a node
    let written = 0;
    for (const i of byDegree) {
      if (written >= (scale < 0.35 ? 14 : 60)) break;
      if (write(names[i], X(i), Y(i) + shown(i) + 12, "450", colour("ink"))) written += 1;
    }
  }
  /** What is pointed at or chosen, with its links and the names of what is near. */
  function marked() {
    const ratio = devicePixelRatio, one = pointed >= 0 ? pointed : chosen;
    over.setTransform(1, 0, 0, 1, 0, 0);
    over.clearRect(0, 0, above.width, above.height);
    if (one < 0 || !at) return;
    over.setTransform(ratio, 0, 0, ratio, 0, 0);
    over.strokeStyle = colour("accent");
    over.lineWidth = 1.4;
    for (let i = 0; i < ends.length; i += 2) {
      if (ends[i] !== one && ends[i + 1] !== one) continue;
      over.beginPath(); over.moveTo(X(ends[i]), Y(ends[i])); over.lineTo(X(ends[i + 1]), Y(ends[i + 1])); over.stroke();
    }
    over.lineWidth = 2.4;
    over.beginPath(); over.arc(X(one), Y(one), shown(one) + 4, 0, 7); over.stroke();
  }
  function hit(x, y) {
    if (!at) return -1;
    const px = (x - left) / scale, py = (y - top) / scale, reach = 12 / scale + 8;
    let best = -1, nearest = Infinity;
    for (let gx = Math.floor((px - reach) / CELL); gx <= Math.floor((px + reach) / CELL); gx += 1) {
      for (let gy = Math.floor((py - reach) / CELL); gy <= Math.floor((py + reach) / CELL); gy += 1) {
        for (const i of grid.get(`${gx} ${gy}`) ?? []) {
          const far = (at[2 * i] - px) ** 2 + (at[2 * i + 1] - py) ** 2;
          if (far < nearest && far < (radii[i] + 8 / scale) ** 2) { best = i; nearest = far; }
        }
      }
    }
    return best;
  }
  function pick(i, { centre = false } = {}) {
    chosen = i;
    if (centre && i >= 0 && at) {
      const { width, height } = canvas.getBoundingClientRect();
      scale = Math.max(scale, 0.9);
      left = width / 2 - scale * at[2 * i];
      top = height / 2 - scale * at[2 * i + 1];
      fitted = true;
      sharp();
    } else marked();
    choose(data.nodes[i] ?? null);
  }

  const spot = (event) => {
    const box = canvas.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };
  let drag = null;
  const fingers = new Map();
  above.onpointerdown = (event) => {
    above.setPointerCapture(event.pointerId);
    const [x, y] = spot(event);
    fingers.set(event.pointerId, [x, y]);
    drag = { x, y, from: [x, y], node: hit(x, y), moved: false };
    hover(null);
  };
  above.onpointermove = (event) => {
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
      if (drag.node >= 0 && data.nodes.length < 600) worker.postMessage({ move: drag.node, x: (x - left) / scale, y: (y - top) / scale });
      else { left += x - drag.x; top += y - drag.y; moved(); }
      Object.assign(drag, { x, y });
    } else {
      const now = hit(x, y);
      if (now === pointed) { if (now >= 0) hover(data.nodes[now], x, y); return; }
      pointed = now;
      above.classList.toggle("on", now >= 0);
      hover(data.nodes[now] ?? null, x, y);
      marked();
    }
  };
  above.onpointerleave = () => { pointed = -1; hover(null); marked(); };
  above.onpointerup = above.onpointercancel = (event) => {
    fingers.delete(event.pointerId);
    if (drag && !drag.moved && event.type === "pointerup") pick(drag.node);
    drag = null;
  };
  above.ondblclick = (event) => { const one = hit(...spot(event)); if (one >= 0) enter(data.nodes[one]); };
  above.onwheel = (event) => { event.preventDefault(); zoom(Math.exp(-event.deltaY * 0.0016), ...spot(event)); };
  above.onkeydown = (event) => { // the same by keyboard: arrows go through the records, Enter opens
    const by = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (by) pick(byDegree[(byDegree.indexOf(chosen) + by + byDegree.length) % byDegree.length]);
    else if (event.key === "Enter" && chosen >= 0) enter(data.nodes[chosen]);
    else return;
    event.preventDefault();
  };
  const watching = new ResizeObserver(size);
  watching.observe(canvas);
  const light = matchMedia("(prefers-color-scheme: dark)");
  light.addEventListener("change", sharp);
  canvas.where = (id) => { const i = place.get(id); return at && i !== undefined ? [X(i), Y(i)] : null; };
  return {
    zoom, fit: () => { fit(true); sharp(); }, pick: (id) => pick(place.get(id) ?? -1, { centre: true }),
    close: () => { closed = true; clearTimeout(late); worker.terminate(); watching.disconnect(); light.removeEventListener("change", sharp); },
  };
}
