// One sentence a step, and the counts. Pure.
import { countsAt } from "./stage_plan.js";
import { ENDS, count, num, quoted, writtenOf } from "./stage_words.js";
import { ruleOf } from "./stage_rules.js";
import { sayFirstThere } from "./stage_tail.js";

const KINDS = ["accepted", "corrected", "bonus"];
const tally = (round) =>
  KINDS.map((kind) => [round.written.filter((t) => t.kind === kind).length, kind])
    .filter(([n]) => n)
    .map(([n, kind]) => `${n} ${kind}`)
    .join(", ");

const ownWords = (token, round, run) =>
  token.kind === "bonus" ? "is the target's own" : ruleOf(round, run).replaces;

const SAY = {
  empty: () => "No round yet.",
  before: (s, r, run) => {
    const { tokens } = countsAt(s, run.rounds);
    const after = run.prompt.some((t) => t.text) ? "the prompt" : "an empty text";
    return `before: ${tokens ? `${count(tokens, "token")} written so far` : `after ${after}`}.`;
  },
  draft: (s, r) => {
    const n = r.drafted.length, token = r.drafted[s.i];
    if (r.branches) return `draft: a tree of ${count(n + r.branches, "guess")} from ${count(r.draft_passes, "pass")}. Drawn is its main path; ${count(r.branches, "guess")} of its branches are hidden.`;
    if (r.draft_passes < n)
      return `draft: ${count(n, "token")} ${r.draft_passes ? `from ${count(r.draft_passes, "pass")}` : "copied, without a pass"}.`;
    return `draft ${s.i + 1} of ${n}: the drafter guesses ${quoted(token.text)} (q = ${num(token.q)}).`;
  },
  verify: (s, r) => {
    const n = r.drafted.length + (r.branches ?? 0);
    return `verify: one target pass scores ${count(n + 1, "position")}${n ? " at once" : ""}${r.branches ? `, ${r.branches} of them on hidden branches` : ""}.`;
  },
  accept: (s, r, run) => `test ${s.i + 1}: ${ruleOf(r, run).says(r, s.i)}`,
  discard: (s, r, run) => ruleOf(r, run).saysTail(r) + sayFirstThere(r),
  write: (s, r, run) => {
    const last = r.written.at(-1), own = last && last.kind !== "accepted";
    return (
      `write: ${writtenOf(r)} (${tally(r)})` +
      (own ? `; ${quoted(last.text)} ${ownWords(last, r, run)}.` : ".") +
      (r.stop_reason ? ` The run ends: ${ENDS[r.stop_reason]}.` : "")
    );
  },
};

/** The sentence of a step. */
export function sayOf(step, run) {
  const round = run.rounds[step.round], text = SAY[step.phase](step, round, run);
  return round ? `Round ${step.round + 1}, ${text}` : run.end === "cancelled" ? "Cancelled before the first round." : text;
}

/** "11 passes for 27 tokens · 2.45 a pass", over the rounds that are finished at a step. */
export function tallyOf(step, rounds) {
  const { finished, tokens } = countsAt(step, rounds);
  if (!finished) return step.round < 0 ? "" : "no pass finished yet";
  return `${count(finished, "pass")} for ${count(tokens, "token")} · ${(tokens / finished).toFixed(2)} a pass`;
}
