// Elements without markup: text is always text, so nothing that was remembered can become part of the page.

const SVG = "http://www.w3.org/2000/svg";

/** An element with properties and children; children are nodes, texts, or lists of them; null is left out. */
export function h(tag, given = {}, ...children) {
  return fill(document.createElement(tag), given, children);
}

/** The same for drawings. */
export function s(tag, given = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), given, children);
}

function fill(element, given, children) {
  for (const [name, value] of Object.entries(given)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "style") Object.assign(element.style, value);
    else if (name === "value") element.value = value;
    else if (name === "data") Object.assign(element.dataset, value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  append(element, children);
  return element;
}

export function append(element, children) {
  for (const child of children) {
    if (child === null || child === undefined || child === false) continue;
    if (Array.isArray(child)) append(element, child);
    else element.append(child);
  }
}

/** Put these in the place of whatever is there. */
export function show(place, ...children) {
  place.replaceChildren();
  append(place, children);
  return place;
}

export const $ = (selector, within = document) => within.querySelector(selector);

/** Call once things have been quiet for a while. */
export function soon(act, wait = 200) {
  let timer;
  return (...given) => {
    clearTimeout(timer);
    timer = setTimeout(() => act(...given), wait);
  };
}

export function say(text) {
  $("#said").textContent = text;
}

/** A short word at the edge of the page, with at most one thing to do about it. */
export function toast(text, { undo = null, label = "Undo", bad = false } = {}) {
  const box = h("div", { class: bad ? "toast bad" : "toast" }, h("span", {}, text));
  if (undo) box.append(h("button", { type: "button", onclick: () => { box.remove(); undo(); } }, label));
  $("#toasts").append(box);
  setTimeout(() => box.remove(), bad ? 9000 : 6000);
  return box;
}
