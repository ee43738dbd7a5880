// The panel of one token: facts, and its laws as paired bars.
import { GLYPH, num, piecesOf } from "./stage_words.js";
import { barsOf, restOf } from "./stage_bars.js";
import { fillToken, make, put, write } from "./stage_dom.js";

/** Fill the panel from facts; null leaves it with a hint. */
export function fillPanel(panel, facts) {
  put(panel, "data-empty", !facts);
  if (!facts) return;
  const { token, kind, verdict, rows, note, there = "", laws, tops, residual } = facts;
  const shown = panel.querySelector(".tok");
  fillToken(shown, token.text);
  put(shown, "data-kind", kind);
  write(shown.firstChild, GLYPH[kind] ?? "");
  write(panel.querySelector(".kind"), kind);
  write(panel.querySelector(".id"), `id ${token.id}`);
  write(panel.querySelector(".verdict"), verdict);
  write(panel.querySelector(".note"), note);
  write(panel.querySelector(".there"), there);
  panel.querySelector("dl").replaceChildren(...rows.flatMap(([name, value]) => [make("dt", "", name), make("dd", "", value)]));
  const names = Object.keys(tops), [two, all] = panel.querySelectorAll("table");
  write(two.caption, laws?.caption ?? "");
  fillBars(two, laws ?? { columns: [], bars: [], rest: {} });
  fillBars(all, {
    columns: names.map((name) => [name, name === "residual" ? residual : name]),
    bars: names.length ? barsOf(tops, token) : [],
    rest: restOf(tops),
  });
}

function fillBars(table, { columns, bars, rest }) {
  const names = columns.map(([name]) => name);
  put(table, "hidden", !bars.length);
  const longest = Math.max(...bars.flatMap((bar) => names.map((name) => bar[name] ?? 0)));
  const head = make("tr", "");
  head.append(make("th", "", "token"), make("th", ""), ...columns.map(([name, word]) => make("th", `num ${name}`, word)));
  table.tHead.replaceChildren(head);
  table.tBodies[0].replaceChildren(...bars.map((bar) => barRow(bar, names, longest)));
  const foot = make("tr", "");
  foot.append(make("th", "", "all others"), make("td", ""), ...names.map((name) => make("td", "num", num(rest[name]))));
  table.tFoot.replaceChildren(foot);
}

function barRow(bar, names, longest) {
  const row = make("tr", bar.mine ? "mine" : ""), word = make("th", ""), text = make("bdi", "text");
  text.dir = "auto";
  text.append(...piecesOf(bar.text).map((p) => (p.mark ? make("span", "mark", p.text) : p.text)));
  Object.assign(word, { scope: "row", title: `id ${bar.id}` });
  word.append(text);
  const bars = make("td", "bars");
  for (const name of names) {
    const fill = make("i", name);
    fill.style.width = `${(100 * (bar[name] ?? 0)) / longest}%`;
    bars.append(fill);
  }
  const numbers = names.map((name) => make("td", "num", bar[name] === null ? "·" : num(bar[name])));
  names.forEach((name, i) => bar[name] === null && (numbers[i].title = "not among the likeliest of this law"));
  row.append(word, bars, ...numbers);
  return row;
}
