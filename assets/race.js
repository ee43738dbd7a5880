// The race: one clock, two lanes. Time lives here; the page hears nothing.
import { clamp } from "./stage_plan.js";
import { actionOf } from "./stage_keys.js";
import { put, write } from "./stage_dom.js";
import { eventFrom, eventsOf, laneOf } from "./race_plan.js";
import { ms, standSays } from "./race_words.js";
import { fillGaps, fillLane, fillPasses, showLane } from "./race_lanes.js";

const races = new WeakMap(); // parentElement → state: the function below runs on every rerun
const calm = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

export default function ({ data, parentElement }) {
  const s = races.get(parentElement) ?? mount(parentElement);
  races.set(parentElement, s);
  const told = JSON.stringify(data);
  if (s.told !== told) receive(s, data);
  s.told = told;
  return () => {
    stop(s);
    s.ends.abort();
    races.delete(parentElement);
  };
}

function mount(parent) {
  const root = parent.querySelector(".race"), find = (what) => root.querySelector(what);
  const views = ["plain", "speculative"].map((name) => {
    const track = find(`.track.${name}`), text = find(`.written.${name}`);
    return { track, text, bar: track.querySelector(".bar"), numbers: track.querySelector(".numbers"), strip: text.querySelector(".strip") };
  });
  const s = { root, find, views, range: find("input"), speed: find("select"), time: 0, timer: null, ends: new AbortController() };
  root.onkeydown = (event) => onKey(s, event);
  root.onclick = (event) => ACTIONS[event.target.closest("[data-do]")?.dataset.do]?.(s);
  s.range.oninput = () => go(s, Number(s.range.value));
  s.speed.onchange = () => s.timer && play(s);
  find("details").ontoggle = () => fillTable(s);
  const signal = { signal: s.ends.signal };
  addEventListener("beforeprint", () => ((s.back = s.time), go(s, s.total)), signal);
  addEventListener("afterprint", () => show(s, s.back), signal);
  return s;
}

/** Take two runs: the clock goes back to the start. */
function receive(s, data) {
  stop(s);
  const lanes = data.lanes.map(laneOf), total = Math.max(...lanes.map((lane) => lane.end));
  const most = Math.max(...data.lanes.flatMap((lane) => lane.passes.map((p) => p.length)));
  Object.assign(s, { data, lanes, total, names: data.lanes.map((lane) => lane.name), events: eventsOf(lanes) });
  s.views.forEach((view, i) => fillLane(view, lanes[i], data.lanes[i], total, most));
  for (const name of ["which", "result", "machine"]) write(s.find(`.${name}`), data[name]);
  fillGaps(s.find(".gaps"), lanes, s.names);
  fillTable(s);
  s.range.max = total;
  write(s.find(".total"), `of ${ms(total)}`);
  show(s, 0);
}

function fillTable(s) {
  const open = s.find("details").open;
  if (open) fillPasses(s.find("details tbody"), s.lanes, s.data.lanes);
}

/** Draw a time. */
function show(s, time) {
  s.time = clamp(time, 0, s.total);
  s.views.forEach((view, i) => showLane(view, s.lanes[i], s.time, s.total));
  write(s.find(".now"), ms(s.time));
  s.range.value = s.time;
  s.range.style.setProperty("--done", `${(100 * s.time) / s.total}%`);
  const over = s.time >= s.total;
  put(s.root, "data-over", over);
  write(s.find(".said"), over ? s.data.result : "");
  if (!s.timer) put(s.range, "aria-valuetext", standSays(s.names, s.lanes, s.time));
  write(s.find(".play span"), s.timer ? "Pause" : over ? "Again" : s.time ? "Go on" : "Start");
  for (const name of ["first", "back"]) put(s.find(`[data-do=${name}]`), "aria-disabled", s.time ? null : "true");
  for (const name of ["next", "last"]) put(s.find(`[data-do=${name}]`), "aria-disabled", over ? "true" : null);
}

/** Go to a time by hand. */
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
    const next = eventFrom(s.events, s.time, 1);
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
