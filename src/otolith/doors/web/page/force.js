// Where the nodes of a graph come to rest: springs along links, repulsion between all (by quadrants, n log n), a pull to
// the middle. Runs in a worker, so the page stays fluent; sends positions until things are calm.

let count = 0, xs, ys, vx, vy, mass, links, degree, alpha = 1, timer = null;
const REPEL = 5200, SPRING = 0.55, REST = 42, PULL = 0.022, DRAG = 0.6, THETA2 = 0.81;

onmessage = ({ data }) => {
  if (data.nodes) start(data);
  else if (data.move) { xs[data.move] = data.x; ys[data.move] = data.y; vx[data.move] = vy[data.move] = 0; warm(0.25); }
  else if (data.warm) warm(data.warm);
};

function start({ nodes, ends, from }) {
  count = nodes;
  links = ends;
  xs = new Float32Array(count); ys = new Float32Array(count); vx = new Float32Array(count); vy = new Float32Array(count);
  degree = new Float32Array(count); mass = new Float32Array(count);
  for (let i = 0; i < ends.length; i += 1) degree[ends[i]] += 1;
  for (let i = 0; i < count; i += 1) {
    mass[i] = 1 + Math.min(6, degree[i] * 0.25);
    const known = from && !Number.isNaN(from[2 * i]);
    const angle = i * 2.399963, radius = 9 * Math.sqrt(i + 0.5); // a sunflower: no two nodes begin in one place
    xs[i] = known ? from[2 * i] : radius * Math.cos(angle);
    ys[i] = known ? from[2 * i + 1] : radius * Math.sin(angle);
  }
  alpha = 1;
  if (!from) for (let i = 0; i < Math.min(60, 60000 / Math.max(1, count)); i += 1) tick();
  run();
}

function warm(to) { alpha = Math.max(alpha, to); run(); }

function run() {
  if (timer) return;
  const step = () => {
    const began = performance.now();
    do tick(); while (performance.now() - began < 10 && alpha > 0.02);
    const out = new Float32Array(2 * count);
    for (let i = 0; i < count; i += 1) { out[2 * i] = xs[i]; out[2 * i + 1] = ys[i]; }
    postMessage({ at: out, calm: alpha <= 0.02 }, [out.buffer]);
    timer = alpha > 0.02 ? setTimeout(step, 16) : null;
  };
  timer = setTimeout(step, 0);
}

function tick() {
  alpha *= 0.986;
  for (let i = 0; i < links.length; i += 2) {
    const a = links[i], b = links[i + 1];
    let dx = xs[b] - xs[a], dy = ys[b] - ys[a];
    const far = Math.hypot(dx, dy) || 0.01;
    const force = (SPRING * alpha * (far - REST)) / far / Math.max(1, Math.sqrt(Math.min(degree[a], degree[b])) * 0.7);
    dx *= force; dy *= force;
    const share = degree[a] / (degree[a] + degree[b]);
    vx[b] -= dx * share; vy[b] -= dy * share;
    vx[a] += dx * (1 - share); vy[a] += dy * (1 - share);
  }
  const root = plant();
  for (let i = 0; i < count; i += 1) {
    repel(root, i);
    vx[i] -= xs[i] * PULL * alpha; vy[i] -= ys[i] * PULL * alpha;
    vx[i] *= DRAG; vy[i] *= DRAG;
    xs[i] += vx[i]; ys[i] += vy[i];
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
