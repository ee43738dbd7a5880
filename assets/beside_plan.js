// Two strips as columns of pairs: what is equal, where they part, what can be folded. Pure.
import { GLYPH, nameOf, visible } from "./stage_words.js";

const KEPT = 8, FEWEST = 8; // equal tokens that stay in sight before the difference; a fold hides at least so many

/** A column for every place: [{at, tokens: [a, b] (undefined beyond an end), equal, first}]. */
export function columnsOf(strips, first) {
  const n = Math.max(...strips.map((s) => s.tokens.length));
  const columnOf = (_, at) => ({
    at, tokens: strips.map((s) => s.tokens[at]), equal: first !== null && at < first, first: at === first,
  });
  return Array.from({ length: n }, columnOf);
}

/** How many equal tokens at the start are folded away: none where nothing differs after them. */
export function foldedOf(first) {
  const many = first === null ? 0 : first - KEPT;
  return many >= FEWEST ? many : 0;
}

/** A token in words, or that there is none. */
export const saysOf = (token, blank) => (!token ? "ended" : blank ? token.kind : nameOf(token, token.kind));

/** What the mark says to those who do not see it. */
export function markSays(column, strips) {
  const each = strips.map((s, i) => `${s.label}: ${saysOf(column.tokens[i], s.blank)}`);
  return `First difference, token ${column.at + 1}. ${each.join("; ")}`;
}

/** A row of the table: place, both tokens, whether they are equal. */
export function rowOf(column, strips, first, compared) {
  const cell = (token, i) => (token ? `${GLYPH[token.kind]} ${strips[i].blank ? token.kind : visible(token.text)}` : "ended");
  const same = !compared ? "–" : column.first ? "first difference" : column.equal || first === null ? "equal" : "after it";
  return [String(column.at + 1), ...column.tokens.map(cell), same];
}
