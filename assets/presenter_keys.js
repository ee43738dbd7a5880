// What a key does in presenter mode, and how far the page goes on. Pure.

const KEYS = {
  " ": "next", PageDown: "next", ArrowRight: "next", PageUp: "back", ArrowLeft: "back",
  a: "answer", k: "controls", h: "help", Escape: "leave",
};
const SHIFTED = { " ": "back", PageDown: "page+", PageUp: "page-" };
const OWN = { // keys that the thing in focus has a use for
  typing: () => true,
  slider: (key) => /^(Arrow|Page|Home|End)/.test(key),
  list: (key) => /^Arrow/.test(key) || key === " ",
  press: (key) => key === " " || key === "Enter",
};

/** What a key does, or null. `on`: what has the focus, see `focusOf`. */
export function presenterAction({ key, code, shiftKey, altKey, ctrlKey, metaKey }, on = "") {
  if (altKey && !ctrlKey && !metaKey && code === "KeyP") return "leave"; // as it was entered
  if (altKey || ctrlKey || metaKey || OWN[on]?.(key)) return null;
  return (shiftKey ? SHIFTED : KEYS)[key.length === 1 ? key.toLowerCase() : key] ?? null;
}

/** What kind of thing an element is to the keyboard. */
export function focusOf({ tag, type = "", role = "", editable = false }) {
  if (editable || tag === "textarea" || role === "combobox") return "typing";
  if (role === "slider" || (tag === "input" && type === "range")) return "slider";
  if (["radio", "checkbox"].includes(type) || tag === "select" || ["tab", "option", "menuitem"].includes(role)) return "list";
  if (tag === "input") return "typing";
  return ["button", "summary", "a"].includes(tag) || role === "button" ? "press" : "";
}

/**
 * Where the page goes on to: the first block that is not wholly in sight comes to the top, its heading with it;
 * one that is taller than the screen goes by most of a screen. Null at the end of the page.
 */
export function nextTop(blocks, y, height, end) {
  if (y >= end - 2) return null;
  const first = blocks.findIndex(({ bottom }) => bottom > y + height);
  if (first < 0) return end;
  const start = first > 0 && blocks[first - 1].heading ? first - 1 : first;
  const top = blocks[start].top - GAP;
  return Math.min(top > y + GAP ? top : y + 0.8 * height, end);
}

const GAP = 16; // px above a block at the top
