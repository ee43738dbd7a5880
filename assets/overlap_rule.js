// The rule at one position, the twin of specdec/rule.py; temperature, the twin of specdec/law.py. Pure.
import { EXACT, FLOAT, isOne, same, sum } from "./overlap_ratio.js";

const GREEDY_BELOW = 1e-5;

/** All that follows from two laws. Lists are by token; N: the arithmetic, EXACT or FLOAT. */
export function factsOf(N, p, q) {
  const above = (a, b) => (N.less(b, a) ? N.sub(a, b) : N.zero);
  const kept = p.map((x, i) => (N.less(x, q[i]) ? x : q[i])); // min(p, q)
  const over = p.map((x, i) => above(q[i], x)); // rejected
  const gap = p.map((x, i) => above(x, q[i])); // missing
  const alpha = sum(N, kept), missing = sum(N, gap), rejected = N.sub(N.one, alpha);
  const residual = N.less(N.zero, missing) ? gap.map((x) => N.div(x, missing)) : p;
  const written = kept.map((x, i) => N.add(x, N.mul(rejected, residual[i])));
  const accept = p.map((x, i) => acceptance(N, x, q[i]));
  return { kept, over, gap, alpha, missing, rejected, residual, accept, written };
}

/** min(1, p/q); 0 where p = 0, 1 where only q = 0. */
function acceptance(N, p, q) {
  if (!N.less(N.zero, p)) return N.zero;
  return N.less(p, q) ? N.div(p, q) : N.one;
}

/** The index that w in [0, 1) draws from a law: inverse CDF in order. */
export function drawOf(N, law, w) {
  let cdf = N.zero, last = 0;
  for (const [i, mass] of law.entries()) {
    if (!N.less(N.zero, mass)) continue;
    cdf = N.add(cdf, mass);
    last = i;
    if (N.less(w, cdf)) return i;
  }
  return last; // rounding may leave the last sum under 1
}

/** A law [fractions] at temperature T: itself at 1, one-hot (lowest of the likeliest) at 0, else floats. */
export function temper(law, T) {
  if (T === 1) return law;
  if (T >= GREEDY_BELOW) return cooled(law.map(EXACT.value), T);
  const top = law.reduce((t, x, i) => (EXACT.less(law[t], x) ? i : t), 0);
  return law.map((_, i) => (i === top ? EXACT.one : EXACT.zero));
}

function cooled(law, T) {
  const most = Math.log(Math.max(...law)), weights = law.map((x) => Math.exp((Math.log(x) - most) / T)); // ln 0 = -∞ stays 0
  const total = sum(FLOAT, weights);
  return weights.map((x) => x / total);
}

/** α as a number, for each of these temperatures > 0. */
export function alphasAt(p, q, temperatures) {
  const [a, b] = [p, q].map((law) => law.map(EXACT.value));
  return temperatures.map((T) => {
    const other = cooled(b, T);
    return sum(FLOAT, cooled(a, T).map((x, i) => Math.min(x, other[i])));
  });
}

/** What there is to see: laws after temperature, their sums, and the facts if both sums are 1. */
export function sceneOf({ names, p, q, T, exact }) {
  const base = exact ? EXACT : FLOAT, sums = { p: sum(base, p), q: sum(base, q) };
  const valid = isOne(base, sums.p) && isOne(base, sums.q), tempered = exact && valid && T !== 1;
  const N = tempered && T >= GREEDY_BELOW ? FLOAT : base;
  const [P, Q] = tempered ? [temper(p, T), temper(q, T)] : [p, q];
  if (tempered) Object.assign(sums, { p: sum(N, P), q: sum(N, Q) });
  return { N, names, p: P, q: Q, sums, valid, tempered, facts: valid ? factsOf(N, P, Q) : null };
}

/** What becomes of a drafted token x under u, and of w if it is rejected. Thousandths in, indices out. */
export function dropOf({ N, p, q, facts }, x, u, w) {
  const drafted = N.less(N.zero, q[x]), possible = drafted && !same(N, facts.accept[x], N.one);
  const accepted = N.less(N.of(u, 1000), facts.accept[x]);
  const replacement = drawOf(N, facts.residual, N.of(w, 1000));
  return { drafted, possible, accepted, replacement, out: accepted ? x : replacement };
}
