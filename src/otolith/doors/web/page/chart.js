// Bars, drawn once and small: stacked by kind, or plain.
import { h, s } from "./dom.js";
import { KINDS, mark, number } from "./format.js";

const KNOWN = new Set(KINDS);

/** Bars of {label, parts: {name: count}}; `cursor` is a share of the width. `even`: heights grow with the square root, so that
    one day with an import of thousands leaves the others to be seen; a number over the tallest says how many it were. */
export function bars(columns, { height = 130, width = 720, cursor = null, label = "Chart", ticks = [], even = false } = {}) {
  const foot = ticks.length ? 18 : 4;
  const most = Math.max(1, ...columns.map(({ parts }) => Object.values(parts).reduce((a, b) => a + b, 0)));
  const step = width / Math.max(1, columns.length);
  const gap = step > 8 ? 2 : step > 3 ? 0.8 : 0.2;
  const share = (total) => (even ? Math.sqrt(total / most) : total / most);
  const body = columns.map(({ label: name, parts, after }, at) => {
    let from = height;
    const all = Object.values(parts).reduce((a, b) => a + b, 0);
    const stacked = Object.entries(parts).map(([kind, count]) => {
      const tall = (count / Math.max(1, all)) * share(all) * (height - 14);
      from -= tall;
      return s("rect", { class: KNOWN.has(kind) ? kind : kind === "plain" ? "plain" : "other", x: at * step + gap / 2, y: from, width: Math.max(0.6, Math.min(28, step - gap)), height: tall, rx: Math.min(2, step / 4) });
    });
    const total = Object.values(parts).reduce((a, b) => a + b, 0);
    return s("g", { class: after ? "after" : "" }, s("title", {}, `${name}: ${number(total)}`), stacked);
  });
  const top = columns.findIndex(({ parts }) => Object.values(parts).reduce((a, b) => a + b, 0) === most);
  return s("svg", { class: "chart", viewBox: `0 0 ${width} ${height + foot}`, role: "img", "aria-label": label },
    s("line", { class: "axis", x1: 0, x2: width, y1: height, y2: height }), body,
    even && most > 1 && top >= 0 ? s("text", { x: Math.min(width - 4, Math.max(4, (top + 0.5) * step)), y: 9, "text-anchor": top * step < 30 ? "start" : top * step > width - 30 ? "end" : "middle" }, number(most)) : null,
    cursor === null ? null : s("line", { class: "cursor", x1: cursor * width, x2: cursor * width, y1: 0, y2: height }),
    ticks.map(([share, text], at) => s("text", { x: share * width, y: height + 14, "text-anchor": share < 0.05 ? "start" : share > 0.95 ? "end" : "middle", class: at ? "" : "first" }, text)));
}

export const legend = (kinds) => h("div", { class: "legend" }, kinds.map((kind) => mark(kind)));
