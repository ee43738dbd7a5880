// The panel of one token: facts, and its laws as paired bars.
import { GLYPH, count, num, piecesOf } from "./stage_words.js";
import { barsOf, restOf } from "./stage_facts.js";
import { fillToken, make, put, write } from "./stage_dom.js";

const HEADS = { p: "p target", q: "q drafter", residual: "residual" };

/** Fill the panel from facts; null leaves it with a hint. */
export function fillPanel(panel, facts) {
  put(panel, "data-empty", !facts);
  if (!facts) return;
  const { token, kind, verdict, rows, note, tops } = facts;
  const shown = panel.querySelector(".tok");
  fillToken(shown, token.text);
  put(shown, "data-kind", kind);
  write(shown.firstChild, GLYPH[kind] ?? "");
  write(panel.querySelector(".kind"), kind);
  write(panel.querySelector(".id"), `id ${token.id}`);
  write(panel.querySelector(".verdict"), verdict);
  write(panel.querySelector(".note"), note);
  panel.querySelector("dl").replaceChildren(...rows.flatMap(([name, value]) => [make("dt", "", name), make("dd", "", value)]));
  fillBars(panel.querySelector("table"), tops, token);
}

function fillBars(table, tops, token) {
  const names = Object.keys(tops), bars = names.length ? barsOf(tops, token) : [];
  put(table, "hidden", !bars.length);
  const head = make("tr", "");
  head.append(make("th", "", `top ${bars.length}`), ...names.map((name) => make("th", name, HEADS[name])));
  table.tHead.replaceChildren(head);
  table.tBodies[0].replaceChildren(...bars.map((bar) => barRow(bar, names)));
  const rest = restOf(tops), foot = make("tr", "");
  foot.append(make("td", "", "all others"), ...names.map((name) => make("td", "num", num(rest[name]))));
  table.tFoot.replaceChildren(foot);
}

function barRow(bar, names) {
  const row = make("tr", bar.mine ? "mine" : "");
  const word = make("th", ""), text = make("bdi", "text");
  text.dir = "auto";
  text.append(...piecesOf(bar.text).map((p) => (p.mark ? make("span", "mark", p.text) : p.text)));
  word.scope = "row";
  word.title = `id ${bar.id}`;
  word.append(text);
  row.append(word);
  for (const name of names) {
    const cell = make("td", `bar ${name}`), fill = make("i", "fill");
    fill.style.width = `${100 * (bar[name] ?? 0)}%`;
    cell.append(fill, make("span", "num", bar[name] === null ? "·" : num(bar[name])));
    if (bar[name] === null) cell.title = `not among the top ${count(10, "token")}`;
    row.append(cell);
  }
  return row;
}
