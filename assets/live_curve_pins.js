// Pinned settings: their list with a button each that lets go, and the button that pins.

import { LETTERS, WORDS, setting, speedOf, times } from "./live_curve_words.js";

const NAMES_OF_A_POINT = ["k", "alpha", "c", "v"];
const SVG = "http://www.w3.org/2000/svg";

const same = (a, b) => NAMES_OF_A_POINT.every((name) => a[name] === b[name]);

/** Why the present setting cannot be pinned now; "" if it can. */
export function barred(pins, point) {
  if (pins.some((pin) => same(pin, point))) return WORDS.pinned;
  return pins.length >= LETTERS.length ? WORDS.full : "";
}

/** Rows for the pins; `unpin(i)` is what their buttons do. A row is made once and then filled. */
export function list(ul, pins, unpin) {
  while (ul.children.length > pins.length) ul.lastElementChild.remove();
  while (ul.children.length < pins.length) ul.append(row());
  pins.forEach((pin, i) => {
    const [dash, words, button] = ul.children[i].children;
    dash.firstElementChild.setAttribute("class", `pin dash${i}`);
    words.textContent = `${LETTERS[i]}  ${setting(pin)} · ${times(speedOf(pin))}`;
    button.setAttribute("aria-label", `Unpin ${LETTERS[i]}`);
    button.onclick = () => unpin(i);
  });
}

function row() {
  const li = document.createElement("li"), dash = document.createElementNS(SVG, "svg");
  const line = document.createElementNS(SVG, "path"), words = document.createElement("span");
  line.setAttribute("d", "M0 6H44");
  dash.setAttribute("class", "dash");
  dash.setAttribute("aria-hidden", "true");
  dash.append(line);
  const button = Object.assign(document.createElement("button"), { type: "button", textContent: "✕ unpin" });
  li.append(dash, words, button);
  return li;
}
