// The words of the race that the clock changes. Pure.
import { count } from "./stage_words.js";
import { rateAt, standAt } from "./race_plan.js";

/** Seconds in ms; short ones with a decimal. */
export const ms = (x) => (x === 0 ? "0 ms" : x < 0.01 ? `${(x * 1000).toFixed(1)} ms` : `${(x * 1000).toFixed(0)} ms`);

/** Where a lane stands: [tokens, passes, speed, end]. */
export function laneSays(lane, time) {
  const { passes, tokens, over } = standAt(lane, time), rate = rateAt(lane, time);
  return [
    `${tokens} of ${count(lane.tokens, "token")}`,
    `${passes} of ${count(lane.ends.length, "pass")}`,
    rate === null ? "– tokens/s" : `${rate.toFixed(1)} tokens/s`,
    over ? `done at ${ms(lane.end)}` : "",
  ];
}

/** The whole stand in a sentence, for those who do not see the lanes. */
export function standSays(names, lanes, time) {
  const each = lanes.map((lane, i) => `${names[i]}: ${count(standAt(lane, time).tokens, "token")}`);
  return `${ms(time)}, ${each.join(", ")}`;
}

/** What bursts do to the waits, in a sentence. */
export function gapsSay(gaps) {
  const bursts = gaps.at(-1);
  if (!bursts || !bursts.none) return "No two tokens came together.";
  return `Speculation writes in bursts: ${bursts.none} of its ${count(bursts.count, "gap")} are 0, then comes a wait of up to ${ms(bursts.max)}.`;
}
