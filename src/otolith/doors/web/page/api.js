// The home over HTTP: JSON in, JSON out; an error says what to do.

export class Refused extends Error {
  constructor(status, body) {
    const told = body?.error ?? { code: "unknown", message: `the server answered ${status}`, hint: "" };
    super(told.hint ? `${told.message}; ${told.hint}` : told.message);
    Object.assign(this, { status, code: told.code, hint: told.hint, body });
  }
}
const GONE = { error: { code: "gone", message: "The server does not answer", hint: "start it again with: otolith serve" } };

async function ask(method, path, { body, headers = {}, signal } = {}) {
  let answer;
  try {
    answer = await fetch(path, {
      method, signal, headers: body === undefined ? headers : { "content-type": "application/json", ...headers },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    document.dispatchEvent(new CustomEvent("gone"));
    throw new Refused(0, GONE);
  }
  if (answer.status === 401) location.assign("/in");
  const found = await answer.json().catch(() => null);
  if (!answer.ok || found?.error) throw new Refused(answer.status, found);
  return found;
}

/** Words of a query; lists are repeated, what is empty is left out. */
export function query(given) {
  const words = new URLSearchParams();
  for (const [name, value] of Object.entries(given)) {
    for (const one of Array.isArray(value) ? value : [value]) {
      if (one !== null && one !== undefined && one !== "" && one !== false) words.append(name, String(one));
    }
  }
  const text = words.toString();
  return text ? `?${text}` : "";
}

export const get = (path, given = {}, signal) => ask("GET", `/api/${path}${query(given)}`, { signal });
export const post = (path, body = {}) => ask("POST", `/api/${path}`, { body });
export const change = (id, etag, body) =>
  ask("PATCH", `/api/records/${encodeURIComponent(id)}`, { body, headers: { "if-match": `"${etag}"` } });
