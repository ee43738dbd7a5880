// Nodes, and a token as a button. Text goes in as text, never as markup.
import { GLYPH, nameOf, piecesOf } from "./stage_words.js";

export const make = (tag, className, text = "") => {
  const node = document.createElement(tag);
  node.className = className;
  if (text) node.textContent = text;
  return node;
};

/** Set an attribute only where it differs: most of them do not. */
export const put = (node, name, value) => {
  const text = value === null || value === false ? null : value === true ? "" : String(value);
  if (node.getAttribute(name) === text) return;
  if (text === null) node.removeAttribute(name);
  else node.setAttribute(name, text);
};

export const write = (node, text) => {
  if (node.textContent !== text) node.textContent = text;
};

/** A token as a button: its text in a bdi, invisible characters as marks. */
export function makeToken() {
  const node = make("button", "tok");
  node.type = "button";
  node.tabIndex = -1;
  node.append(make("span", "glyph"), make("bdi", "text"));
  node.firstChild.setAttribute("aria-hidden", "true");
  node.lastChild.dir = "auto";
  return node;
}

export function fillToken(node, text) {
  if (node.dataset.text === text) return;
  node.dataset.text = text;
  node.title = text === "" ? "part of a character" : "";
  const pieces = piecesOf(text).map((p) => (p.mark ? make("span", "mark", p.text) : p.text));
  node.lastChild.replaceChildren(...pieces);
}

export function dressToken(node, kind, token, ref, word = kind) {
  put(node, "data-kind", kind);
  put(node, "data-ref", ref);
  write(node.firstChild, GLYPH[kind] ?? "");
  put(node, "aria-label", nameOf(token, word));
}
