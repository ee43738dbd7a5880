// The schedule of a race: seconds of passes → when which token is there. Pure.
import { doneAt } from "./stage_plan.js";

/** A lane: ends of its passes [s], tokens written by then, and when each token came. */
export function laneOf({ seconds, passes }) {
  let time = 0, tokens = 0;
  const ends = seconds.map((s) => (time += s));
  const sums = passes.map((written) => (tokens += written.length));
  const times = passes.flatMap((written, i) => written.map(() => ends[i]));
  return { ends, sums, times, end: time, tokens };
}

/** Passes over and tokens there at a time; a pass's tokens come together, at its end. */
export function standAt(lane, time) {
  const passes = doneAt(time, lane.ends);
  return { passes, tokens: passes ? lane.sums[passes - 1] : 0, over: passes === lane.ends.length };
}

/** Tokens a second so far; the clock of a lane stops with its last pass. Null before the first. */
export function rateAt(lane, time) {
  const { tokens } = standAt(lane, time);
  return tokens ? tokens / Math.min(time, lane.end) : null;
}

const near = (a, b, end) => Math.abs(a - b) <= 1e-9 * end;

/** The start, and every time at which a pass ends; two that rounding parts are one. */
export function eventsOf(lanes) {
  const times = lanes.flatMap((lane) => lane.ends).sort((a, b) => a - b), end = times.at(-1);
  return [0, ...times.filter((t, i) => i === times.length - 1 || !near(t, times[i + 1], end))];
}

/** The event after a time (way = 1) or before it (-1); the ends stay where they are. */
export function eventFrom(events, time, way) {
  const end = events.at(-1), others = events.filter((t) => !near(t, time, end));
  return way > 0 ? others.find((t) => t > time) ?? end : others.findLast((t) => t < time) ?? 0;
}

/** The value below which this share of them lies, by straight lines between neighbours. */
export function percentile(values, share) {
  const sorted = [...values].sort((a, b) => a - b), at = share * (sorted.length - 1), low = Math.floor(at);
  return sorted[low] + (at - low) * ((sorted[low + 1] ?? sorted[low]) - sorted[low]);
}

/** The waits between tokens of a lane; null for one with a single token. */
export function gapsOf({ times }) {
  const gaps = times.slice(1).map((t, i) => t - times[i]);
  if (!gaps.length) return null;
  const at = (share) => percentile(gaps, share);
  return { count: gaps.length, none: gaps.filter((g) => g === 0).length, p50: at(0.5), p90: at(0.9), max: at(1) };
}
