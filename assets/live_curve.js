// Speed-up against k and against α, redrawn while the reader drags. Python hears of a change once,
// when it is settled.

import { short, times } from "./live_curve_words.js";
import { LEFT, RIGHT } from "./live_curve_pen.js";
import { barred, list } from "./live_curve_pins.js";
import { captionsOf, download, fileOf } from "./live_curve_save.js";
import { readout, table } from "./live_curve_numbers.js";
import { againstAlpha, againstK } from "./live_curve_plot.js";

const NAMES = ["k", "alpha", "c", "v"];
const mounted = new WeakMap();

export default function ({ data, parentElement, setStateValue }) {
  const s = mounted.get(parentElement) ?? mount(parentElement);
  mounted.set(parentElement, s);
  Object.assign(s, { data, send: setStateValue });
  if (s.revision !== data.revision) {  // set from outside: a link, a preset. Else the hand is ahead of the answer
    const { revision, point, pins } = data;
    Object.assign(s, { revision, point: { ...point }, sent: { ...point }, pins });
  }
  for (const name of NAMES) {
    const [min, max, step] = data.ranges[name];
    for (const input of [s.ranges[name], s.numbers[name]]) Object.assign(input, { min, max, step });
  }
  draw(s);
  return () => {
    s.sizes.disconnect();
    mounted.delete(parentElement);
  };
}

function mount(parent) {
  const find = (what) => parent.querySelector(what);
  const inputs = (type) => Object.fromEntries(
    NAMES.map((name) => [name, find(`[data-name=${name}] input[type=${type}]`)]));
  const s = { find, ranges: inputs("range"), numbers: inputs("number"), held: false };
  for (const name of NAMES) {
    s.ranges[name].oninput = () => set(s, name, s.ranges[name].valueAsNumber);
    s.numbers[name].oninput = () => set(s, name, s.numbers[name].valueAsNumber);
    s.ranges[name].onchange = s.numbers[name].onchange = () => { if (!s.held) settle(s); };
  }
  const controls = find(".controls");  // a key held down changes a slider many times: told once, at its end
  controls.onkeydown = (event) => { s.held = event.target.type === "range"; };
  controls.onkeyup = () => { if (s.held) { s.held = false; settle(s); } };  // typing goes on until Enter or Tab
  controls.onfocusout = () => { s.held = false; settle(s); };
  grab(s, find(".main svg"), "k", (share) => Math.round(share * s.data.ranges.k[1]));
  grab(s, find(".side svg"), "alpha", (share) => Math.round(share * 100) / 100);
  find(".acts .pin").onclick = () => pin(s, [...s.pins, { ...s.point }]);
  find(".acts .save").onclick = () => save(s);
  find("details").ontoggle = () => draw(s);
  s.sizes = new ResizeObserver(() => { measure(s); draw(s); });
  s.sizes.observe(find(".figures"));
  measure(s);
  return s;
}

/** Sizes in px are read when they change, not at every redraw: reading makes the browser lay out. */
function measure(s) {
  const rem = parseFloat(getComputedStyle(s.find(".live")).fontSize);
  const of = (svg) => ({ svg, width: svg.clientWidth, height: svg.clientHeight, rem });
  Object.assign(s, { main: of(s.find(".main svg")), side: of(s.find(".side svg")) });
}

/** A figure is a slider, too: press or drag in it. */
function grab(s, svg, name, valueOf) {
  const move = (event) => {
    const { left, width } = svg.getBoundingClientRect();
    set(s, name, valueOf((event.clientX - left - LEFT) / (width - LEFT - RIGHT)));
  };
  svg.onpointerdown = (event) => {
    svg.setPointerCapture(event.pointerId);
    if (event.pointerType !== "touch") move(event);  // a finger may only want to scroll past
  };
  svg.onpointermove = (event) => { if (svg.hasPointerCapture(event.pointerId)) move(event); };
  svg.onlostpointercapture = () => settle(s);
  svg.onclick = (event) => { move(event); settle(s); };
}

function set(s, name, value) {
  if (!Number.isFinite(value)) return;  // a number half typed
  const [min, max] = s.data.ranges[name];
  s.point[name] = Math.min(max, Math.max(min, name === "k" ? Math.round(value) : value));
  draw(s);
}

/** The reader let go: write what was typed as it was understood, tell Python once. */
function settle(s) {
  for (const name of NAMES) s.numbers[name].value = short(s.point[name]);
  if (NAMES.every((name) => s.point[name] === s.sent[name])) return;
  s.sent = { ...s.point };
  s.send("point", s.sent);
  s.find(".said").textContent = s.find(".main svg").getAttribute("aria-label");
}

function pin(s, pins) {
  if (pins.length > s.pins.length && barred(s.pins, s.point)) return;
  s.pins = pins;
  s.send("pins", pins);
  draw(s);
}

function save(s) {
  const { k, alpha, c, v } = s.point, name = `speedup_k${k}_alpha${short(alpha)}_c${short(c)}_v${short(v)}.svg`;
  download(name, fileOf(s.main, "Speed-up against k", captionsOf(s)));
}

function draw(s) {
  const { k, alpha, c, v } = s.point, { ranges, measured, cloud, kMax } = s.data, { pins } = s;
  const now = {
    k, alpha, c, v, measured, cloud, pins, kEnd: ranges.k[1], at: speedup(alpha, k, c, v), best: bestK(alpha, c, v, kMax),
    finite: hasFiniteBestK(alpha, c, v), even: breakEvenAlpha(k, c, v),
  };
  now.peak = speedup(alpha, now.best, c, v);
  controls(s, now);
  readout(s, now);
  againstK(s.main, now);
  againstAlpha(s.side, now);
  pinned(s);
  if (s.find("details").open) table(s.find("table"), now);
}

function pinned(s) {
  const why = barred(s.pins, s.point), button = s.find(".acts .pin");
  button.setAttribute("aria-disabled", String(why !== ""));  // stays in the order of Tab
  s.find(".acts .why").textContent = why;
  list(s.find(".pins"), s.pins, (i) => { pin(s, s.pins.toSpliced(i, 1)); button.focus(); });
}

function controls(s, now) {
  for (const name of NAMES) {
    const range = s.ranges[name], number = s.numbers[name];
    range.value = s.point[name];
    range.setAttribute("aria-valuetext", `${short(s.point[name])}, speed-up ${times(now.at)}`);
    if (!number.matches(":focus")) number.value = short(s.point[name]);
  }
}
