// Lanes on one clock: shapes of their blocks, and where each stands at a time. Pure.
import { doneAt } from "./stage_plan.js";

export const WIDE = 1000, HIGH = 100; // units of the drawing
const TALL = { draft: 42, verify: 92, accept: 18 };

/** A lane as it came (marks [begins, verifies, accepts, ends] a round), with what follows from it. */
export function laneOf(told) {
  const ends = told.marks.map((mark) => mark[3]);
  return { ...told, ends, end: ends.at(-1) ?? 0, tokens: told.written.at(-1) ?? 0 };
}

/** Rounds over and tokens there at a time; a round's tokens come together, at its end. */
export function standAt(lane, time) {
  const rounds = doneAt(time, lane.ends);
  return { rounds, tokens: rounds ? lane.written[rounds - 1] : 0, over: rounds === lane.ends.length };
}

/** One path a phase: a rectangle for every round in which the phase took time. */
export function shapesOf(lane, total) {
  const x = (time) => Math.round((1e4 * WIDE * time) / total) / 1e4;
  const shape = (from, to, tall) => (to > from ? `M${x(from)} ${HIGH}V${HIGH - tall}H${x(to)}V${HIGH}Z` : "");
  const all = (i, tall) => lane.marks.map((mark) => shape(mark[i], mark[i + 1], tall)).join("");
  return { draft: all(0, TALL.draft), verify: all(1, TALL.verify), accept: all(2, TALL.accept) };
}

/** The start, and every time at which a round of any lane ends, ascending, each once. */
export const eventsOf = (lanes) => [...new Set([0, ...lanes.flatMap((lane) => lane.ends)])].sort((a, b) => a - b);

/** The event after a time (way = 1) or before it (-1); the ends stay where they are. */
export function eventFrom(events, time, way) {
  const slack = 1e-9 * events.at(-1);
  return way > 0 ? events.find((t) => t > time + slack) ?? events.at(-1) : events.findLast((t) => t < time - slack) ?? 0;
}

/** Seconds of a lane by phase: [drafting, target passes, accepting, in all]. */
export function secondsOf(lane) {
  const sum = (i) => lane.marks.reduce((all, mark) => all + mark[i + 1] - mark[i], 0);
  return [sum(0), sum(1), sum(2), lane.end];
}
