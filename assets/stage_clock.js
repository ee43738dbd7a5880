// Two lanes on one clock: plain decoding above, speculation below, and a line for now.
import { count, timeOf } from "./stage_words.js";
import { beginsOf, doneAt, timeAt } from "./stage_plan.js";
import { make, put, write } from "./stage_dom.js";

/** Times of a run: begins of its rounds, ends of the plain passes, and the end of the clock. */
export function timesOf(clock) {
  if (!clock) return null;
  const begins = beginsOf(clock.rounds), ends = beginsOf(clock.plain.map((d) => [0, d, 0])).slice(1);
  return { ...clock, begins, ends, total: Math.max(begins.at(-1), ends.at(-1) ?? 0) };
}

function block(kind, begin, length, total) {
  const node = make("i", `block ${kind}`);
  node.style.left = `${(100 * begin) / total}%`;
  node.style.width = `${(100 * length) / total}%`;
  return node;
}

/** Draw the passes of both lanes; they keep their place whatever the step. */
export function fillClock(root, times, plainRun) {
  put(root, "hidden", !times || !times.total);
  if (!times || !times.total) return;
  const { total, begins, ends, rounds, plain, simulated, note } = times;
  const [upper, lower] = root.querySelectorAll(".track");
  const now = () => make("i", "now");
  upper.replaceChildren(...plain.map((d, i) => block("verify", ends[i] - d, d, total)), now());
  lower.replaceChildren(
    ...rounds.flatMap(([draft, verify, accept], i) => [
      ...(draft ? [block("draft", begins[i], draft, total)] : []),
      block("verify", begins[i] + draft, verify, total),
      ...(accept ? [block("accept", begins[i] + draft + verify, accept, total)] : []),
    ]),
    now(),
  );
  put(root.querySelector(".plain"), "hidden", !plain.length);
  write(root.querySelector(".speculative .name"), plainRun ? "plain" : "speculative");
  write(root.querySelector(".which"), simulated ? "one simulated clock" : "one clock, measured");
  write(root.querySelector(".note"), note);
}

/** Move the line, and count what both have written by then. */
export function showClock(root, times, step, run, tokens) {
  if (!times || !times.total) return;
  const time = timeAt(step, run.rounds[step.round], times.rounds, times.begins);
  for (const now of root.querySelectorAll(".now")) now.style.transform = `translateX(${(100 * time) / times.total}%)`;
  const done = doneAt(time, times.ends);
  write(root.querySelector(".plain .sum"), count(done, "token"));
  write(root.querySelector(".speculative .sum"), count(tokens, "token"));
  write(root.querySelector(".time"), timeSays(times, time, run));
  put(root, "aria-label", `${times.simulated ? "Simulated" : "Measured"} clock, ${timeSays(times, Infinity, run)}`);
}

/** Where the clock stands; at the end of both, how many times faster the same text came. */
export function timeSays({ begins, ends, total, simulated }, time, run) {
  const end = begins.at(-1), plain = ends.at(-1), at = (x) => timeOf(x, simulated);
  if (time < end * (1 - 1e-9)) return `now ${at(time)} of ${at(total)}`;
  const tokens = run.rounds.reduce((sum, r) => sum + r.written.length, 0);
  if (!plain || ends.length !== tokens) return `${at(end)} in all`;
  return `${at(end)} against ${at(plain)}: ${(plain / end).toFixed(2)}×`;
}
