// The two figures: speed-up against k, with pins, simulated rounds and measured runs, and against α.

import { LETTERS, WORDS, describe, short, speedOf, times } from "./live_curve_words.js";
import { LEFT, RIGHT, frame, pen } from "./live_curve_pen.js";

export function againstK(figure, now) {
  const { kEnd, at, k, best, peak, finite } = now, of = (i) => speedup(now.alpha, i, now.c, now.v);
  const runs = now.measured.filter((run) => run.k <= kEnd), played = simulatedCurve(now);
  const fine = Array.from({ length: 4 * kEnd + 1 }, (_, i) => i / 4);
  const beside = now.pins.map((pin) => (i) => speedup(pin.alpha, i, pin.c, pin.v));
  const pinned = beside.map((curve) => fine.map((i) => [i, curve(i)]));
  const highs = [...runs.map((run) => run.speedup), ...[...played.high, ...pinned.flat()].map(([, y]) => y)];
  const p = pen(figure, kEnd, Math.max(of(Math.min(best, kEnd)), ...highs), [of, ...beside]);
  frame(p, 4, "k, tokens drafted a round", true);
  p.area("band", played.high, played.low);
  p.line("free", fine.map((i) => [i, tokensPerPass(now.alpha, i)]).filter(([, value]) => value <= p.yEnd));
  pinned.forEach((points, i) => p.line(`pin dash${i}`, points));
  p.line("curve", fine.map((i) => [i, of(i)]));
  p.line("mean", played.mean);
  for (let i = 0; i <= kEnd; i++) p.put("circle", { class: "dot", cx: p.x(i), cy: p.y(of(i)), r: 2.6 });
  p.line("drop", [[k, 0], [k, at]]);
  const seen = finite && best <= kEnd, atBest = finite && k === best;
  for (const run of runs) p.avoid(run.k, run.speedup, 14);  // with its number
  if (seen) diamond(p, best, peak);
  pins(p, now.pins, (pin) => pin.k);
  ends(p, pinned);
  you(p, k, at);
  p.label("you", k, at, `${WORDS.you}: k = ${k} · ${times(at)}${atBest ? `, ${WORDS.best}` : ""}`);
  if (seen && !atBest) p.label("best", best, peak, `${WORDS.best} k = ${best} · ${times(peak)}`);
  if (!seen) p.text("best", p.width - RIGHT, 14, `${finite ? `${WORDS.best} k = ${best}` : WORDS.beyond} →`, "end");
  now.measured.forEach((run, i) => {
    if (run.k > kEnd) return;
    p.put("rect", { class: "run", x: p.x(run.k) - 9, y: p.y(run.speedup) - 9, width: 18, height: 18 });
    p.text("run", p.x(run.k) + 12, p.y(run.speedup) - 8, String(i + 1), "start");
  });
  p.done();
  figure.svg.setAttribute("aria-label", describe(now));
}

export function againstAlpha(figure, now) {
  const of = (alpha) => speedup(alpha, now.k, now.c, now.v), { even } = now;
  const beside = now.pins.map((pin) => (alpha) => speedup(alpha, pin.k, pin.c, pin.v));
  const p = pen(figure, 1, Math.max(of(1), 1, ...beside.map((curve) => curve(1))), [of, ...beside]), crosses = even !== null && now.k > 0;
  frame(p, 0.2, "α, chance of being accepted");
  const hundredths = Array.from({ length: 101 }, (_, i) => i / 100);
  beside.forEach((curve, i) => p.line(`pin dash${i}`, hundredths.map((a) => [a, curve(a)])));
  p.line("curve", hundredths.map((a) => [a, of(a)]));
  p.line("drop", [[now.alpha, 0], [now.alpha, now.at]]);
  if (crosses) diamond(p, even, 1);
  pins(p, now.pins, (pin) => pin.alpha);
  you(p, now.alpha, now.at);
  p.label("you", now.alpha, now.at, `α = ${short(now.alpha)} · ${times(now.at)}`);
  if (crosses) p.label("best", even, 1, `even at ${even.toFixed(2)}`);
  if (even === null) p.text("best", p.width - RIGHT, 14, WORDS.never, "end");
  p.done();
  const pays = even === null ? WORDS.never : `it pays from α = ${even.toFixed(2)} on`;
  figure.svg.setAttribute("aria-label", `Speed-up against α at k = ${now.k}: from ${times(of(0))} at α = 0 to ${times(of(1))} at α = 1; ${pays}.`);
}

function diamond(p, a, b) {
  const x = p.x(a), y = p.y(b);
  p.put("path", { class: "diamond", d: `M${x} ${y - 8}L${x + 8} ${y}L${x} ${y + 8}L${x - 8} ${y}Z` });
  p.avoid(a, b);
}

function you(p, a, b) {
  p.put("circle", { class: "you", cx: p.x(a), cy: p.y(b), r: 7 });
  p.avoid(a, b);
}


/** The simulated means at every k and the edges of their band, as speed-ups; empty at another α. */
function simulatedCurve({ cloud, alpha, c, v }) {
  if (!cloud || cloud.alpha !== alpha) return { mean: [], low: [], high: [] };
  const curve = (sign) => cloud.mean.map((tokens, k) => [k, (tokens + sign * cloud.half[k]) / (1 + k * (c + v))]);
  return { mean: curve(0), low: curve(-1), high: curve(1) };
}

/** A ring with its letter where each pin stands. */
function pins(p, all, xOf) {
  all.forEach((pin, i) => {
    const x = p.x(xOf(pin)), y = p.y(speedOf(pin));
    p.avoid(xOf(pin), speedOf(pin));
    p.put("circle", { class: "pin", cx: x, cy: y, r: 8.5 });
    p.put("text", { class: "pin ring", x, y: y + 4, "text-anchor": "middle" }, LETTERS[i]);
  });
}

/** The letter of each pinned curve at its right end, moved apart where two would touch. */
function ends(p, curves) {
  let above = Infinity;
  const tips = curves.map((points, i) => [p.y(points.at(-1)[1]), LETTERS[i]]).sort((a, b) => b[0] - a[0]);
  for (const [y, letter] of tips) {
    above = Math.min(y + 4, above - 15);
    p.text("pin", p.width - RIGHT + 4, above, letter, "start");
  }
}
