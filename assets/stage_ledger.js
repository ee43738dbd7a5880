// The ledger of both caches: what every cell is at a step, and what was done. Pure.
import { count, quoted } from "./stage_words.js";

/** States of a cell: its glyph, for those to whom colours say nothing, and its word. */
export const CELL = {
  cached: ["■", "cached"],
  written: ["▼", "written"],
  kept: ["●", "kept"],
  rolled: ["↩", "rolled back"],
  owed: ["○", "owed"],
  empty: ["", ""],
};

export const LEAD = 2; // positions shown before the first drafted one: the owed token and the last one

/** Cached tokens of a model's cache when a step is over. */
export function lengthAt(cells, who, { phase, i }) {
  if (phase === "write") return cells.after;
  if (phase === "before" || (who === "target" && phase === "draft")) return cells.before;
  return phase === "draft" ? cells.reached[Math.min(i, cells.reached.length - 1)] ?? cells.before : cells.peak;
}

/** What the cell at position x (from 0) is when a step is over. */
export function cellAt(cells, who, step, x) {
  const now = lengthAt(cells, who, step), over = step.phase === "write";
  if (x < now) return x < cells.before ? "cached" : over ? "kept" : "written";
  if (over && x < cells.peak) return "rolled";
  const lacks = over ? cells.after + cells.owed : cells.before + cells.lacked;
  return x < lacks ? "owed" : "empty";
}

/** Cells of the folded prefix that are cached. */
export const foldedAt = (cells, who, step, first) => Math.min(lengthAt(cells, who, step), Math.max(first, 0));

/** Bytes, to three digits. */
export function bytesOf(x) {
  const [unit, name] = [[1e3, "kB"], [1e6, "MB"], [1e9, "GB"]].find(([size]) => x < 999.5 * size) ?? [1e9, "GB"];
  return `${x ? (x / unit).toPrecision(3) : 0} ${name}`;
}

/** "88 cells · 2.03 MB": what a cache holds. */
export const heldOf = (n, bytes) => count(n, "cell") + (bytes ? ` · ${bytesOf(n * bytes)}` : "");

/** What one cached token takes, if it is known. */
export function priceOf(bytes, both) {
  if (!bytes) return "";
  return `A cell takes ${bytesOf(bytes.target)} in the target${both && bytes.drafter ? ` and ${bytesOf(bytes.drafter)} in the drafter` : ""}.`;
}

const TELL = {
  before: ({ drafter }, round, { last, owed }) =>
    `The last token, ${last}, is in no cache yet: ${drafter ? "each model's next pass reads it" : "the next pass reads it"}.` +
    (drafter?.lacked === 1 ? ` The drafter is also owed ${owed}.` : drafter?.lacked ? ` The drafter lacks ${count(drafter.lacked, "cell")} more.` : ""),
  draft({ drafter }, round, { i }) {
    if (!drafter) return "The drafter keeps no cache: nothing is written.";
    if (drafter.reached.length < round.drafted.length) return `Drafting writes ${count(drafter.peak - drafter.before, "cell")}.`;
    const fed = drafter.reached[i] - (i ? drafter.reached[i - 1] : drafter.before);
    if (i) return `Pass ${i + 1} feeds the drafter its own guess ${quoted(round.drafted[i - 1].text)}: ${count(fed, "cell")} more.`;
    return fed === 2 ? "The first pass feeds the drafter two tokens: the one it is owed and the last one." : `The first pass feeds the drafter ${count(fed, "token")}, the last of the text.`;
  },
  verify({ target }, { drafted }) {
    const n = drafted.length, what = n ? ` and ${n === 1 ? "the draft" : `all ${n} drafts`}` : "";
    return `One pass feeds the target ${count(target.fed, "token")}${target.fed === n + 1 ? `: the last one${what}` : ""}.`;
  },
  accept: () => "No cell is written: the one pass has scored every position.",
  discard: () => "The cells of what the text does not keep are still there: the next step drops them.",
  write({ target, drafter }, round) {
    const [one, two] = [target.rolled_back, drafter?.rolled_back ?? 0];
    const back = one + two ? `Rolled back: ${count(one, "cell")} of the target${drafter ? `, ${two} of the drafter` : ""}.` : "Nothing is rolled back.";
    const last = ` ${quoted(round.written.at(-1).text)} is in no cache yet.`;
    if (!drafter?.owed) return back + last;
    return drafter.fed ? `${back} The drafter has not read its last guess: it is owed that cell.` : `${back} The drafter lacks ${count(drafter.owed, "cell")}.`;
  },
};

/** What a step does to the caches; `texts`: the sequence before the round. */
export function tellLedger(step, round, entry, texts) {
  if (!entry) return "No round yet.";
  const at = (back) => (texts[round.start - back] === undefined ? "" : quoted(texts[round.start - back]));
  return TELL[step.phase](entry, round, { i: step.i, last: at(1), owed: at(2) });
}

/** A row of numbers for the book: written, kept, rolled back, (owed,) cached. */
export function rowOf(cells, who) {
  if (!cells) return who === "target" ? ["", "", "", ""] : ["–", "–", "–", "–", "–"];
  const { fed, kept, rolled_back, owed, after } = cells;
  return who === "target" ? [fed, kept, rolled_back, after] : [fed, kept, rolled_back, owed, after];
}
