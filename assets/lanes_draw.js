// Lanes on the screen: drawn once, then only veiled up to a time.
import { count } from "./stage_words.js";
import { make, put, write } from "./stage_dom.js";
import { HIGH, WIDE, secondsOf, shapesOf, standAt } from "./lanes_plan.js";

export const ms = (x) => (x && x < 0.01 ? `${(x * 1000).toFixed(1)} ms` : `${(x * 1000).toFixed(0)} ms`);

const svg = (tag, attributes) => {
  const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  return node;
};

/** A lane's node with its blocks. */
export function makeLane(lane, total) {
  const root = make("div", "lane"), head = make("p", "head"), bar = make("div", "bar"), sum = make("p", "sum");
  head.append(make("b", "name", lane.name), make("span", "about", lane.about));
  const box = svg("svg", { viewBox: `0 0 ${WIDE} ${HIGH}`, preserveAspectRatio: "none", "aria-hidden": "true" });
  const shapes = shapesOf(lane, total);
  box.append(...Object.entries(shapes).map(([phase, d]) => svg("path", { class: phase, d })));
  bar.append(box, make("i", "veil"));
  sum.append(make("span", ""), make("span", ""));
  root.append(head, bar, sum);
  return root;
}

/** Bring a lane to a time. */
export function showLane(root, lane, time, total) {
  const { tokens, over } = standAt(lane, time);
  root.querySelector(".veil").style.transform = `translateX(${(100 * Math.min(time, total)) / total}%)`;
  put(root, "data-over", over);
  const [upper, lower] = root.querySelectorAll(".sum span");
  write(upper, `${String(tokens).padStart(2, "\u2007")} of ${count(lane.tokens, "token")}`);
  write(lower, over ? `${ms(lane.end)}${lane.speedup ? ` · ${lane.speedup.toFixed(2)}×` : ""}` : "");
}

/** The sentence at the end: who was there when. */
export function endSays(lanes) {
  const order = [...lanes].sort((a, b) => a.end - b.end);
  return order.map((lane, i) => `${i + 1}. ${lane.name}, ${ms(lane.end)}`).join("; ");
}

/** All lanes in numbers. */
export function fillTable(body, lanes) {
  body.replaceChildren(
    ...lanes.map((lane) => {
      const row = make("tr", ""), head = make("th", "", lane.name);
      put(head, "scope", "row");
      const cells = [lane.ends.length, lane.tokens, ...secondsOf(lane).map(ms)];
      row.append(head, ...cells.map((text) => make("td", "", String(text))));
      return row;
    }),
  );
}
