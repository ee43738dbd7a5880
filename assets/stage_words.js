// The words of the stage: tokens made visible, numbers, why something ended. Pure.
import { judged } from "./stage_plan.js";

export const GLYPH = { accepted: "✓", corrected: "↻", bonus: "+", rejected: "✗", discarded: "–" };

const SIGNS = { " ": "·", "\u00a0": "⍽", "\n": "⏎", "\r": "␍", "\t": "⇥" };
// Spaces at an end or in a row, and what has no shape: controls, zero widths, direction marks.
const UNSEEN =
  /^ +| +$| {2,}|[\p{Cc}\u00a0\u00ad\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff]+/gu;

/** A token's text in pieces [{text, mark}]; white space and invisible characters become marks. */
export function piecesOf(text) {
  if (text === "") return [{ text: "⋯", mark: true }];
  const pieces = [];
  let at = 0;
  for (const found of text.matchAll(UNSEEN)) {
    if (found.index > at) pieces.push({ text: text.slice(at, found.index), mark: false });
    pieces.push({ text: [...found[0]].map((c) => SIGNS[c] ?? codeOf(c)).join(""), mark: true });
    at = found.index + found[0].length;
  }
  if (at < text.length) pieces.push({ text: text.slice(at), mark: false });
  return pieces;
}

const codeOf = (c) => `U+${c.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}`;

/** The text with its marks. */
export const visible = (text) => piecesOf(text).map((p) => p.text).join("");

/** The text as it stands in a sentence: without the space before a word, and isolated, so that
 * no direction leaks out of it. */
export const quoted = (text) => `“\u2068${visible(text.replace(/^ (?=\S)/, ""))}\u2069”`;

/** A probability, short: never a false 0 or 1. */
export function num(x) {
  if (x === null || x === undefined) return "–";
  if (x === 0 || x === 1 || !Number.isFinite(x)) return String(x);
  if (x < 0.0001) return x.toExponential(0).replace("e-", "e−");
  if (x < 0.001) return x.toFixed(4);
  if (x < 0.9995) return x.toFixed(3);
  return x < 1 ? (x < 0.99995 ? x.toFixed(4) : "≈1") : x < 1000 ? x.toFixed(2) : x.toExponential(1);
}

/** Two numbers with as many digits as it takes to tell them apart. */
export function apart(a, b) {
  if (num(a) !== num(b) || a === b) return [num(a), num(b)];
  for (const digits of [4, 5, 6]) if (a.toFixed(digits) !== b.toFixed(digits)) return [a.toFixed(digits), b.toFixed(digits)];
  return [String(a), String(b)];
}

export const count = (n, word) => `${n} ${word}${n === 1 ? "" : word.endsWith("s") ? "es" : "s"}`;

/** Seconds, or units of a simulated clock. */
export function timeOf(x, simulated) {
  if (simulated) return `${+x.toFixed(2)}`;
  return x < 1 ? `${(x * 1000).toFixed(0)} ms` : `${x.toFixed(2)} s`;
}

/** Greedy and sampler-match: the target's own token at a drafted position; null where the trace does not hold it. */
export function ownToken(round, i) {
  const token = round.drafted[i], written = round.written[i];
  if (token.verdict !== "discarded") return written?.text ?? null;
  if (!token.p_top) return null;
  const [id, text] = token.p_top.entries[0];
  return id === token.id ? token.text : text;
}

/** Why the tail went. */
export function tailOf(round) {
  const n = round.drafted.length - judged(round);
  const rejected = round.drafted.some((t) => t.verdict === "rejected");
  return `${count(n, "token")} ${rejected ? "drafted after a wrong one" : "drafted after the end"}`;
}

export const ENDS = {
  eos: "end-of-text token",
  stop: "stop string",
  length: "length limit",
  context: "end of the model's context",
  cancelled: "cancelled",
};

/** Why the run is over, if it is. */
export const endOf = (reason) => (reason ? (reason === "cancelled" ? "cancelled" : `ended: ${ENDS[reason]}`) : "");

export const writtenOf = (round) => `${count(round.written.length, "token")} for one pass`;

/** Where the trace comes from. */
export function sourceOf({ kind, target, drafter, dtype, device, machine, when }, settings) {
  const first = { recorded: `recorded${when ? ` on ${when.slice(0, 10)}` : ""}`, toy: "toy: lookup tables, no model" };
  const models = kind === "toy" ? "" : [target, settings.k ? `drafter ${drafter}` : ""].filter(Boolean).join(" + ");
  const rule = { match: "rule: sampler-match", block: "rule: block verification" }[settings.rule];
  const where = [dtype, device, machine].filter(Boolean).join(" · ");
  return [first[kind] ?? kind, models, rule, where].filter(Boolean).join(" · ");
}

/** A token button's name for those who do not see it. */
export function nameOf(token, word) {
  return `${quoted(token.text)} ${word}${token.p === undefined ? "" : `, p ${num(token.p)}`}`;
}
