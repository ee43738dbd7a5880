// The closed forms of specdec/theory.py, operation for operation, for curves that follow the hand.

export function tokensPerPass(alpha, k) {
  const missing = 1 - alpha;
  if (missing === 0) return k + 1;
  return k === 0 ? 1 : -Math.expm1((k + 1) * Math.log1p(-missing)) / missing;
}

export function speedup(alpha, k, c, v) {
  return tokensPerPass(alpha, k) / (1 + k * (c + v));
}

const exceeds = (a, b) => a > b * (1 + 16 * Number.EPSILON);

export function hasFiniteBestK(alpha, c, v) {
  return !((c + v === 0 && alpha > 0) || (alpha === 1 && exceeds(1, c + v)));
}

/** The last k whose token still gains: gains only fall, so halving finds it. */
export function bestK(alpha, c, v, kMax) {
  if (!hasFiniteBestK(alpha, c, v)) return kMax;
  let gains = 0, stops = kMax + 1;
  while (stops - gains > 1) {
    const k = Math.floor((gains + stops) / 2);
    const pays = exceeds(alpha ** k * (1 + (k - 1) * (c + v)), (c + v) * tokensPerPass(alpha, k - 1));
    if (pays) gains = k;
    else stops = k;
  }
  return gains;
}

export function breakEvenAlpha(k, c, v) {
  if (k > 0 && exceeds(c + v, 1)) return null;
  const extra = k * (c + v);
  let low = extra / Math.max(k, 1), high = Math.min(extra, 1);
  for (let i = 0; i < 80; i++) {
    const middle = (low + high) / 2;
    if (middle * tokensPerPass(middle, k - 1) >= extra) high = middle;
    else low = middle;
  }
  return high;
}
