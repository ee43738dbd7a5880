// The table of every number; its first columns are fields to type in.
import { each, make, put, write } from "./overlap_dom.js";
import { digitsOf, sum, textOf } from "./overlap_ratio.js";
import { LEAST, MOST } from "./overlap_edit.js";
import { quoted } from "./overlap_words.js";

const FIELDS = ["name", "p", "q"], DERIVED = ["kept", "over", "gap", "residual", "accept", "written"];

function makeRow() {
  const row = make("tr"), head = make("th"), cut = make("td", "cut"), button = make("button", "", "×");
  head.scope = "row";
  button.type = "button";
  cut.append(button);
  const cells = [head, make("td"), make("td")];
  cells.forEach((cell, at) => cell.append(makeField(FIELDS[at]), make("small")));
  row.append(...cells, ...DERIVED.map(() => number(make("td"))), cut);
  return row;
}

function makeField(name) {
  const field = make("input");
  Object.assign(field, { type: "text", autocomplete: "off", spellcheck: false });
  field.dataset.field = name;
  return field;
}

function number(cell) {
  cell.append(make("span"), make("small"));
  return cell;
}

export function drawTable(s, scene) {
  const { names, facts, N } = scene, free = s.exact && !scene.tempered;
  each(s.find("tbody"), names, makeRow, (row, name, i) => {
    FIELDS.forEach((field, at) => drawField(s, row.cells[at].firstChild, field, i, at ? scene[field][i] : name, free, N));
    DERIVED.forEach((fact, at) => drawNumber(row.cells[at + 3], facts && facts[fact][i], N));
    const button = row.lastChild.firstChild;
    button.dataset.remove = i;
    button.hidden = !s.exact;
    button.disabled = names.length <= LEAST || scene.tempered;
    put(button, "aria-label", `Remove ${quoted(name)}`);
  });
  const foot = s.find("tfoot tr"), { sums } = scene;
  while (foot.cells.length < 10) foot.append(number(make("td")));
  const totals = [sums.p, sums.q, facts?.alpha, facts?.rejected, facts?.missing, facts && sum(N, facts.residual), null, facts && sum(N, facts.written)];
  totals.forEach((x, at) => drawNumber(foot.cells[at + 1], x, N, at === 6));
  write(s.find("#numbers"), s.exact ? "Every number, to type over" : "Every number");
  s.find(".tools").hidden = s.find(".how").hidden = !s.exact;
  s.find("[data-add]").disabled = names.length >= MOST || scene.tempered;
}

/** A field keeps what is being typed in it, and what was typed wrongly until it is mended. */
function drawField(s, field, what, i, x, free, N) {
  const text = what === "name" ? x : textOf(x);
  field.dataset.i = i;
  field.readOnly = !free;
  const fault = s.faults.get(`${what} ${i}`);
  if (fault === undefined && !field.matches(":focus") && field.value !== text) field.value = text;
  put(field, "aria-invalid", fault !== undefined && "true");
  put(field, "aria-label", what === "name" ? `name of token ${i + 1}` : `${what} of ${quoted(s.state.names[i])}`);
  field.title = text;
  if (what !== "name") write(field.nextSibling, text.includes("/") ? digitsOf(N.value(x)) : "");
}

function drawNumber(cell, x, N, empty = false) {
  const known = x !== null && x !== undefined && !empty, text = known ? textOf(x) : "–";
  write(cell.firstChild, text.length > 15 ? "" : text);
  write(cell.lastChild, known && N.exact && text.includes("/") ? digitsOf(N.value(x)) : "");
  cell.title = known ? text : "";
}
