// Where the nodes of a graph come to rest. Each group is an island of its own, packed beside the others; inside it springs along links,
// repulsion between all (by quadrants, n log n) and a pull to the island's middle. Runs in a worker: the first positions are sent at
// once, better ones until things are calm.

let count = 0, xs, ys, vx, vy, mass, links, degree, group, isles, alpha = 1, timer = null;
const REPEL = 4200, SPRING = 0.5, REST = 30, DRAG = 0.6, THETA2 = 1.1, ROOM = 17;

onmessage = ({ data }) => {
  if (data.nodes) start(data);
  else if (data.move !== undefined) { xs[data.move] = data.x; ys[data.move] = data.y; vx[data.move] = vy[data.move] = 0; warm(0.2); }
};

function start({ nodes, ends, groups, wide }) {
  count = nodes;
  links = ends;
  group = groups;
  xs = new Float32Array(count); ys = new Float32Array(count); vx = new Float32Array(count); vy = new Float32Array(count);
  degree = new Float32Array(count); mass = new Float32Array(count);
  for (let i = 0; i < ends.length; i += 1) degree[ends[i]] += 1;
  const sizes = [];
  for (let i = 0; i < count; i += 1) { sizes[group[i]] = (sizes[group[i]] ?? 0) + 1; mass[i] = 1 + Math.min(6, degree[i] * 0.25); }
  isles = pack(sizes, Math.sqrt(Math.min(2, Math.max(0.5, wide))));
  const order = [...Array(count).keys()].sort((a, b) => degree[b] - degree[a]), placed = new Int32Array(isles.length);
  for (const i of order) { // a sunflower on each island, the most linked in its middle
    const at = placed[group[i]]++, angle = at * 2.399963, radius = ROOM * 0.62 * Math.sqrt(at + 0.3), isle = isles[group[i]];
    xs[i] = isle.x + radius * Math.cos(angle);
    ys[i] = isle.y + radius * Math.sin(angle);
  }
  alpha = 0.7;
  send(false);
  run();
}

/** A place for each island: the largest in the middle, the others on a spiral where there is room, as wide as the canvas. */
function pack(sizes, wide) {
  const all = sizes.map((size, at) => ({ at, r: ROOM * 0.75 * Math.sqrt(size ?? 0) + 26, x: 0, y: 0 })), done = [];
  for (const isle of all.toSorted((a, b) => b.r - a.r)) {
    for (let turn = 0; ; turn += 1) {
      const angle = turn * 0.37, far = done.length ? 9 * Math.sqrt(turn) * 1.6 : 0;
      isle.x = far * Math.cos(angle) * wide;
      isle.y = far * Math.sin(angle) / wide;
      if (done.every((other) => Math.hypot(other.x - isle.x, other.y - isle.y) > other.r + isle.r)) break;
    }
    done.push(isle);
  }
  return all;
}

function warm(to) { alpha = Math.max(alpha, to); run(); }

function send(calm) {
  const out = new Float32Array(2 * count);
  for (let i = 0; i < count; i += 1) { out[2 * i] = xs[i]; out[2 * i + 1] = ys[i]; }
  postMessage({ at: out, isles: isles.map(({ x, y, r }) => ({ x, y, r })), calm }, [out.buffer]);
}

function run() {
  if (timer) return;
  const step = () => {
    const began = performance.now();
    do tick(); while (performance.now() - began < 90 && alpha > 0.02);
    send(alpha <= 0.02);
    timer = alpha > 0.02 ? setTimeout(step, 30) : null;
  };
  timer = setTimeout(step, 0);
}

function tick() {
  alpha *= 0.945;
  for (let i = 0; i < links.length; i += 2) {
    const a = links[i], b = links[i + 1], bridge = group[a] !== group[b];
    let dx = xs[b] - xs[a], dy = ys[b] - ys[a];
    const far = Math.hypot(dx, dy) || 0.01;
    const force = ((bridge ? 0.0006 : SPRING) * alpha * (far - REST)) / far / Math.max(1, Math.sqrt(Math.min(degree[a], degree[b])) * 0.7);
    dx *= force; dy *= force;
    const share = degree[a] / (degree[a] + degree[b]);
    vx[b] -= dx * share; vy[b] -= dy * share;
    vx[a] += dx * (1 - share); vy[a] += dy * (1 - share);
  }
  const root = plant();
  for (let i = 0; i < count; i += 1) {
    repel(root, i);
    const isle = isles[group[i]];
    let dx = xs[i] - isle.x, dy = ys[i] - isle.y;
    const far = Math.hypot(dx, dy) || 0.01, pull = 0.018 * alpha;
    vx[i] -= dx * pull; vy[i] -= dy * pull;
    vx[i] *= DRAG; vy[i] *= DRAG;
    xs[i] += vx[i]; ys[i] += vy[i];
    if (isles.length > 1 && far > isle.r - 14) { // no node leaves its island
      dx *= (isle.r - 14) / far; dy *= (isle.r - 14) / far;
      xs[i] = isle.x + dx; ys[i] = isle.y + dy;
    }
  }
}

// The quadrants, in flat arrays: [x, y, mass, size] and four children or one node each.
let box = new Float32Array(0), kids = new Int32Array(0), leaf = new Int32Array(0), used = 0;

function plant() {
  if (box.length < 4 * 8 * (count + 1)) {
    box = new Float32Array(4 * 8 * (count + 1)); kids = new Int32Array(4 * 8 * (count + 1)); leaf = new Int32Array(8 * (count + 1));
  }
  let low = Infinity, high = -Infinity, left = Infinity, right = -Infinity;
  for (let i = 0; i < count; i += 1) {
    if (xs[i] < left) left = xs[i]; if (xs[i] > right) right = xs[i]; if (ys[i] < low) low = ys[i]; if (ys[i] > high) high = ys[i];
  }
  const size = Math.max(right - left, high - low, 1) + 1;
  used = 0;
  const root = make(size);
  for (let i = 0; i < count; i += 1) put(root, i, left, low, size, 0);
  return root;
}

function make(size) {
  const n = used++;
  box[4 * n] = box[4 * n + 1] = box[4 * n + 2] = 0;
  box[4 * n + 3] = size;
  kids[4 * n] = kids[4 * n + 1] = kids[4 * n + 2] = kids[4 * n + 3] = -1;
  leaf[n] = -1;
  return n;
}

function put(n, i, x, y, size, depth) {
  for (;;) {
    const had = box[4 * n + 2], now = had + mass[i];
    const fresh = had === 0;
    box[4 * n] = (box[4 * n] * had + xs[i] * mass[i]) / now;
    box[4 * n + 1] = (box[4 * n + 1] * had + ys[i] * mass[i]) / now;
    box[4 * n + 2] = now;
    if (fresh) { leaf[n] = i; return; }
    if (depth > 24 || used > leaf.length - 8) { leaf[n] = -1; return; }
    const half = size / 2;
    if (leaf[n] >= 0) { // a second node comes: the first moves down one level
      const other = leaf[n];
      leaf[n] = -1;
      const q = (xs[other] >= x + half ? 1 : 0) + (ys[other] >= y + half ? 2 : 0);
      const child = make(half);
      kids[4 * n + q] = child;
      box[4 * child] = xs[other]; box[4 * child + 1] = ys[other]; box[4 * child + 2] = mass[other];
      leaf[child] = other;
    }
    const q = (xs[i] >= x + half ? 1 : 0) + (ys[i] >= y + half ? 2 : 0);
    if (kids[4 * n + q] < 0) kids[4 * n + q] = make(half);
    n = kids[4 * n + q];
    if (q & 1) x += half;
    if (q & 2) y += half;
    size = half;
    depth += 1;
  }
}

const stack = new Int32Array(512);
function repel(root, i) {
  let top = 0;
  stack[top++] = root;
  while (top) {
    const n = stack[--top];
    if (leaf[n] === i) continue;
    const dx = xs[i] - box[4 * n], dy = ys[i] - box[4 * n + 1];
    let far = dx * dx + dy * dy;
    const size = box[4 * n + 3];
    if (leaf[n] >= 0 || size * size < THETA2 * far) {
      if (far < 30) far = 30;
      const force = (REPEL * alpha * box[4 * n + 2]) / far / Math.sqrt(far) / 6;
      vx[i] += dx * force; vy[i] += dy * force;
    } else {
      for (let q = 0; q < 4; q += 1) if (kids[4 * n + q] >= 0 && top < 508) stack[top++] = kids[4 * n + q];
    }
  }
}
