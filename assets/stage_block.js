// Block verification in words: every drafted token is tested, and the last pass decides. Pure.
import { accepted, judged, lastPass, tested } from "./stage_plan.js";
import { apart, count, quoted, tailOf } from "./stage_words.js";

/** w after the first n tokens: p ÷ q of them together, cut at 1 at each of them. */
export const ratioOf = (round, n) =>
  round.drafted.slice(0, n).reduce((w, { p, q }) => (w * p <= 0 ? 0 : q <= w * p ? 1 : (w * p) / q), 1);

/** A test in numbers. */
export function numbersOf({ u, threshold, passed }) {
  const [drawn, limit] = apart(u, threshold);
  return `${drawn} ${passed ? "<" : "≥"}\u00a0${limit}`;
}

const isLastPass = (round, i, shown) => shown.judged >= tested(round) && i === lastPass(round);
const isSaved = (round, i, shown) =>
  !round.drafted[i].passed && round.drafted[i].verdict === "accepted" && i < lastPass(round, shown.judged);

/** How a token's own test ended, in two words; "" before it. */
export function fateOf(round, i, shown) {
  if (shown.judged <= i) return "";
  if (round.drafted[i].passed) return isLastPass(round, i, shown) ? "last pass" : "passed";
  return isSaved(round, i, shown) ? "failed, kept" : "failed";
}

/** The same in full, as far as it is known. */
export function tellOf(round, i, shown) {
  const { passed, verdict } = round.drafted[i];
  const end = shown.discarded && verdict === "discarded" && accepted(round) === judged(round) ? `; ${tailOf(round)}` : "";
  if (passed) return `passed its own test${isLastPass(round, i, shown) ? ", the last pass" : ""}${end}`;
  if (isSaved(round, i, shown)) return "failed its own test, kept: a later one passed";
  if (i < lastPass(round, shown.judged)) return `failed its own test; a later one passed${end}`;
  return shown.judged < tested(round) ? "failed its own test; a later pass may keep it" : `failed its own test, and no later one passed${end}`;
}

/** The sentence of a test. */
export function sayTest(round, i) {
  const { text, passed } = round.drafted[i], numbers = `u = ${numbersOf(round.drafted[i])}`, last = i === round.drafted.length - 1;
  if (!passed) return `${quoted(text)} fails its own test, ${numbers}: ${last ? "and no test is left" : "only a later pass can keep it"}.`;
  const doubted = round.drafted.slice(lastPass(round, i) + 1, i); // failed, and no pass since
  const also = doubted.length === 1 ? `, also ${quoted(doubted[0].text)}, which failed its own test` : "";
  const some = doubted.length > 1 ? `, also ${doubted.length} that failed their own tests` : "";
  const all = `${i === 1 ? "both" : `all ${i + 1}`} tokens${last ? "" : " up to it"} are kept`;
  return `${quoted(text)} passes${last ? ", the last pass" : ""}, ${numbers}: ${i ? all : "it is kept"}${also}${some}.`;
}

/** The sentence of what no pass has kept, or the end of the text has cut away. */
export function sayTail(round) {
  const last = lastPass(round), n = accepted(round), tail = round.drafted.length - judged(round);
  const decided = last < 0 ? "no test passed" : `the last pass is test ${last + 1}`;
  const ends = last >= n ? ", but the text ends before it" : "";
  if (n === judged(round)) return `${decided}${ends}; ${tailOf(round)}: discarded.`;
  const result = n ? `${count(n, "token")} ${n === 1 ? "is" : "are"} kept` : "none is kept";
  const gone = tail ? `, ${count(tail, "token")} after it discarded` : "";
  return `${decided}, so ${result}; ${quoted(round.drafted[n].text)} is rejected${gone}.`;
}
