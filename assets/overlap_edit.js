// Changes of a law of fractions: old law → new law. Pure.
import { EXACT, isOne, ratio, same, sum } from "./overlap_ratio.js";

export const LEAST = 3, MOST = 8, LONGEST_NAME = 12;

/**
 * The law with token i at so many hundredths. The others share the rest in their proportions, to
 * whole hundredths (largest remainders first), so the sum stays 1 exactly. If it was not 1, token i
 * moves alone: a wrong sum is the reader's to mend. Back at its old value the old law is back.
 */
export function moved(law, i, hundredths) {
  const value = ratio(BigInt(hundredths), 100n);
  if (same(EXACT, value, law[i])) return law;
  if (!isOne(EXACT, sum(EXACT, law))) return law.map((x, j) => (j === i ? value : x));
  const others = law.map((x, j) => (j === i ? EXACT.zero : x)), left = EXACT.sub(EXACT.one, law[i]);
  const equal = ratio(BigInt(100 - hundredths), BigInt(law.length - 1)); // where all others are 0
  const share = (x) => EXACT.mul(ratio(BigInt(100 - hundredths)), EXACT.div(x, left));
  const wanted = others.map((x, j) => (j === i ? ratio(0n) : left.n ? share(x) : equal));
  const parts = wholes(wanted, 100 - hundredths);
  return law.map((_, j) => (j === i ? value : ratio(BigInt(parts[j]), 100n)));
}

/** Whole numbers near the fractions `wanted`, with this total: down, then up where most is lost. */
function wholes(wanted, total) {
  const parts = wanted.map(({ n, d }) => Number(n / d));
  const lost = wanted.map((x, j) => ({ j, x: EXACT.sub(x, ratio(BigInt(parts[j]))) }));
  lost.sort((a, b) => (EXACT.less(b.x, a.x) ? -1 : EXACT.less(a.x, b.x) ? 1 : a.j - b.j));
  const short = total - parts.reduce((a, b) => a + b, 0);
  for (const { j } of lost.slice(0, short)) parts[j] += 1;
  return parts;
}

/** Hundredths one key press away: on the grid, in [0, 100]. */
export function stepped(x, by) {
  const at = EXACT.value(x) * 100, whole = Math.round(at), on = Math.abs(at - whole) < 1e-9;
  const next = on ? whole + by : by > 0 ? Math.floor(at) + by : Math.ceil(at) + by;
  return Math.min(100, Math.max(0, next));
}

/** All divided by their sum; null where that is 0. */
export function normalised(law) {
  const total = sum(EXACT, law);
  return total.n ? law.map((x) => EXACT.div(x, total)) : null;
}

/** A new name for a token, or an Error in words. */
export function nameOf(text, names, i) {
  const name = text.trim();
  if (!name) throw new Error("A token needs a name.");
  if ([...name].length > LONGEST_NAME) throw new Error(`“${[...name].slice(0, LONGEST_NAME).join("")}…” is longer than ${LONGEST_NAME} letters.`);
  if (/[,|]/.test(name)) throw new Error("A name here has no “,” and no “|”: they part the names in a link.");
  if (names.some((other, j) => j !== i && other === name)) throw new Error(`There is a token “${name}” already.`);
  return name;
}

/** A name that is still free. */
export function freeName(names) {
  return [..."abcdefghi"].map((letter) => `token ${letter}`).find((name) => !names.includes(name));
}
