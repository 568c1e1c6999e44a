// Two texts line by line, for edits that met and for former versions.
import { h } from "./dom.js";

/** The lines of `now`; those that are not in `before` are marked, with `gone` also those that are there no longer. */
export function difference(before, now, { gone = false } = {}) {
  const a = before.split("\n"), b = now.split("\n");
  if (a.length * b.length > 400000) return [h("span", {}, now)];
  const table = Array.from({ length: a.length + 1 }, () => new Int32Array(b.length + 1));
  for (let i = a.length - 1; i >= 0; i -= 1) for (let j = b.length - 1; j >= 0; j -= 1) table[i][j] = a[i] === b[j] ? table[i + 1][j + 1] + 1 : Math.max(table[i + 1][j], table[i][j + 1]);
  const out = [];
  let i = 0, j = 0;
  while (j < b.length || i < a.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) { out.push(h("span", {}, b[j] || " ")); i += 1; j += 1; }
    else if (j < b.length && (i >= a.length || table[i][j + 1] >= table[i + 1][j])) { out.push(h("ins", {}, b[j] || " ")); j += 1; }
    else { if (gone) out.push(h("del", {}, a[i] || " ")); i += 1; }
  }
  return out;
}

export const flat = (value) => (Array.isArray(value) ? value.join(", ") : String(value ?? ""));
