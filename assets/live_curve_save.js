// The figure as a file: an SVG that needs nothing else, dark on white whatever the page's theme.

import { LETTERS, setting, simulated, speedOf, times } from "./live_curve_words.js";

const PAPER = "--st-background-color:#ffffff;--st-text-color:#1b1b1b;--st-primary-color:#0072B2;color:#1b1b1b;position:absolute";
const LOOKS = ["fill", "stroke", "stroke-width", "stroke-dasharray", "stroke-linejoin", "opacity", "paint-order",
  "font-family", "font-size", "font-weight"];
const HEAD = 34, ROW = 19, FIRST = 24, LETTER = 7.2;  // px: title, a line below the figure, where they begin, a letter

/** Text of the file: the figure as drawn now, its title above, the settings below. */
export function fileOf({ svg, width, height }, title, captions) {
  const rows = captions.flatMap((words) => wrapped(words, Math.floor((width - 16) / LETTER)));
  const copy = svg.cloneNode(true);
  copy.setAttribute("style", PAPER);
  svg.after(copy);  // styles are computed where the page's rules hold
  for (const node of [copy, ...copy.querySelectorAll("*")]) inline(node);
  copy.remove();
  copy.removeAttribute("style");
  const tall = HEAD + height + FIRST + ROW * rows.length, box = `0 ${-HEAD} ${width} ${tall}`;
  for (const [name, value] of Object.entries({ width, height: tall, viewBox: box, "xmlns": "http://www.w3.org/2000/svg" })) {
    copy.setAttribute(name, value);
  }
  const add = (name, attributes, words, where = "append") => {
    const node = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const key of Object.keys(attributes)) node.setAttribute(key, attributes[key]);
    node.textContent = words;
    copy[where](node);
  };
  const letters = { x: 8, fill: "#1b1b1b", stroke: "none", "font-family": "serif", "font-size": "14px" };
  add("text", { ...letters, y: -12, "font-size": "17px", "font-weight": 600 }, title);
  rows.forEach((words, i) => add("text", { ...letters, y: height + FIRST + ROW * i }, words));
  add("rect", { x: 0, y: -HEAD, width, height: tall, fill: "#ffffff" }, "", "prepend");
  add("title", {}, title, "prepend");
  return new XMLSerializer().serializeToString(copy);
}

/** The words in lines of at most so many characters. */
export function wrapped(words, most) {
  return words.split(" ").reduce((lines, word) => {
    const longer = lines.length ? `${lines.at(-1)} ${word}` : word;
    return lines.length && longer.length <= most ? [...lines.slice(0, -1), longer] : [...lines, word];
  }, []);
}

function inline(node) {
  const looks = getComputedStyle(node);
  for (const name of LOOKS) node.setAttribute(name, looks.getPropertyValue(name));
  node.removeAttribute("class");
}

/** The lines under the figure: whose numbers these are. */
export function captionsOf({ point, pins, data }) {
  const played = simulated(data.cloud, point.alpha);
  return [
    "speed-up = (1 − α^(k+1)) / ((1 − α)(1 + k(c + v)))",
    `● you: ${setting(point)}: ${times(speedOf(point))}`,
    ...pins.map((pin, i) => `${LETTERS[i]}: ${setting(pin)}: ${times(speedOf(pin))}`),
    ...(played ? [`${played} (seed ${data.cloud.seed})`] : []),
    ...data.measured.map((run, i) => `□ ${i + 1}: ${run.label}, k = ${run.k}, measured ${times(run.speedup)}`),
  ];
}

export function download(name, text) {
  const url = URL.createObjectURL(new Blob([text], { type: "image/svg+xml" }));
  Object.assign(document.createElement("a"), { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);  // after the browser has taken it
}
