// The drawing of a tree, and what is said of its chosen node.
import { GLYPH, count, num, visible } from "./stage_words.js";
import { dressToken, fillToken, make, makeToken, put, write } from "./stage_dom.js";
import { pathOf, rootRow } from "./tree_plan.js";

const STEP = 9, LINE = 2.5, WIDE = 7.2, HALF = 0.97; // em, as in tree.css

const svg = (tag) => document.createElementNS("http://www.w3.org/2000/svg", tag);

/** Draw a round: its guesses and the lines between them. */
export function fillTree(canvas, round, room) {
  canvas.style.width = `${room.depths * STEP + WIDE}em`;
  canvas.style.height = `${room.rows * LINE}em`;
  const lines = svg("svg"), { nodes } = round, root = rootRow(nodes);
  const wide = room.depths * STEP + WIDE, high = room.rows * LINE;
  lines.setAttribute("viewBox", `0 0 ${wide * 10} ${high * 10}`);
  lines.setAttribute("aria-hidden", "true");
  lines.append(...nodes.map((n) => lineOf(n, nodes[n.parent] ?? { depth: 0, row: root })));
  const text = make("span", "root", "the text →");
  place(text, 0, root);
  canvas.replaceChildren(lines, text, ...nodes.map(nodeOf));
}

function lineOf(node, parent) {
  const line = svg("path"), x = (d) => d * STEP * 10, y = (row) => (row * LINE + HALF) * 10;
  const from = x(parent.depth) + WIDE * 10, to = x(node.depth), half = (from + to) / 2;
  line.setAttribute("d", `M${from} ${y(parent.row)}C${half} ${y(parent.row)} ${half} ${y(node.row)} ${to} ${y(node.row)}`);
  line.setAttribute("data-kind", node.verdict);
  return line;
}

function nodeOf(node, i) {
  const button = makeToken();
  fillToken(button, node.text);
  dressToken(button, node.verdict, node, null, `${node.verdict}, guess ${i + 1}, depth ${node.depth}`);
  button.append(make("span", "n", String(i + 1)));
  button.dataset.node = i;
  place(button, node.depth, node.row);
  return button;
}

function place(node, depth, row) {
  node.style.left = `${depth * STEP}em`;
  node.style.top = `${row * LINE}em`;
  node.style.fontSize = "1em"; // places are in em of the canvas
}

/** Light the path of a node. */
export function lightPath(canvas, nodes, at) {
  const path = pathOf(nodes, at);
  const lines = canvas.querySelectorAll("path"), tokens = canvas.querySelectorAll(".tok");
  nodes.forEach((_, i) => {
    put(lines[i], "data-chosen", path.includes(i));
    put(tokens[i], "data-path", path.includes(i));
    put(tokens[i], "aria-current", i === at ? "true" : null);
    tokens[i].tabIndex = i === Math.max(at, 0) ? 0 : -1; // one tab stop
  });
}

/** What the round wrote, and from where. */
export function fillWrote(root, round) {
  root.querySelector(".strip").replaceChildren(...round.written.map((token) => {
    const node = make("span", "tok");
    node.append(make("span", "glyph", GLYPH[token.kind]), make("bdi", "text"));
    fillToken(node, token.text);
    put(node, "data-kind", token.kind);
    put(node, "title", token.kind);
    return node;
  }));
  const kept = round.nodes.filter((n) => n.verdict === "accepted").length, own = round.written.at(-1)?.kind;
  const guesses = round.nodes.length ? `${kept} of ${count(round.nodes.length, "guess")}` : "nothing was drafted";
  const last = { corrected: "the target's own token after the last one that failed", bonus: "the target's own token behind the path" }[own];
  write(root.querySelector(".why"), [guesses, last].filter(Boolean).join(", and "));
}

/** The chosen node in words and numbers. */
export function fillAbout(root, round, at) {
  const { nodes } = round, node = nodes[at], box = root.querySelector(".tok");
  fillToken(box, node ? node.text : "the text");
  put(box, "data-kind", node ? node.verdict : "prompt");
  write(box.firstChild, node ? GLYPH[node.verdict] : "");
  write(root.querySelector(".kind"), node ? node.verdict : "no guess is chosen");
  const rows = node ? factsOf(round, at) : [["position ids so far", `0 to ${round.start - 1}`], ["guesses", String(nodes.length)]];
  root.querySelector("dl").replaceChildren(...rows.flatMap(([name, value]) => [make("dt", "", name), make("dd", "", value)]));
}

function factsOf({ nodes, start }, at) {
  const node = nodes[at], path = node.path.map((i) => visible(nodes[i].text)).join(" ");
  const elder = nodes.filter((n, i) => i < at && n.parent === node.parent).length;
  return [
    ["guess", `${at + 1} of ${nodes.length}${elder ? `, the ${elder + 1}. for its place` : ""}`],
    ["path", path],
    ["position id", `${node.position} = ${start} + depth ${node.depth} − 1`],
    ["attends to", `${start} tokens of the text, ${node.path.map((i) => i + 1).join(", ")}`],
    ["p", `${num(node.p)}${elder ? ", of what its elders left" : ""}`],
    ["q", num(node.q)],
    ["kept with", num(node.threshold)],
    ["u", node.u === null ? (node.verdict === "discarded" ? "none: never judged" : "none: greedy") : num(node.u)],
  ];
}

/** Every guess of a round in a row. */
export function fillRows(body, { nodes }) {
  body.replaceChildren(...nodes.map((node, i) => {
    const row = make("tr", ""), head = make("th", "", String(i + 1));
    put(head, "scope", "row");
    const follows = node.parent < 0 ? "the text" : String(node.parent + 1);
    const cells = [visible(node.text), follows, node.depth, node.position, node.path.map((n) => n + 1).join(", "), num(node.threshold), node.verdict];
    row.append(head, ...cells.map((text) => make("td", "", String(text))));
    return row;
  }));
}
