// The overlap canvas: two laws of one position. The browser keeps them and tells Python when hands rest.
import { EXACT, parseRatio, textOf } from "./overlap_ratio.js";
import { sceneOf } from "./overlap_rule.js";
import { describe, faultsOf, sayOf, sumsOf } from "./overlap_words.js";
import { each, make, put, write } from "./overlap_dom.js";
import { drawBars, endOf } from "./overlap_bars.js";
import { drawFlows, fly, land, measure } from "./overlap_flow.js";
import { drawAlgebra, drawDrop, drawHeat, drawStrips, makeLine } from "./overlap_panels.js";
import { drawTable } from "./overlap_table.js";
import { addToken, drawAll, grab, keyOnBar, keyOnPin, mend, removeToken, stepOf, typed } from "./overlap_hands.js";

const REST = 300; // ms without a change before Python hears of it
const PAUSES = [0, 1600, 1800, 1800]; // ms on each step while playing
const canvases = new WeakMap(); // parentElement → state: the function below runs on every rerun
const calm = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

export default function ({ data, parentElement, setStateValue }) {
  const s = canvases.get(parentElement) ?? mount(parentElement);
  canvases.set(parentElement, s);
  s.send = (laws) => setStateValue("laws", laws);
  const given = JSON.stringify(data.laws); // the same on every rerun, unless there is another position to see
  if (s.given !== given) {
    Object.assign(s, { given, exact: data.exact, presets: data.presets ?? [], state: read(data.laws, data.exact) });
    s.told = JSON.stringify(wire(s));
    s.faults.clear();
  }
  draw(s);
  return () => {
    halt(s);
    clearTimeout(s.rest);
    s.sizes.disconnect();
    canvases.delete(parentElement);
  };
}

/** State from the wire: fractions come as text, floats as numbers. */
function read({ p, q, ...others }, exact) {
  const law = (xs) => (exact ? xs.map((x) => parseRatio(x, 1000)) : xs);
  return { ...others, p: law(p), q: law(q) };
}

const wire = ({ state, exact }) => (exact ? { ...state, p: state.p.map(textOf), q: state.q.map(textOf) } : { ...state });

function mount(parent) {
  const root = parent.querySelector(".overlap"), find = (what) => root.querySelector(what);
  const s = { root, find, step: 4, timer: 0, rest: 0, held: false, faults: new Map(), end: 1, base: null, flight: null };
  s.change = (part) => change(s, part);
  s.settle = () => rest(s);
  makeLine(find("[data-line=u]"), "u, the uniform of the test");
  makeLine(find("[data-line=w]"), "w, the uniform of the replacement");
  root.onpointerdown = (event) => {
    const node = event.button === 0 && (event.target.closest(".bar:not([aria-disabled])") ?? event.target.closest(".track")?.lastChild);
    if (node) grab(s, event, node);
  };
  root.onkeydown = (event) => onKey(s, event);
  root.onclick = (event) => onClick(s, event.target.closest("button")?.dataset ?? {});
  root.oninput = ({ target }) => target.id === "T" && s.change({ T: target.valueAsNumber });
  root.onchange = ({ target }) => (target.dataset.field ? typed(s, target) : target.type === "radio" && s.change({ x: Number(target.dataset.i) }));
  s.sizes = new ResizeObserver(() => (fit(s), drawFlows(s, s.scene)));
  s.sizes.observe(find(".picture"));
  return s;
}

function change(s, part) {
  if (s.timer || s.flight) show(s, 4);
  Object.assign(s.state, part);
  draw(s);
  rest(s);
}

/** Tell Python and the ears, once, when hands rest. */
function rest(s) {
  clearTimeout(s.rest);
  if (s.held) return;
  s.rest = setTimeout(() => {
    write(s.find(".said"), [...s.faults.values(), sumsOf(s.scene)].join(" "));
    const laws = wire(s), words = JSON.stringify(laws);
    if (s.told === words || !s.exact) return;
    s.told = words;
    s.send(laws);
  }, REST);
}

function draw(s) {
  const scene = (s.scene = sceneOf({ ...s.state, exact: s.exact })), { N, p, q } = scene;
  s.end = endOf(Math.max(...[...p, ...q].map(N.value)), !s.exact);
  put(s.root, "data-step", s.step);
  put(s.root, "data-off", !scene.valid);
  for (const button of s.find(".steps div").children) put(button, "aria-pressed", String(Number(button.dataset.step) === s.step));
  drawBars(s, scene);
  if (s.box?.n !== scene.names.length) fit(s);
  drawFlows(s, scene);
  drawStrips(s, scene);
  drawAlgebra(s, scene);
  drawDrop(s, scene);
  drawHeat(s, scene);
  drawTable(s, scene);
  drawPresets(s);
  drawFaults(s, scene);
  write(s.find(".say"), sayOf(s.step, scene));
  write(s.find("#described"), describe(scene));
}

function fit(s) {
  measure(s);
  const svg = s.find(".heat svg");
  Object.assign(svg.dataset, { width: svg.clientWidth || 300, height: svg.clientHeight || 70 });
}

function drawFaults(s, scene) {
  each(s.find(".faults"), faultsOf(scene), makeFault, (node, { law, text }) => {
    write(node.firstChild, text);
    write(node.lastChild, `Normalise ${law}`);
    node.lastChild.dataset.mend = law;
    node.lastChild.disabled = !s.exact || !EXACT.less(EXACT.zero, scene.sums[law]);
  });
  write(s.find(".fault"), [...s.faults.values()].join(" "));
}

function makeFault() {
  const node = make("p"), button = make("button");
  button.type = "button";
  node.append(make("span"), button);
  return node;
}

function drawPresets(s) {
  const now = JSON.stringify(laws(wire(s)));
  put(s.find(".presets"), "hidden", !s.presets.length);
  let notice = "";
  each(s.find(".presets"), s.presets, () => Object.assign(make("button"), { type: "button" }), (button, preset, i) => {
    const on = JSON.stringify(laws(preset)) === now;
    if (on) notice = preset.notice;
    write(button, preset.title);
    button.dataset.preset = i;
    put(button, "aria-pressed", String(on));
  });
  write(s.find(".notice"), notice);
}

const laws = ({ names, p, q, T }) => [names, p, q, T];

function onKey(s, event) {
  const by = stepOf(event), { target } = event;
  if (by === null || !target.matches(".bar, .pin")) return;
  event.preventDefault();
  event.stopPropagation();
  if (target.matches(".pin")) keyOnPin(s, target.parentElement.dataset.line, by);
  else if (!target.matches("[aria-disabled]")) keyOnBar(s, target, by);
}

function onClick(s, { preset, step, draw, cool, mend: law, add, remove }) {
  if (preset) {
    const { names, p, q, T } = s.presets[preset];
    s.faults.clear();
    s.change({ ...read({ names, p, q, T }, true), x: Math.max(0, Math.min(s.state.x, names.length - 1)) });
  } else if (step === "play") play(s);
  else if (step) show(s, Number(step), true);
  else if (draw !== undefined) drawAll(s, s.scene);
  else if (cool !== undefined) s.change({ T: 1 });
  else if (law) mend(s, law);
  else if (add !== undefined) addToken(s);
  else if (remove) removeToken(s, Number(remove));
}

// The four steps of the picture.

function halt(s) {
  clearTimeout(s.timer);
  s.timer = 0;
  land(s);
}

/** Show a step; from "reject" to "replace" the pieces move over. */
function show(s, step, moves = false) {
  const last = s.step;
  halt(s);
  const arrive = () => {
    s.step = step;
    put(s.root, "data-flying", null);
    draw(s);
  };
  if (!moves || step !== 4 || last !== 3 || !s.scene.valid || calm()) return arrive();
  put(s.root, "data-flying", true);
  fly(s, s.scene, arrive);
}

function play(s, step = 1) {
  show(s, step, true);
  if (step < 4) s.timer = setTimeout(() => play(s, step + 1), PAUSES[step]);
}
