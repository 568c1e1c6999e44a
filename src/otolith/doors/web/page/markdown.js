// Remembered text as a document: Markdown to HTML, then every tag and attribute that could act or fetch is taken out.
// The page's policy forbids scripts and foreign requests once more; this is the first of the two nets.
import DOMPurify from "./vendor/purify.js";
import { Marked } from "./vendor/marked.js";
import { h } from "./dom.js";

const prose = new Marked({ gfm: true, breaks: false });
const lines = new Marked({ gfm: true, breaks: true }); // for dialogs and lists of short lines, where every line counts
const FILE = /^(?:\.\/)?((?:chunks|allmemories|topics|work|graph|vault|memories)\/[^?#]+)$/;
const OWN = /^(?:memory:\/\/|otolith:)([^\s?#]+)$/;
const decoded = (text) => { try { return decodeURIComponent(text); } catch { return text; } };
for (const one of [prose, lines]) {
  one.use({ walkTokens: (token) => { // a link to a file of the home, or to a record by name, leads to the record
    const found = token.type === "link" && (FILE.exec(token.href) ?? OWN.exec(token.href));
    if (found) token.href = `/record/${encodeURIComponent(decoded(found[1]))}`;
  } });
}
const ALLOWED = {
  ALLOWED_TAGS: ["p", "br", "hr", "h1", "h2", "h3", "h4", "h5", "h6", "ul", "ol", "li", "blockquote", "pre", "code", "em", "strong",
    "del", "s", "a", "table", "thead", "tbody", "tr", "th", "td", "sup", "sub", "kbd", "mark", "details", "summary"],
  ALLOWED_ATTR: ["href", "title", "align", "start", "open"],
  ALLOWED_URI_REGEXP: /^(?:https?:|mailto:|#|\/(?!\/))/i,
  ALLOW_DATA_ATTR: false, ALLOW_ARIA_ATTR: false, RETURN_DOM_FRAGMENT: true,
};
const NAMED = /\[\[([^\]|\n]{1,200})(?:\|([^\]\n]{1,200}))?\]\]|(?:memory:\/\/|otolith:)([A-Za-z0-9][A-Za-z0-9_#:-]{3,120})/g;

DOMPurify.addHook("afterSanitizeAttributes", (node) => {
  if (node.tagName !== "A" || !node.hasAttribute("href")) return;
  if (!node.getAttribute("href").startsWith("/") && !node.getAttribute("href").startsWith("#")) {
    node.setAttribute("target", "_blank");
    node.setAttribute("rel", "noopener noreferrer nofollow");
  }
});

/** A text as a sanitised article. */
export function article(text, name = "prose", { breaks = false } = {}) {
  const box = h("div", { class: name });
  let html;
  try {
    html = (breaks ? lines : prose).parse(String(text ?? "").slice(0, 400000), { async: false });
  } catch {
    html = null;
  }
  if (html === null) box.append(h("pre", {}, String(text)));
  else box.append(DOMPurify.sanitize(html, ALLOWED));
  linkTitles(box);
  return box;
}

/** [[Title]], memory://ID and otolith:ID become links to the record. */
function linkTitles(box) {
  const walker = document.createTreeWalker(box, NodeFilter.SHOW_TEXT);
  const found = [];
  while (walker.nextNode()) {
    if (/\[\[|memory:\/\/|otolith:/.test(walker.currentNode.data) && !walker.currentNode.parentElement.closest("a, code, pre")) found.push(walker.currentNode);
  }
  for (const node of found) {
    const parts = [];
    let from = 0;
    for (const hit of node.data.matchAll(NAMED)) {
      parts.push(node.data.slice(from, hit.index));
      parts.push(h("a", { href: `/record/${encodeURIComponent((hit[1] ?? hit[3]).trim())}` }, hit[2] ?? hit[1] ?? hit[0]));
      from = hit.index + hit[0].length;
    }
    node.replaceWith(...parts, node.data.slice(from));
  }
}

/** The same, folded to a screenful, with a way to unfold it. */
export function folded(text, given) {
  const box = h("div", { class: "fold" }, article(text, "prose small", given));
  requestAnimationFrame(() => {
    const inner = box.firstChild;
    if (inner.scrollHeight <= inner.clientHeight + 8) return;
    box.classList.add("cut");
    box.append(h("button", { type: "button", class: "quiet", onclick: (event) => {
      event.currentTarget.textContent = box.classList.toggle("open") ? "Show less" : "Show all";
    } }, "Show all"));
  });
  return box;
}
