// The ledger on the screen: a row of cells for each cache, and the book of all rounds.
import { CELL, LEAD, bytesOf, cellAt, foldedAt, heldOf, lengthAt, priceOf, rowOf, tellLedger } from "./stage_ledger.js";
import { count, visible } from "./stage_words.js";
import { make, put, write } from "./stage_dom.js";

const OPEN = "specdec ledger"; // in the tab's own storage, which a browser may refuse
const BOTH = ["target", "drafter"];

/** Open it as it was left; `draw` is called when it opens, as it stands still while closed. */
export function unfoldLedger(root, draw) {
  try {
    root.open = sessionStorage.getItem(OPEN) === "yes";
  } catch {} // closed, then
  root.ontoggle = () => {
    try {
      sessionStorage.setItem(OPEN, root.open ? "yes" : "no");
    } catch {}
    if (root.open) draw();
  };
}

/** What a step does not change: the columns of cells, the book, the price of a cell. */
export function fillLedger(root, run) {
  put(root, "hidden", !run.ledger);
  if (!run.ledger) return;
  const { rounds, bytes } = run.ledger, both = rounds.some((entry) => entry.drafter);
  put(root, "data-alone", !both);
  write(root.querySelector(".price"), priceOf(bytes, both));
  fillRuler(root.querySelector(".ruler"), LEAD + Math.max(0, ...run.rounds.map((r) => r.drafted.length)));
  fillBook(root.querySelector("table"), run.ledger);
}

/** Header and two rows of cells: the name, the folded prefix, then a column a position. */
function fillRuler(ruler, positions) {
  if (ruler.dataset.positions === String(positions)) return;
  ruler.dataset.positions = positions;
  ruler.style.setProperty("--positions", positions);
  const cell = (column, className, ...inside) => {
    const node = make("span", className);
    node.style.setProperty("--column", column);
    node.append(...inside);
    return node;
  };
  const row = (who) => [
    cell(0, `who ${who}`, make("b", "", who), make("span", "held")),
    ...[...Array(positions + 1).keys()].map((i) => cell(i + 1, `kv ${who}`, make("span", "glyph"), make("span", "word"))),
  ];
  const heads = [...Array(positions).keys()].map((i) => cell(i + 2, "at", make("span", "nth"), make("bdi", "text")));
  ruler.replaceChildren(cell(0, "who head", make("span", "", "token")), ...heads, ...BOTH.flatMap(row));
}

function fillBook(table, { rounds, bytes }) {
  const body = table.tBodies[0], foot = table.tFoot;
  const line = (name) => {
    const node = make("tr", ""), head = make("th", "", name);
    head.scope = "row";
    node.append(head, ...BOTH.flatMap((who) => rowOf(null, who).map(() => make("td", who))));
    return node;
  };
  while (body.rows.length > rounds.length) body.lastChild.remove();
  while (body.rows.length < rounds.length) body.append(line(String(body.rows.length + 1)));
  for (const row of body.rows) put(row, "data-on", null); // it has to be written again
  if (!foot.rows.length) foot.append(line("so far"), line("bytes"));
  put(foot.rows[1], "hidden", !bytes);
}

const fillLine = (line, values) => values.forEach((value, i) => write(line.cells[i + 1], String(value)));

/** Draw a step; the cells only while they can be seen. */
export function showLedger(root, step, round, run, shown) {
  if (!run.ledger) return;
  const { rounds, bytes } = run.ledger, entry = rounds[step.round];
  const held = BOTH.filter((who) => entry?.[who]).map((who) => `${who} ${count(lengthAt(entry[who], who, step), "cell")}`);
  write(root.querySelector(".held"), held.join(" · "));
  if (!root.open) return;
  const texts = textsOf(run);
  showRuler(root.querySelector(".ruler"), step, round, run, shown, texts);
  write(root.querySelector(".told"), tellLedger(step, round, entry, texts));
  showBook(root.querySelector(".book"), step, run.ledger, shown);
}

/** Texts of the sequence by position; those of a cut prompt are missing. */
function textsOf(run) {
  const texts = Array(run.hidden);
  return texts.concat([...run.prompt, ...run.rounds.flatMap((r) => r.written)].map((t) => t.text));
}

function showRuler(ruler, step, round, run, shown, texts) {
  const entry = run.ledger.rounds[step.round], first = round ? round.start - LEAD : 0;
  const there = (i) => round && first + i >= 0 && i - LEAD < round.drafted.length;
  [...ruler.querySelectorAll(".at")].forEach((node, i) => {
    const x = first + i, draft = i - LEAD;
    write(node.firstChild, there(i) ? String(x + 1) : "");
    const text = draft < 0 ? texts[x] : draft < shown.drafted ? round?.drafted[draft]?.text : undefined;
    write(node.lastChild, there(i) && text !== undefined ? visible(text) : "");
  });
  for (const who of BOTH) {
    const cells = entry?.[who], [fold, ...rest] = ruler.querySelectorAll(`.kv.${who}`);
    write(ruler.querySelector(`.who.${who} .held`), cells ? heldOf(lengthAt(cells, who, step), run.ledger.bytes?.[who]) : "no cache");
    const folded = cells ? foldedAt(cells, who, step, first) : 0;
    dressCell(fold, folded ? "cached" : "none", folded ? `… ${folded}` : "");
    rest.forEach((node, i) => dressCell(node, cells && there(i) ? cellAt(cells, who, step, first + i) : "none"));
  }
}

function dressCell(node, state, glyph = CELL[state]?.[0]) {
  put(node, "data-state", state);
  write(node.firstChild, glyph ?? "");
  write(node.lastChild, CELL[state]?.[1] ?? "");
}

/** Rounds that are over have their numbers; the current one is marked and kept in sight. */
function showBook(book, step, { rounds, bytes }, shown) {
  const [lines, foot] = [book.querySelector("tbody").rows, book.querySelector("tfoot").rows];
  const over = shown.written ? step.round : step.round - 1;
  [...lines].forEach((line, i) => {
    const on = i <= over;
    if (on !== line.hasAttribute("data-on") || (!on && line.cells[1].textContent))
      fillLine(line, BOTH.flatMap((who) => rowOf(rounds[i][who], who)).map((n) => (on ? n : "")));
    put(line, "data-on", on);
    put(line, "aria-current", i === step.round ? "true" : null);
  });
  const sums = BOTH.map((who) => rounds[over]?.[who] && { ...rounds[over][who].sum, after: rounds[over][who].after, owed: rounds[over][who].owed });
  const values = BOTH.flatMap((who, i) => (sums[i] ? rowOf(sums[i], who) : rowOf(null, who).map(() => "")));
  fillLine(foot[0], values);
  if (bytes) fillLine(foot[1], values.map((n, i) => (n === "" || n === "–" ? "" : bytesOf(n * bytes[i < 4 ? "target" : "drafter"]))));
  const line = lines[step.round];
  if (!line || book.dataset.round === String(step.round)) return;
  book.dataset.round = step.round;
  book.scrollTop = line.offsetTop + line.offsetHeight + book.querySelector("tfoot").offsetHeight - book.clientHeight;
}
