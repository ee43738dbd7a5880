// Around the picture: the two strips of equal length, the algebra, the test of one token, temperature.
import { dress, each, fillRow, make, pinAt, put, write } from "./overlap_dom.js";
import { digitsOf, textOf } from "./overlap_ratio.js";
import { alphasAt, dropOf } from "./overlap_rule.js";
import { algebraOf, fateOf, heatOf, quoted } from "./overlap_words.js";

const LABELLED = 0.09; // of a row: a shorter block has no room for words

const blocks = ({ N, names }, kind, masses, glyph) => masses.map(N.value).map((share, i) =>
  ({ kind, share, text: share > LABELLED ? `${glyph} ${names[i]}` : "" }));

/** q = kept + rejected and p = kept + residual, one above the other: the ends are equally long. */
export function drawStrips(s, scene) {
  const strips = s.find(".strips"), { facts, N } = scene, row = (name) => strips.querySelector(`[data-row=${name}]`);
  put(strips, "data-off", !facts);
  if (!facts) return put(strips, "aria-label", "No strips while a sum is not 1.");
  const kept = blocks(scene, "kept", facts.kept, "✓");
  fillRow(row("q"), [...kept, ...blocks(scene, "over", facts.over, "✗")]);
  fillRow(row("p"), [...kept, ...blocks(scene, "gap", facts.gap, "↻")]);
  const alpha = N.value(facts.alpha);
  fillRow(row("brace"), [
    { kind: "alpha", share: alpha, text: `α = ${textOf(facts.alpha)}` },
    { kind: "tv", share: 1 - alpha, text: `1 − α = ${textOf(facts.rejected)}` },
  ]);
  put(strips, "aria-label", `Two bars of length 1. q: accepted ${textOf(facts.alpha)}, rejected ${textOf(facts.rejected)}. p: accepted ${textOf(facts.alpha)}, corrected ${textOf(facts.missing)}. The rejected and the corrected part are equally long.`);
}

export function drawAlgebra(s, scene) {
  put(s.find(".side"), "data-off", !scene.valid);
  if (!scene.valid) return;
  each(s.find(".algebra"), algebraOf(scene, s.state.x), makeStep, (item, step) => {
    const [title, rule, lines] = item.children;
    write(title, step.title);
    write(rule, step.rule);
    each(lines, step.lines, () => make("li"), fillLine);
  });
}

function makeStep() {
  const item = make("li");
  item.append(make("b"), make("span", "rule"), make("ul"));
  return item;
}

function fillLine(node, line) {
  const parts = typeof line === "string" ? ["", line, ""] : [line.name, line.text, line.mark];
  put(node, "data-named", parts[0] !== "");
  each(node, parts, (i) => make(i ? "span" : "bdi"), write);
}

/** A track with its blocks and its pin. */
export function makeLine(track, name) {
  const pin = make("div", "pin");
  dress(pin, { role: "slider", tabindex: 0, "aria-label": name, "aria-valuemin": 0, "aria-valuemax": 1 });
  track.append(make("div", "row"), pin);
}

export function drawDrop(s, scene) {
  const { x, u, w } = s.state, { names, facts, N } = scene, [one, two] = ["u", "w"].map((name) => s.find(`[data-line=${name}]`));
  put(s.find(".drop"), "data-off", !facts);
  write(s.find(".x"), names[x]);
  if (!facts) return;
  const drop = dropOf(scene, x, u, w), limit = N.value(facts.accept[x]);
  const kept = drop.drafted ? `✓ accepted: u < ${textOf(facts.accept[x])}` : "";
  fillRow(one.firstChild, [
    { kind: drop.drafted ? "kept" : "none", share: limit, text: limit > 0.2 ? kept : "" },
    { kind: drop.drafted ? "over" : "none", share: 1 - limit, text: 1 - limit > 0.15 ? "✗ rejected" : "" },
  ]);
  fillRow(two.firstChild, blocks(scene, "gap", facts.residual, "↻"));
  put(two.parentElement, "data-idle", drop.accepted || !drop.drafted);
  put(one.parentElement, "data-idle", !drop.drafted);
  pinAt(one.lastChild, u / 1000, `u = ${u / 1000}: ${drop.accepted ? "accepted" : "rejected"}`);
  pinAt(two.lastChild, w / 1000, `w = ${w / 1000}: draws ${quoted(names[drop.replacement])}`);
  const text = fateOf(scene, drop, x, u, w), token = s.find(".result output");
  write(s.find(".fate"), text);
  write(token, drop.drafted ? `${drop.accepted ? "✓" : "↻"} ${names[drop.out]}` : "");
  put(token, "data-kind", drop.drafted ? (drop.accepted ? "kept" : "gap") : "none");
}

const STEPS = 80, HEAT = Array.from({ length: STEPS }, (_, i) => (2 * (i + 1)) / STEPS);

export function drawHeat(s, scene) {
  const section = s.find(".heat"), { T, p, q } = s.state, { facts, N, valid } = scene;
  section.hidden = !s.exact;
  if (!s.exact) return;
  put(section, "data-off", !valid);
  const input = section.querySelector("input");
  input.disabled = !valid;
  input.value = T;
  put(input, "aria-valuetext", `T = ${T}${facts ? `, α = ${digitsOf(N.value(facts.alpha))}` : ""}`);
  write(section.querySelector("output"), facts ? `= ${digitsOf(T)}   α ${N.exact ? `= ${textOf(facts.alpha)}` : `≈ ${digitsOf(facts.alpha)}`}` : "");
  put(section.querySelector("[data-cool]"), "data-gone", T === 1);
  write(section.querySelector(".heated"), heatOf(scene));
  if (valid) curve(section.querySelector("svg"), alphasAt(p, q, HEAT), T, N.value(facts.alpha));
}

/** α over T, in percent of the figure. */
function curve(svg, alphas, T, alpha) {
  const { width, height } = svg.dataset, x = (t) => 6 + (t / 2) * (width - 12), y = (a) => height - 6 - a * (height - 12);
  const [grid, line] = svg.querySelectorAll("path"), dot = svg.querySelector("circle");
  grid.setAttribute("d", `M6 ${y(0)}H${width - 6}M6 ${y(1)}H${width - 6}M${x(1)} ${y(0)}V${y(1)}`);
  line.setAttribute("d", alphas.map((a, i) => `${i ? "L" : "M"}${x(HEAT[i]).toFixed(1)} ${y(a).toFixed(1)}`).join(""));
  dot.setAttribute("cx", x(T));
  dot.setAttribute("cy", y(alpha));
  svg.setAttribute("aria-label", `α against T from 0 to 2: ${digitsOf(alphas[0])} near 0, ${digitsOf(alphas[STEPS / 2 - 1])} at 1, ${digitsOf(alphas.at(-1))} at 2.`);
}
