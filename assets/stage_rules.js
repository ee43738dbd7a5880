// How each lossless rule tests a drafted token, in short and in full. Pure.
import { looksAhead } from "./stage_plan.js";
import { GLYPH, apart, num, ownToken, quoted, tailOf, visible } from "./stage_words.js";
import { fateOf, numbersOf, ratioOf, sayTail, sayTest, tellOf } from "./stage_block.js";

export const LATER = "…"; // not known yet at this step: the panel gives nothing away

const same = ({ verdict }) => (verdict === "accepted" ? "yes" : "no");
const sameMark = (token) => `${GLYPH[token.verdict]} ${same(token)}`;
const ratioRow = ({ p, q }, known) => ["p / q", known ? (q > 0 ? num(p / q) : "–") : LATER];

function ratioTells({ u, threshold }, passed) {
  if (u === null) return `min(1, p/q) is ${num(threshold)}`;
  const [drawn, limit] = apart(u, threshold);
  return `u = ${drawn} ${passed ? "<" : "≥"} ${limit} = min(1, p/q)`;
}

/** One by one: u against min(1, p/q). */
const PQ = {
  asks: "u < min(1, p/q)?", // under the name of the accept lane
  line: true, // there: u pinned on a line that is filled up to the threshold
  draws: () => null, // there: the target's own token
  marks(round, i) { // there: the test
    const token = round.drafted[i];
    if (token.u === null) return sameMark(token);
    const [u, limit] = apart(token.u, token.threshold);
    return `${GLYPH[token.verdict]}\u00a0${u} ${token.verdict === "accepted" ? "<" : "≥"}\u00a0${limit}`;
  },
  fate: () => "", // there: what came of a test that does not decide alone
  scores: (round, i) => `p ${num(round.drafted[i].p)}`, // in the verify lane
  tells: (round, i) => ratioTells(round.drafted[i], round.drafted[i].verdict === "accepted"), // what came of the test, in full
  tellsThere: (mended) => ratioTells(mended, mended.kept), // the same of a discarded token after the right one
  says(round, i) { // the sentence of the test
    const { text, verdict } = round.drafted[i];
    return `${quoted(text)} is ${verdict}: ${this.tells(round, i)}.`;
  },
  saysTail: (round) => `${tailOf(round)}: discarded.`,
  rows(round, i, known, over) { // of the panel, after q and p
    const token = round.drafted[i], [u, limit] = token.u === null ? ["–", num(token.threshold)] : apart(token.u, token.threshold);
    return [ratioRow(token, known), ["min(1, p/q)", known ? limit : LATER], ["u", over ? u : LATER]];
  },
  note: () => "", // of a drafted token …
  noteOwn: () => "", // … and of what the target wrote itself
  nothingLeft: () => false, // whether there is no residual, as the round cannot end there
  residual: "residual", // the law of what replaces a rejected token, by name …
  replaces: "was drawn from the residual", // … in the sentence of the write step …
  replaced: "drawn from the residual of the rejected one", // … and in the panel
};

/** Nothing is drawn: every rule asks for the same token. */
const GREEDY = {
  ...PQ,
  asks: "same top token?",
  line: false,
  marks: (round, i) => sameMark(round.drafted[i]),
  scores(round, i) {
    const own = ownToken(round, i);
    return own === null ? "·" : visible(own);
  },
  tells(round, i) {
    if (round.drafted[i].verdict === "accepted") return "the target's own token too";
    const own = ownToken(round, i);
    return own === null ? "not the target's own token" : `the target's own token is ${quoted(own)}`;
  },
  tellsThere({ kept, p_top }) {
    if (kept) return "the target's own token there too";
    return p_top ? `the target's own token there is ${quoted(p_top.entries[0][1])}` : "not the target's own token there";
  },
  rows(round, i, known, over) {
    const token = round.drafted[i], cut = token.verdict === "discarded";
    return [ratioRow(token, known), ["min(1, p/q)", known ? num(token.threshold) : LATER], ["same token", over ? (cut ? "–" : same(token)) : LATER]];
  },
  note(round, i, known) {
    const own = ownToken(round, i);
    return `Greedy: same top token or not.${known && own !== null ? ` The target's: ${quoted(own)}` : ""}`;
  },
  noteOwn: () => "Greedy: the target's top token.",
  replaces: "replaces the rejected one",
  replaced: "the target's own token, in place of the rejected one",
};

/** Sampler-match: the target draws for itself, and keeps the drafted token if it is the same. */
const MATCH = {
  ...PQ,
  asks: "the target's own draw: same token?",
  line: false,
  draws: ownToken,
  marks: (round, i) => sameMark(round.drafted[i]),
  tells(round, i) {
    const { u, verdict } = round.drafted[i], draw = `the target's own draw, with u = ${num(u)}, is`;
    return verdict === "accepted" ? `${draw} the same token` : `${draw} ${quoted(ownToken(round, i))}`;
  },
  tellsThere: ({ u, kept }) => `the target's own draw there, with u = ${num(u)}, is ${kept ? "the same" : "another"} token`,
  rows(round, i, known, over) {
    const token = round.drafted[i], told = (text) => (!over ? LATER : token.verdict === "discarded" ? "–" : text());
    return [
      ["the target's own draw", told(() => quoted(ownToken(round, i)))],
      ["u of that draw", told(() => num(token.u))],
      ["same token", told(() => same(token))],
    ];
  },
  note: (round, i, known) =>
    `The target draws for itself; the chance that it draws this token is p. q is not looked at.${known ? " The residual is p without it." : ""}`,
  noteOwn: (round, i) => (round.written[i].kind === "corrected" ? "The target's own draw for this position. The residual is p without the rejected token." : ""),
  replaces: "is the target's own draw",
  replaced: "the target's own draw, in place of the rejected one",
};

const scaledBy = (round, n) => `${num(ratioOf(round, n))}, scales the residual: max(0, w·p − q).`;
const nothingLeft = (round, i) => i > 0 && round.drafted[i - 1].threshold === 0;

/** Block verification: u against a threshold of its own for every token, and the last pass wins. */
const BLOCK = {
  ...PQ,
  asks: "u < its threshold? The last pass wins",
  marks: (round, i) => numbersOf(round.drafted[i]),
  fate: fateOf,
  tells: (round, i, shown) => `u = ${numbersOf(round.drafted[i])}: ${tellOf(round, i, shown)}`,
  says: sayTest,
  saysTail: sayTail,
  rows(round, i, known, over) {
    const token = round.drafted[i], [u, limit] = apart(token.u, token.threshold);
    return [
      ratioRow(token, known),
      ["w, the block so far", known ? num(ratioOf(round, i + 1)) : LATER],
      ["threshold of its test", known ? limit : LATER],
      ["u", over ? u : LATER],
    ];
  },
  nothingLeft,
  note(round, i, known) {
    const before = `w: p/q of all tokens up to this one, cut at 1 at each. The w before it, `;
    if (known && nothingLeft(round, i)) return `${before}${num(ratioOf(round, i))}, leaves no residual: max(0, w·p − q) is 0 everywhere.`;
    return known ? before + scaledBy(round, i) : "";
  },
  noteOwn: (round, i) => (round.written[i].kind === "corrected" ? `w: p/q of all kept tokens, cut at 1 at each. Here it is ${scaledBy(round, i)}` : ""),
  residual: "scaled residual",
  replaces: "was drawn from the scaled residual",
  replaced: "drawn from the scaled residual after the last pass",
};

/** The rule that a round is told by. */
export const ruleOf = (round, run) => (run.greedy ? GREEDY : looksAhead(round) ? BLOCK : round.rule === "match" ? MATCH : PQ);
