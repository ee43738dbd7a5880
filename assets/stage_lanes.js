// The token strip and the four lanes. Nodes are made once and filled again; a step only flips states.
import { GLYPH, count, num, visible, writtenOf } from "./stage_words.js";
import { clamp, isOver, kindAt, tested } from "./stage_plan.js";
import { ruleOf } from "./stage_rules.js";
import { dressToken, fillToken, make, makeToken, put, write } from "./stage_dom.js";

/** Bring the strip to a run: prompt, then the written tokens with a seam before every round. */
export function fillStrip(strip, run) {
  const items = [];
  const prompt = run.prompt.some((t) => t.text) ? run.prompt : [];
  if (run.hidden) items.push({ more: `… ${run.hidden} more` });
  if (!prompt.length) items.push({ more: "no prompt" });
  prompt.forEach((token, i) => items.push({ token, kind: "prompt", ref: `p${i}` }));
  let at = 0;
  run.rounds.forEach((round, r) => {
    round.written.forEach((token, i) => items.push({ token, kind: token.kind, ref: `w${at++}`, seam: i === 0 ? r + 1 : null }));
  });
  while (strip.children.length > items.length) strip.lastChild.remove();
  items.forEach((item, i) => fillItem(strip, i, item));
  return items.map((item, i) => ({ ...item, node: strip.children[i] }));
}

function fillItem(strip, i, item) {
  let node = strip.children[i];
  if (!node || node.matches(".more") !== Boolean(item.more)) {
    const made = item.more ? make("span", "more") : makeToken();
    if (node) node.replaceWith(made);
    else strip.append(made);
    node = made;
  }
  if (item.more) return write(node, item.more);
  fillToken(node, item.token.text);
  dressToken(node, item.kind, item.token, item.ref);
  put(node, "data-seam", item.seam ?? null);
}

const LANES = ["draft", "verify", "accept", "write"];

/** One column of the lanes: a cell in each of them. */
function makeColumn(i) {
  const cells = {};
  LANES.forEach((lane, row) => {
    const cell = make("div", `cell ${lane}`);
    cell.style.setProperty("--i", i);
    cell.style.setProperty("--row", row);
    cells[lane] = cell;
  });
  cells.draft.append(makeToken(), make("span", "num"));
  cells.verify.append(make("bdi", "num"));
  const line = make("div", "line");
  line.append(make("i", "fill"), make("i", "pin"));
  cells.accept.append(line, make("bdi", "num own"), make("span", "num"), make("span", "fate"));
  cells.write.append(makeToken());
  return cells;
}

/** Columns for the longest draft of the run, wide enough for its words: kept from the start. */
export function fitColumns(lanes, columns, { rounds, settings, greedy }) {
  const wanted = Math.max(1, ...rounds.map((r) => r.drafted.length + 1));
  const lengths = rounds.flatMap((r) => [...r.drafted, ...r.written].map((t) => visible(t.text).length));
  lanes.style.setProperty("--chars", clamp(Math.max(0, ...lengths), 5, 11));
  while (columns.length > wanted) Object.values(columns.pop()).forEach((cell) => cell.remove());
  while (columns.length < wanted) {
    columns.push(makeColumn(columns.length));
    lanes.append(...Object.values(columns.at(-1)));
  }
  lanes.style.setProperty("--columns", wanted);
  put(lanes, "data-fates", settings.rule === "block" && !greedy); // a line more in the accept lane
}

/** Put a round's content into the columns; `firstWritten` counts the tokens written before it. */
export function fillRound(columns, round, run, firstWritten) {
  const rule = round && ruleOf(round, run);
  columns.forEach((cells, i) => {
    const drafted = round?.drafted[i], written = round?.written[i];
    const used = Boolean(round) && i <= round.drafted.length;
    for (const cell of Object.values(cells)) put(cell, "data-used", used);
    fillDrafted(cells, drafted, i);
    write(cells.verify.firstChild, used ? scoreOf(round, i, rule) : "");
    fillTest(cells.accept, round, i, rule);
    const token = cells.write.firstChild;
    put(token, "hidden", !written);
    if (!written) return put(token, "data-ref", null);
    fillToken(token, written.text);
    dressToken(token, written.kind, written, `w${firstWritten + i}`);
  });
}

function fillDrafted(cells, drafted, i) {
  const [token, number] = cells.draft.children;
  put(token, "hidden", !drafted);
  put(token, "data-ref", drafted ? `d${i}` : null);
  for (const lane of ["draft", "verify", "accept"]) put(cells[lane], "data-about", drafted ? `d${i}` : null);
  if (drafted) fillToken(token, drafted.text);
  write(number, drafted ? `q ${num(drafted.q)}` : "");
}

/** What the target says at a position. */
function scoreOf(round, i, rule) {
  if (i === round.drafted.length) return i ? "if all ✓" : "next";
  return rule.scores(round, i);
}

function fillTest(cell, round, i, rule) {
  const drafted = round?.drafted[i], [line, own, text] = cell.children;
  const isTested = drafted && i < tested(round), draw = isTested ? rule.draws(round, i) : null;
  put(line, "hidden", !isTested || !rule.line || drafted.u === null);
  put(own, "hidden", draw === null);
  write(own, draw === null ? "" : visible(draw));
  if (!drafted) return write(text, "");
  put(cell, "data-kind", drafted.passed === null ? drafted.verdict : drafted.passed ? "passed" : "failed");
  cell.style.setProperty("--limit", drafted.threshold);
  cell.style.setProperty("--u", drafted.u ?? 0);
  const rejected = round.drafted.some((t) => t.verdict === "rejected");
  write(text, isTested ? rule.marks(round, i) : `${GLYPH.discarded} after ${rejected ? "a wrong one" : "the end"}`);
}

/** Flip the cells to what is shown at a step. */
export function showRound(columns, round, run, shown, active) {
  const n = round?.drafted.length ?? 0, tests = round ? tested(round) : 0, rule = round && ruleOf(round, run);
  const over = Boolean(round) && isOver(round, shown);
  columns.forEach((cells, i) => {
    const out = i < n && i >= tests;
    put(cells.draft, "data-on", i < shown.drafted && i < n);
    put(cells.verify, "data-unused", over && !round.written[i]);
    put(cells.verify, "data-on", shown.verified && Boolean(round) && i <= n);
    put(cells.accept, "data-on", i < n && (out ? shown.discarded : shown.judged > i));
    put(cells.write, "data-on", shown.written && Boolean(round?.written[i]));
    for (const lane of LANES) put(cells[lane], "data-active", active === `${lane}${i}`);
    if (i >= n) return;
    const kind = kindAt(round, i, shown), { text } = round.drafted[i], fate = rule.fate(round, i, shown);
    write(cells.accept.lastChild, fate);
    dressToken(cells.draft.firstChild, kind, { text }, `d${i}`, fate ? `${kind}, ${rule.tells(round, i, shown)}` : kind);
  });
}

/** The small words under the names of the lanes. */
export function lanesSay(round, run, shown) {
  const passes = round?.draft_passes ?? 0, n = round?.drafted.length ?? 0;
  return {
    draft: !round ? "" : run.settings.k === 0 ? "plain: no draft" : n === 0 ? "nothing found" : passes ? `${count(passes, "small pass")}` : "copied, no pass",
    verify: round ? "ONE target pass" : "",
    accept: !n ? "" : ruleOf(round, run).asks,
    write: round && shown.written ? writtenOf(round) : "",
  };
}
