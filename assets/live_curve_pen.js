// A pen that draws into an SVG: axes, lines, and words that keep out of each other's way.

import { WORDS, short } from "./live_curve_words.js";

/** The round number at or above x that an axis ends with, and the step of its ticks. */
export function axis(x) {
  const ends = [[1.5, 0.5], [2, 0.5], [3, 1], [4, 1], [5, 1], [6, 1], [8, 2], [10, 2], [12, 3], [16, 4], [20, 5], [25, 5]];
  const step = Math.ceil(x / 50) * 10;
  return ends.find(([end]) => end >= x) ?? [Math.ceil(x / step) * step, step];
}

export const LEFT = 44, RIGHT = 18, TOP = 26, BOTTOM = 40;  // px around the plot

/** Draw by calling, reuse by position: the n-th call sets up the n-th child. */
export function pen({ svg, width, height, rem }, xEnd, peak, curves) {
  const [yEnd, yStep] = axis(Math.max(1.4, peak * 1.12)), glyph = 0.56 * rem;  // a character's width
  const x = (value) => LEFT + (value / xEnd) * (width - LEFT - RIGHT);
  const y = (value) => height - BOTTOM - (value / yEnd) * (height - TOP - BOTTOM);
  const taken = [];  // boxes of words, which later words avoid
  let n = 0;
  const put = (name, attributes, words = "") => {
    let node = svg.children[n++];
    if (node?.localName !== name) {
      const made = document.createElementNS("http://www.w3.org/2000/svg", name);
      if (node) node.replaceWith(made);
      else svg.append(made);
      node = made;
    }
    for (const key of Object.keys(attributes)) node.setAttribute(key, attributes[key]);
    if (name === "text" && node.textContent !== words) node.textContent = words;
  };
  const line = (kind, points) => put("path", {
    class: kind, d: points.map(([a, b], i) => `${i ? "L" : "M"}${x(a).toFixed(1)} ${y(b).toFixed(1)}`).join("") });
  /** The area between two rows of points that share their x. */
  const area = (kind, top, bottom) => line(kind, [...top, ...bottom.toReversed()]);
  const text = (kind, px, py, words, anchor = "middle") => {
    put("text", { class: kind, x: px, y: py, "text-anchor": anchor }, words);
    const wide = words.length * glyph, left = anchor === "end" ? px - wide : anchor === "middle" ? px - wide / 2 : px;
    if (kind !== "tick") taken.push([left, left + wide, py - 14, py + 4]);
  };
  const free = ([left, right, top, bottom], near = curves) => {
    if (left < LEFT || right > width - 4 || top < 0 || bottom > height - BOTTOM) return false;
    if (taken.some(([l, r, t, b]) => left < r && right > l && top < b && bottom > t)) return false;
    for (let px = left; px <= right; px += 6) {
      const at = Math.min(xEnd, Math.max(0, ((px - LEFT) / (width - LEFT - RIGHT)) * xEnd));
      const covers = (py) => py > top - 4 && py < bottom + 4;
      if (near.some((curve) => covers(y(curve(at))))) return false;
    }
    return true;
  };
  const avoid = (a, b, beside = 0) => taken.push([x(a) - 9, x(a) + 9 + beside, y(b) - 9 - beside, y(b) + 9]);
  /** Words beside a point, where they cover no other words and no curve, or at least not the first. */
  const label = (kind, a, b, words) => {
    const wide = words.length * glyph, places = [];
    for (const down of [24, -14, 44, -34, 64, 84, -54]) {
      for (const left of [12, -12 - wide, -wide / 2, 30, -30 - wide]) places.push([x(a) + left, y(b) + down]);
    }
    const fit = (near) => places.find(([px, py]) => free([px, px + wide, py - 14, py + 4], near));
    const fits = fit(curves) ?? fit(curves.slice(0, 1));
    const [px, py] = fits ?? [Math.min(Math.max(x(a) - wide / 2, LEFT), width - wide - 4), y(b) - 14];
    text(kind, px, py, words, "start");
  };
  const done = () => { while (svg.children.length > n) svg.lastElementChild.remove(); };
  return { width, height, glyph, xEnd, yEnd, yStep, x, y, put, line, area, text, avoid, free, label, done };
}

/** Axes, the line of plain decoding, and all that is slower in grey. */
export function frame(p, xStep, name, label) {
  const right = p.width - RIGHT, floor = p.y(0);
  p.put("rect", { class: "slow", x: LEFT, y: p.y(1), width: Math.max(0, right - LEFT), height: floor - p.y(1) });
  for (let value = 0; value <= p.yEnd; value += p.yStep) {
    p.line("grid", [[0, value], [p.xEnd, value]]);
    p.text("tick", LEFT - 6, p.y(value) + 4, `${value}×`, "end");
  }
  for (let i = 0; i * xStep <= p.xEnd + 1e-9; i++) p.text("tick", p.x(i * xStep), floor + 18, short(i * xStep));
  p.text("name", (LEFT + right) / 2, p.height - 4, name);
  p.line("plain", [[0, 1], [p.xEnd, 1]]);
  if (label) {
    const width = WORDS.plain.length * p.glyph, places = [];
    for (const py of [p.y(1) - 6, p.y(1) + 16]) for (let px = right; px > LEFT + width; px -= 20) places.push([px, py]);
    const place = places.find(([px, py]) => p.free([px - width, px, py - 12, py + 2]));
    p.text("plain", ...(place ?? places[0]), place ? WORDS.plain : "", "end");
  }
  const wide = WORDS.slow.length * p.glyph, fits = (py) => py - 14 > p.y(1) && p.free([right - wide, right, py - 14, py + 4]);
  const at = [floor - 6, p.y(1) + 18].find(fits);
  p.text("slow", right, at ?? floor, at === undefined ? "" : WORDS.slow, "end");
}

