// The attention mask as a picture that is a table: squares and dots, so it reads without colour.
import { visible } from "./stage_words.js";
import { make, put, write } from "./stage_dom.js";
import { maskRow } from "./tree_plan.js";

/** Draw the mask of a round: a row for the text's last token and for every guess. */
export function fillMask(table, round) {
  const { nodes, start } = round, names = [`0–${start - 2}`, String(start - 1), ...nodes.map((_, i) => `${i + 1}`)];
  const titles = [`${start - 1} cached tokens of the text`, "the text's last token", ...nodes.map((n) => visible(n.text))];
  const head = make("tr", "");
  head.append(make("th", "", "fed · position"), ...names.map((name, i) => headOf(name, titles[i])));
  table.tHead.replaceChildren(head);
  table.tBodies[0].replaceChildren(...[-1, ...nodes.keys()].map((at) => rowOf(round, at)));
}

function headOf(name, title) {
  const cell = make("th", "", name);
  put(cell, "scope", "col");
  cell.title = title;
  return cell;
}

function rowOf({ nodes, start }, at) {
  const row = make("tr", ""), node = nodes[at];
  const head = make("th", "", node ? `${at + 1} ${visible(node.text)} · ${node.position}` : `last token · ${start - 1}`);
  put(head, "scope", "row");
  if (node) row.dataset.node = at;
  row.append(head, ...maskRow(nodes, at).map((sees) => {
    const cell = make("td", "", sees ? "■" : "·");
    put(cell, "data-sees", sees);
    put(cell, "aria-label", sees ? "sees" : "does not see");
    return cell;
  }));
  return row;
}

/** Mark the row of the chosen guess. */
export function markRow(table, at) {
  for (const row of table.tBodies[0].rows) put(row, "data-chosen", row.dataset.node === String(at));
}
