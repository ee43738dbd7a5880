// What one token's panel says: rows of facts, and its laws. Pure.
import { kindAt } from "./stage_plan.js";
import { num, tailOf } from "./stage_words.js";
import { LATER } from "./stage_rules.js";
import { lawsThere, sayThere } from "./stage_tail.js";

const without = (tops) => Object.fromEntries(Object.entries(tops).filter(([, top]) => top));

/** A drafted token, as far as it is known when `shown`. */
export function factsOfDrafted(round, i, shown, rule) {
  const token = round.drafted[i], known = shown.verified, kind = kindAt(round, i, shown);
  const over = kind !== "drafted" || shown.judged > i, cut = kind === "discarded";
  const untested = token.verdict === "discarded" && token.passed === null;
  return {
    token,
    kind,
    verdict: !over ? "not judged yet" : untested ? tailOf(round) : rule.tells(round, i, shown),
    rows: [
      ["q, the drafter's", num(token.q)],
      ["p, the target's", known ? num(token.p) : LATER],
      ...rule.rows(round, i, known, over),
    ],
    note: rule.note(round, i, known),
    there: cut ? sayThere(round, i, rule) : "",
    laws: cut ? lawsThere(round, i) : null,
    residual: rule.residual,
    tops: without({
      p: known ? token.p_top : null,
      q: token.q_top,
      residual: known && !rule.nothingLeft(round, i) ? token.residual_top : null,
    }),
  };
}

/** A written token; an accepted one is shown with the test that it passed. */
export function factsOfWritten(round, i, rule) {
  const token = round.written[i], all = { verified: true, judged: Infinity, discarded: true };
  if (token.kind === "accepted" && round.drafted[i]) return factsOfDrafted(round, i, all, rule);
  const failed = token.kind === "corrected" ? round.drafted[i] : null;
  return {
    token,
    kind: token.kind,
    verdict: failed ? rule.replaced : round.drafted.length ? "the target's own, after all drafts were accepted" : "plain decoding: the target's own",
    rows: [
      ["p, the target's", num(token.p)],
      ["u of its draw", num(token.u)],
    ],
    note: rule.noteOwn(round, i),
    residual: rule.residual,
    tops: without({ p: token.p_top ?? failed?.p_top, residual: failed?.residual_top }),
  };
}

export const factsOfPrompt = (token) => ({ token, kind: "prompt", verdict: "given, not generated", rows: [], note: "", tops: {} });
