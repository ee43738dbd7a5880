// The columns on the screen: made once for two runs.
import { GLYPH } from "./stage_words.js";
import { fillToken, make, put } from "./stage_dom.js";
import { markSays, rowOf, saysOf } from "./beside_plan.js";

function boxOf(token, blank) {
  const node = make("span", token ? (blank ? "tok blank" : "tok") : "ended", token ? "" : "ended");
  if (!token) return node;
  node.append(make("span", "glyph", GLYPH[token.kind]), make("bdi", "text"));
  node.firstChild.setAttribute("aria-hidden", "true");
  node.lastChild.dir = "auto";
  if (!blank) fillToken(node, token.text);
  put(node, "data-kind", token.kind);
  put(node, "role", "img");
  put(node, "aria-label", saysOf(token, blank));
  return node;
}

function cellOf(token, blank, row, column, ends) {
  const node = make("span", "cell");
  node.style.gridArea = `${row} / ${column}`;
  if (token || ends) node.append(boxOf(token, blank));
  put(node, "data-seam", token?.seam ?? null);
  return node;
}

/** The sign over a column: every fifth number, or the mark of the first difference. */
function signOf(column, at) {
  const far = (column.at + 1) % 5 === 0 || column.at === 0;
  const node = make("span", column.first ? "sign mark-word" : "sign", column.first ? "▼ first difference" : far ? String(column.at + 1) : "");
  node.style.gridArea = `1 / ${at}`;
  return node;
}

function frameOf(column, strips, at) {
  const node = make("span", "frame");
  node.style.gridArea = `2 / ${at} / 4`;
  node.tabIndex = -1;
  put(node, "role", "img");
  put(node, "aria-label", markSays(column, strips));
  return node;
}

/** Labels and all columns but the folded ones; the fold is a button in their place. */
export function fillGrid(grid, columns, strips, folded) {
  const labels = strips.map((s, i) => {
    const node = make("span", "label", s.label);
    node.style.gridArea = `${i + 2} / 1`;
    return node;
  });
  const corner = make("span", "corner"); // what scrolls by goes under it
  const fold = make("button", "fold", `… ${folded} equal tokens`);
  Object.assign(fold, { type: "button", hidden: !folded, title: "Show them" });
  fold.dataset.do = "unfold";
  fold.style.gridArea = "2 / 2 / 4";
  const cells = columns.slice(folded).flatMap((column, i) => {
    const at = i + 3;
    const pair = column.tokens.map((token, row) => cellOf(token, strips[row].blank, row + 2, at, column.first));
    for (const cell of pair) put(cell, "data-equal", column.equal);
    return [...(column.first ? [frameOf(column, strips, at)] : []), signOf(column, at), ...pair];
  });
  grid.replaceChildren(corner, ...labels, fold, ...cells);
}

export function fillRows(body, columns, { strips, first, compared }) {
  body.replaceChildren(...columns.map((column) => {
    const row = make("tr", "");
    row.append(...rowOf(column, strips, first, compared).map((text, i) => make(i ? "td" : "th", "", text)));
    put(row.firstChild, "scope", "row");
    put(row, "data-first", column.first);
    return row;
  }));
}
