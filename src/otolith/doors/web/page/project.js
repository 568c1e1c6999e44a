// The project that every view obeys: chosen in the header, kept in this browser. Empty is the whole home.
const KEY = "otolith-project";
let chosen = "";
try {
  chosen = localStorage.getItem(KEY) ?? "";
} catch { /* a browser that keeps nothing */ }

export const project = () => chosen;

export function choose(name) {
  chosen = name;
  try {
    localStorage.setItem(KEY, name);
  } catch { /* then it holds until the page is closed */ }
}

/** A question's words with the project among them. */
export const scoped = (given = {}) => (chosen ? { project: chosen, ...given } : given);
