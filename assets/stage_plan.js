// The order of things: a trace → steps, places, times. Pure; nothing here knows the DOM.

export const judged = (round) => round.drafted.filter((token) => token.verdict !== "discarded").length;
export const accepted = (round) => round.drafted.filter((token) => token.verdict === "accepted").length;

/** Whether every drafted token is tested and the last pass decides; `passed` is null elsewhere. */
export const looksAhead = (round) => round.drafted.some((token) => token.passed !== null);

/** Tests of a round. */
export const tested = (round) => round.drafted.filter((t) => t.verdict !== "discarded" || t.passed !== null).length;

/** The last token of the first `tests` that passed its own test, where the last pass decides; else -1. */
export const lastPass = (round, tests = Infinity) => round.drafted.findLastIndex((t, i) => i < tests && t.passed);

/** Drafted tokens whose fate the tests tell one by one; the others go together, after them. */
const settled = (round) => (looksAhead(round) ? accepted(round) : tested(round));

/** The steps of one round. Drafting takes a step a pass, verifying one step for all positions. */
export function stepsOf(round) {
  const n = round.drafted.length, tests = tested(round), alone = settled(round);
  const steps = [{ phase: "before", i: 0 }];
  if (round.draft_passes >= n) for (let i = 0; i < n; i++) steps.push({ phase: "draft", i });
  else steps.push({ phase: "draft", i: n - 1 }); // copied, or from one pass: there at once
  steps.push({ phase: "verify", i: n });
  for (let i = 0; i < tests; i++) steps.push({ phase: "accept", i });
  if (alone < n) steps.push({ phase: "discard", i: alone });
  steps.push({ phase: "write", i: 0 });
  return steps;
}

/** All steps of a run: [{at, round, step, last, phase, i}]; one "empty" step where nothing ran. */
export function planOf(rounds) {
  const plan = [];
  rounds.forEach((r, round) => {
    const steps = stepsOf(r);
    steps.forEach((s, step) => plan.push({ at: plan.length, round, step, last: steps.length - 1, ...s }));
  });
  return plan.length ? plan : [{ at: 0, round: -1, step: 0, last: 0, phase: "empty", i: 0 }];
}

export const clamp = (x, low, high) => Math.min(Math.max(x, low), high);

/** A place as on the screen (round from 1, step from 0) → the index of its step; clamped. */
export function indexOf(plan, place) {
  const rounds = plan.at(-1).round + 1;
  if (!rounds || !place) return 0;
  if (place.round > rounds) return plan.length - 1;
  const round = clamp(Math.trunc(place.round) || 1, 1, rounds) - 1;
  const first = plan.findIndex((s) => s.round === round);
  return first + clamp(Math.trunc(place.step) || 0, 0, plan[first].last);
}

export const placeOf = (step) => ({ round: step.round + 1, step: step.step });

/** The first step of the round before (way = -1) or after (+1); the end beyond the last round. */
export function roundFrom(plan, at, way) {
  const { round, step } = plan[at];
  const goal = round + (way > 0 ? 1 : step > 0 ? 0 : -1);
  const found = plan.findIndex((s) => s.round === goal);
  return found >= 0 ? found : way > 0 ? plan.length - 1 : 0;
}

/** What a round shows at a step: tokens drafted and judged, laws known, tail gone, text written. */
export function shownAt(step, round) {
  const n = round ? round.drafted.length : 0, tests = round ? tested(round) : 0;
  const order = ["empty", "before", "draft", "verify", "accept", "discard", "write"].indexOf(step.phase);
  return {
    drafted: order < 2 ? 0 : order === 2 ? step.i + 1 : n,
    verified: order >= 3,
    judged: order < 4 ? 0 : order === 4 ? step.i + 1 : tests,
    discarded: order >= 5,
    written: order === 6,
  };
}

/** What a drafted token is known to be: "drafted" until its fate is settled. */
export function kindAt(round, i, shown) {
  const { verdict } = round.drafted[i];
  if (shown.discarded) return verdict;
  const ahead = looksAhead(round), known = ahead ? i <= lastPass(round, shown.judged) : i < shown.judged;
  return known && (!ahead || verdict === "accepted") ? verdict : "drafted";
}

/** Whether the walk has settled which positions of the verify pass were of use. */
export function isOver(round, shown) {
  const all = shown.judged > 0 && shown.judged === tested(round);
  return all && (!looksAhead(round) || shown.discarded || accepted(round) === round.drafted.length);
}

/** Rounds finished and tokens written when a step is over. */
export function countsAt(step, rounds) {
  let tokens = 0;
  for (let r = 0; r < step.round; r++) tokens += rounds[r].written.length;
  const shown = shownAt(step, rounds[step.round]);
  if (shown.written) tokens += rounds[step.round].written.length;
  return { finished: Math.max(step.round, 0) + (shown.written ? 1 : 0), tokens };
}

/** Whether a run is an older one gone on: the same prompt and the same tokens so far. */
export function extendsRun(old, run) {
  const ids = (tokens) => tokens.map((t) => t.id).join();
  const same = (a, b) => a.rule === b.rule && ids(a.drafted) === ids(b.drafted) && ids(a.written) === ids(b.written);
  return (
    old.rounds.length <= run.rounds.length &&
    old.hidden === run.hidden &&
    ids(old.prompt) === ids(run.prompt) &&
    old.rounds.every((round, i) => same(round, run.rounds[i]))
  );
}

/** Written tokens whose fate is known when a step is over. */
function known(step, round) {
  const shown = shownAt(step, round);
  return shown.written ? round.written.length : round.drafted.filter((_, i) => kindAt(round, i, shown) === "accepted").length;
}

/** The steps that settle a written token: it is accepted, or the target's own is written. */
export const settledOf = (plan, rounds) =>
  plan.filter((s) => s.step && known(s, rounds[s.round]) > known(plan[s.at - 1], rounds[s.round])).map((s) => s.at);

/** The settled token after (way = 1) or before (-1) a step; undefined where there is none. */
export const settledFrom = (settled, at, way) => (way > 0 ? settled.find((x) => x > at) : settled.findLast((x) => x < at));

/** Begin of every round on the clock, and the end. `parts`: [draft, verify, accept] a round. */
export function beginsOf(parts) {
  const begins = [0];
  for (const part of parts) begins.push(begins.at(-1) + part[0] + part[1] + part[2]);
  return begins;
}

/** The time at which a step is over. */
export function timeAt(step, round, parts, begins) {
  if (step.phase === "empty") return 0;
  const [draft, verify, accept] = parts[step.round], begin = begins[step.round];
  if (step.phase === "before") return begin;
  if (step.phase === "draft") return begin + (draft * (step.i + 1)) / round.drafted.length;
  if (step.phase === "verify") return begin + draft + verify;
  if (step.phase === "accept") return begin + draft + verify + (accept * (step.i + 1)) / tested(round);
  return begins[step.round + 1];
}

/** How many of these passes are over at a time; rounding may not lose the last one. */
export function doneAt(time, ends) {
  const slack = 1e-9 * (ends.at(-1) ?? 0);
  return ends.filter((end) => end <= time + slack).length;
}
