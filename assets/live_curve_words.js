// What the live curve says, and how it writes numbers; theory.js stands before all of its modules.

export const WORDS = {
  faster: "▲ faster than plain", slower: "▼ slower than plain", same: "= as fast as plain",
  slow: "slower than plain decoding", plain: "1× plain decoding",
  never: "even α = 1 is too slow", none: "none", beyond: "no k is best", you: "you", best: "best",
  pinned: "this setting is pinned", full: "four pins are the most",
};
export const LETTERS = "ABCD";  // of the pins, in their order
export const times = (x) => `${x.toFixed(2)}×`;
export const short = (x) => String(Number(x.toFixed(4)));
export const setting = ({ k, alpha, c, v }) => `k = ${k} · α = ${short(alpha)} · c = ${short(c)} · v = ${short(v)}`;

/** The speed-up of a setting {k, alpha, c, v}. */
export const speedOf = ({ k, alpha, c, v }) => speedup(alpha, k, c, v);

/** What the shades are, or "" if nothing is simulated at this α. */
export const simulated = (cloud, alpha) => cloud && cloud.alpha === alpha
  ? `▒ simulated: mean of ${cloud.n} rounds at each k, and its ${Math.round(100 * cloud.share)} % band` : "";

/** The whole figure against k in a sentence or two, for those who do not see it. */
export function describe({ alpha, k, c, v, at, best, peak, finite, kEnd, pins, cloud }) {
  const end = speedup(alpha, kEnd, c, v), top = finite ? `best at k = ${best} with ${times(peak)}` : "without a best k";
  const pinned = pins.map((pin, i) => ` Pinned ${LETTERS[i]}: ${setting(pin)}, ${times(speedOf(pin))}.`).join("");
  const played = cloud && cloud.alpha === alpha
    ? ` Simulated, ${cloud.n} rounds: ${times(cloud.mean[k] / (1 + k * (c + v)))} at your k.` : "";
  return `Speed-up against k at α = ${short(alpha)}, c = ${short(c)}, v = ${short(v)}: 1.00× at k = 0, ${top}, ${times(end)} at k = ${kEnd}. You are at k = ${k} with ${times(at)}.${pinned}${played}`;
}
