// Bars, drawn once and small: stacked by kind, or plain.
import { h, s } from "./dom.js";
import { KINDS, mark, number } from "./format.js";

const KNOWN = new Set(KINDS);

/** Bars of {label, parts: {name: count}}; `cursor` is a share of the width. */
export function bars(columns, { height = 130, width = 720, cursor = null, label = "Chart", ticks = [] } = {}) {
  const foot = ticks.length ? 18 : 4;
  const most = Math.max(1, ...columns.map(({ parts }) => Object.values(parts).reduce((a, b) => a + b, 0)));
  const step = width / Math.max(1, columns.length);
  const gap = step > 8 ? 2 : step > 3 ? 0.8 : 0.2;
  const body = columns.map(({ label: name, parts, after }, at) => {
    let from = height;
    const stacked = Object.entries(parts).map(([kind, count]) => {
      const tall = (count / most) * (height - 12);
      from -= tall;
      return s("rect", { class: KNOWN.has(kind) ? kind : kind === "plain" ? "plain" : "other", x: at * step + gap / 2, y: from, width: Math.max(0.6, step - gap), height: tall, rx: Math.min(2, step / 4) });
    });
    const total = Object.values(parts).reduce((a, b) => a + b, 0);
    return s("g", { class: after ? "after" : "" }, s("title", {}, `${name}: ${number(total)}`), stacked);
  });
  return s("svg", { class: "chart", viewBox: `0 0 ${width} ${height + foot}`, role: "img", "aria-label": label },
    s("line", { class: "axis", x1: 0, x2: width, y1: height, y2: height }), body,
    cursor === null ? null : s("line", { class: "cursor", x1: cursor * width, x2: cursor * width, y1: 0, y2: height }),
    ticks.map(([share, text], at) => s("text", { x: share * width, y: height + 14, "text-anchor": share < 0.05 ? "start" : share > 0.95 ? "end" : "middle", class: at ? "" : "first" }, text)));
}

export const legend = (kinds) => h("div", { class: "legend" }, kinds.map((kind) => mark(kind)));
