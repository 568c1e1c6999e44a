// What was typed and not yet kept stays in this tab, whatever becomes of the server or the page.
const name = (key) => `otolith-draft-${key}`;

export function read(key) {
  try {
    return JSON.parse(sessionStorage.getItem(name(key)) ?? "null") ?? {};
  } catch {
    return {};
  }
}

export function clear(key) {
  try {
    sessionStorage.removeItem(name(key));
  } catch { /* nothing was kept */ }
}

/** Put back what a form held, and keep what it holds from now on. */
export function keep(form, key) {
  const held = read(key);
  for (const field of form.elements) {
    if (field.name && field.name in held && field.type !== "file") field.value = held[field.name];
  }
  form.addEventListener("input", () => {
    const now = Object.fromEntries([...form.elements].filter((field) => field.name && field.type !== "file").map((field) => [field.name, field.value]));
    try {
      sessionStorage.setItem(name(key), JSON.stringify(now));
    } catch { /* full, or forbidden: the form itself still has it */ }
  });
  return Object.values(held).some(Boolean);
}
