// Ways to draft on one clock. Time lives here; the page hears nothing.
import { clamp } from "./stage_plan.js";
import { actionOf } from "./stage_keys.js";
import { put, write } from "./stage_dom.js";
import { eventFrom, eventsOf, laneOf, standAt } from "./lanes_plan.js";
import { endSays, fillTable, makeLane, ms, showLane } from "./lanes_draw.js";

const mounted = new WeakMap(); // parentElement → state: the function below runs on every rerun
const calm = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

export default function ({ data, parentElement }) {
  const s = mounted.get(parentElement) ?? mount(parentElement);
  mounted.set(parentElement, s);
  const told = JSON.stringify(data);
  if (s.told !== told) receive(s, data);
  s.told = told;
  return () => {
    stop(s);
    mounted.delete(parentElement);
  };
}

function mount(parent) {
  const root = parent.querySelector(".lanes"), find = (what) => root.querySelector(what);
  const s = { root, find, range: find("input"), speed: find("select"), time: 0, timer: null };
  root.onkeydown = (event) => onKey(s, event);
  root.onclick = (event) => ACTIONS[event.target.closest("[data-do]")?.dataset.do]?.(s);
  s.range.oninput = () => go(s, Number(s.range.value));
  s.speed.onchange = () => s.timer && play(s);
  return s;
}

/** Take new lanes; the clock stands at its start, or at its end where the reader has predicted. */
function receive(s, data) {
  stop(s);
  const lanes = data.lanes.map(laneOf), total = Math.max(...lanes.map((lane) => lane.end));
  Object.assign(s, { lanes, total, events: eventsOf(lanes) });
  s.nodes = lanes.map((lane) => makeLane(lane, total));
  s.find(".tracks").replaceChildren(...s.nodes);
  fillTable(s.find("tbody"), lanes);
  s.range.max = total;
  write(s.find(".total"), `of ${ms(total)}`);
  show(s, data.over ? total : 0);
}

function show(s, time) {
  s.time = clamp(time, 0, s.total);
  s.nodes.forEach((node, i) => showLane(node, s.lanes[i], s.time, s.total));
  write(s.find(".now"), ms(s.time));
  s.range.value = s.time;
  s.range.style.setProperty("--done", `${(100 * s.time) / s.total}%`);
  const over = s.time >= s.total;
  write(s.find(".said"), over ? endSays(s.lanes) : "");
  if (!s.timer) put(s.range, "aria-valuetext", standSays(s));
  write(s.find(".play span"), s.timer ? "Pause" : over ? "Again" : s.time ? "Go on" : "Start");
  for (const name of ["first", "back"]) put(s.find(`[data-do=${name}]`), "aria-disabled", s.time ? null : "true");
  for (const name of ["next", "last"]) put(s.find(`[data-do=${name}]`), "aria-disabled", over ? "true" : null);
}

const standSays = (s) => `${ms(s.time)}; ${s.lanes.map((lane) => `${lane.name}: ${standAt(lane, s.time).tokens}`).join(", ")}`;

function go(s, time) {
  stop(s);
  show(s, time);
}

// Play: frame by frame; from event to event for those who asked for calm.

function play(s) {
  stop(s);
  if (s.time >= s.total) show(s, 0);
  const speed = Number(s.speed.value), from = s.time, began = performance.now();
  const now = () => from + ((performance.now() - began) / 1000) * speed;
  const step = () => {
    if (now() >= s.total) return go(s, s.total);
    later();
    show(s, now());
  };
  const jump = () => {
    const next = eventFrom(s.events, s.time + 0.1 * speed, 1); // at most ten jumps a second
    s.timer = { timeout: setTimeout(() => (next >= s.total ? go(s, next) : (show(s, next), jump())), ((next - now()) / speed) * 1000) };
  };
  const later = () => (s.timer = { frame: requestAnimationFrame(step) });
  if (calm()) jump();
  else later();
  show(s, s.time);
}

function stop(s) {
  if (!s.timer) return;
  clearTimeout(s.timer.timeout);
  cancelAnimationFrame(s.timer.frame);
  s.timer = null;
}

const ACTIONS = {
  play: (s) => (s.timer ? go(s, s.time) : play(s)),
  next: (s) => go(s, eventFrom(s.events, s.time, 1)),
  back: (s) => go(s, eventFrom(s.events, s.time, -1)),
  first: (s) => go(s, 0),
  last: (s) => go(s, s.total),
};

function onKey(s, event) {
  const on = event.target.type === "range" ? "range" : event.target.localName;
  const action = actionOf(event, "stage", false, on);
  if (!ACTIONS[action]) return;
  event.preventDefault();
  event.stopPropagation();
  ACTIONS[action](s);
}
