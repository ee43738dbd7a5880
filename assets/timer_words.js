// What a timer shows. Pure.

/** Seconds as minutes and seconds: 75.9 → "1:15". */
export function clockOf(seconds) {
  const whole = Math.floor(Math.max(0, seconds) + 1e-6);
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, "0")}`;
}

/** A timer after `elapsed` seconds: digits, a word beside them, the share that is gone, is it over. */
export function faceOf({ limit, words }, elapsed) {
  if (!limit) return { digits: clockOf(elapsed), side: "", share: 0, over: false };
  const over = elapsed >= limit;
  const digits = over ? `+${clockOf(elapsed - limit)}` : clockOf(Math.ceil(limit - elapsed - 1e-6));
  return { digits, side: over ? words.over : words.left, share: Math.min(1, elapsed / limit), over };
}
