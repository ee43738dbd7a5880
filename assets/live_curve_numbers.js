// The numbers beside the figures: the read-out above, and the curve as a table.

import { LETTERS, WORDS, simulated, times } from "./live_curve_words.js";

export function readout(s, now) {
  const word = exceeds(now.at, 1) ? "faster" : exceeds(1, now.at) ? "slower" : "same";
  const shown = {
    speedup: times(now.at), word: WORDS[word], tokens: tokensPerPass(now.alpha, now.k).toFixed(2),
    cost: (1 + now.k * (now.c + now.v)).toFixed(2), best: now.finite ? String(now.best) : "∞",
    bestSpeedup: now.finite ? times(now.peak) : WORDS.beyond, even: now.even === null ? WORDS.none : now.even.toFixed(2),
  };
  for (const [name, text] of Object.entries(shown)) s.find(`[data-out=${name}]`).textContent = text;
  s.find(".first").dataset.word = word;
  const runs = now.measured.map((run, i) => `□ ${i + 1}: ${run.label}, k = ${run.k}, measured ${times(run.speedup)}`);
  s.find(".runs").textContent = runs.join("   ");
  s.find(".played").textContent = simulated(now.cloud, now.alpha);
}

/** A row for each k; a column for each pin, before the marks of you and best. */
export function table(whole, now) {
  const { alpha, k, c, v, best, finite, kEnd, pins } = now, [head] = whole.tHead.rows, [body] = whole.tBodies;
  const names = ["k", "tokens per pass", "cost of a round", "speed-up", ...pins.map((_, i) => `pin ${LETTERS[i]}`), ""];
  fill(head, names, () => Object.assign(document.createElement("th"), { scope: "col" }));
  while (body.rows.length <= kEnd) body.insertRow();
  for (let i = 0; i <= kEnd; i++) {
    const mark = [i === k && `● ${WORDS.you}`, finite && i === best && `◆ ${WORDS.best}`].filter(Boolean).join("  ");
    const numbers = [String(i), tokensPerPass(alpha, i).toFixed(2), (1 + i * (c + v)).toFixed(2), times(speedup(alpha, i, c, v))];
    const beside = pins.map((pin) => times(speedup(pin.alpha, i, pin.c, pin.v)));
    fill(body.rows[i], [...numbers, ...beside, mark], () => document.createElement("td"));
  }
}

function fill(row, texts, make) {
  while (row.cells.length > texts.length) row.lastElementChild.remove();
  while (row.cells.length < texts.length) row.append(make());
  texts.forEach((words, i) => (row.cells[i].textContent = words));
}
