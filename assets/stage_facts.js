// What one token's panel says: rows of facts, and bars of its laws. Pure.
import { apart, num, ownToken, quoted, tailOf, testOf } from "./stage_words.js";

const LATER = "…"; // not known yet at this step: the panel gives nothing away

/** Rows of the laws at a position, likeliest first: [{id, text, p, q, residual, mine}]. */
export function barsOf(tops, token) {
  const rows = new Map();
  const row = (id, text) => {
    if (!rows.has(id)) rows.set(id, { id, text, mine: id === token.id });
    return rows.get(id);
  };
  for (const [name, top] of Object.entries(tops))
    for (const [id, text, x] of top?.entries ?? []) row(id, text)[name] = x;
  if (!rows.has(token.id) && rows.size) Object.assign(row(token.id, token.text), tops.q ? { p: token.p, q: token.q } : { p: token.p });
  for (const bar of rows.values())
    for (const [name, top] of Object.entries(tops)) bar[name] ??= top && (top.rest < 1e-9 ? 0 : null); // null: below the head
  return [...rows.values()].sort((a, b) => (b.p ?? 0) - (a.p ?? 0) || (b.q ?? 0) - (a.q ?? 0));
}

/** The mass outside the heads: {p: 0.1, …}. */
export const restOf = (tops) =>
  Object.fromEntries(Object.entries(tops).filter(([, top]) => top).map(([name, top]) => [name, top.rest]));

const without = (tops) => Object.fromEntries(Object.entries(tops).filter(([, top]) => top));

/** A drafted token, as far as it is known when `shown`. */
export function factsOfDrafted(round, i, shown, greedy) {
  const token = round.drafted[i], known = shown.verified;
  const judged = token.verdict === "discarded" ? shown.discarded : shown.judged > i;
  const [u, limit] = token.u === null ? ["–", num(token.threshold)] : apart(token.u, token.threshold);
  const own = greedy ? ownToken(round, i) : null;
  return {
    token,
    kind: judged ? token.verdict : "drafted",
    verdict: !judged ? "not judged yet" : token.verdict === "discarded" ? tailOf(round) : testOf(round, i, greedy),
    rows: [
      ["q, the drafter's", num(token.q)],
      ["p, the target's", known ? num(token.p) : LATER],
      ["p / q", known ? (token.q > 0 ? num(token.p / token.q) : "–") : LATER],
      ["min(1, p/q)", known ? limit : LATER],
      greedy
        ? ["same token", !judged || token.verdict === "discarded" ? (judged ? "–" : LATER) : token.verdict === "accepted" ? "yes" : "no"]
        : ["u", judged ? u : LATER],
    ],
    note: greedy ? `Greedy: same top token or not.${known && own !== null ? ` The target's: ${quoted(own)}` : ""}` : "",
    tops: without({
      p: known ? token.p_top : null,
      q: token.q_top,
      residual: known ? token.residual_top : null,
    }),
  };
}

/** A written token; an accepted one is shown with the test that it passed. */
export function factsOfWritten(round, i, greedy) {
  const token = round.written[i], all = { verified: true, judged: Infinity, discarded: true };
  if (token.kind === "accepted" && round.drafted[i]) return factsOfDrafted(round, i, all, greedy);
  const failed = token.kind === "corrected" ? round.drafted[i] : null;
  return {
    token,
    kind: token.kind,
    verdict: failed
      ? greedy ? "the target's own token, in place of the rejected one" : "drawn from the residual of the rejected one"
      : round.drafted.length ? "the target's own, after all drafts were accepted" : "plain decoding: the target's own",
    rows: [
      ["p, the target's", num(token.p)],
      ["u of its draw", num(token.u)],
    ],
    note: greedy ? "Greedy: the target's top token." : "",
    tops: without({ p: token.p_top ?? failed?.p_top, residual: failed?.residual_top }),
  };
}

export const factsOfPrompt = (token) => ({ token, kind: "prompt", verdict: "given, not generated", rows: [], note: "", tops: {} });
