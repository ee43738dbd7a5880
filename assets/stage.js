// The stage: one run, one place in it. The browser keeps the place and reports it, always absolute.
import { clamp, extendsRun, indexOf, placeOf, planOf, roundFrom, settledFrom, settledOf } from "./stage_plan.js";
import { actionOf, pauseAt } from "./stage_keys.js";
import { unfoldLedger } from "./stage_cells.js";
import { choose, fill, look, show, showControls, walk } from "./stage_show.js";

const REST = 300; // ms without a key before the place is reported
const PATIENCE = 800; // ms: a key that is held down asks for one round, not for ten
const stages = new WeakMap(); // parentElement → state: the function below runs on every rerun
const calm = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

export default function ({ data, parentElement, setStateValue, setTriggerValue }) {
  const s = stages.get(parentElement) ?? mount(parentElement);
  stages.set(parentElement, s);
  s.report = data.report ? (place) => setStateValue("place", place) : () => {};
  s.ask = (rounds) => setTriggerValue("more", rounds);
  receive(s, data);
  return () => {
    stop(s);
    clearTimeout(s.rest);
    s.ends.abort();
    stages.delete(parentElement);
  };
}

function mount(parent) {
  const root = parent.querySelector(".stage"), find = (what) => root.querySelector(what);
  const s = {
    root, find, strip: find(".strip"), lanes: find(".lanes"), range: find("input"), columns: [], items: [],
    run: null, plan: planOf([]), at: 0, timer: 0, rest: 0, over: null, picked: null, asked: 0, ends: new AbortController(),
  };
  const refOf = (event) => event.target.closest?.("[data-ref], [data-about]");
  const ref = (node) => node && (node.dataset.ref ?? node.dataset.about);
  root.onkeydown = (event) => onKey(s, event, "stage");
  root.onpointerover = (event) => look(s, { over: event.pointerType === "touch" ? null : ref(refOf(event)) });
  root.onpointerleave = () => look(s, { over: null });
  root.onclick = (event) => onClick(s, event, ref(refOf(event)));
  unfoldLedger(find(".ledger"), () => show(s, s.at));
  s.range.oninput = () => go(s, Number(s.range.value), { pause: true });
  const signal = { signal: s.ends.signal };
  root.addEventListener("focusin", (event) => event.target.matches(".tok") && choose(s, event.target), signal);
  document.addEventListener("keydown", (event) => onPageKey(s, event), signal);
  addEventListener("beforeprint", () => ((s.back = s.at), show(s, s.plan.length - 1)), signal);
  addEventListener("afterprint", () => show(s, s.back), signal);
  return s;
}

/** Take a run: the old one gone on, or another. */
function receive(s, run) {
  const old = s.run, end = s.plan.length - 1, plan = planOf(run.rounds), last = plan.length - 1;
  const goesOn = old !== null && extendsRun(old, run);
  const more = goesOn && run.rounds.length > old.rounds.length && s.at === end;
  const wanted = more && s.asked > 0;
  if (!goesOn) stop(s);
  if (!goesOn) s.asked = 0;
  let at = goesOn ? s.at : 0;
  if (old === null && run.start) at = indexOf(plan, run.start);
  else if (!wanted && run.follow === "end" && (more || !goesOn)) at = last;
  const another = !goesOn && last > 0 && (old !== null || !run.start);
  const starts = !wanted && run.follow === "play" && (more || another);
  Object.assign(s, { run, plan, at, settled: settledOf(plan, run.rounds) });
  fill(s);
  show(s, starts && calm() ? last : at);
  if (starts && !calm()) play(s);
  if (wanted) go(s, settledFrom(s.settled, end, 1) ?? last);
}

/** Go to a step: the one way the place changes. */
function go(s, at, { pause = false } = {}) {
  if (pause) stop(s);
  s.over = s.picked = null; // the panel follows the step again
  s.asked = 0;
  show(s, clamp(at, 0, s.plan.length - 1));
  clearTimeout(s.rest);
  if (!s.timer) s.rest = setTimeout(() => tell(s), REST);
}

function tell(s) {
  const place = placeOf(s.plan[s.at]), words = JSON.stringify(place);
  if (s.told === words) return;
  s.told = words;
  s.report(place);
}

/** To the step that settles the next written token; beyond the last, one round more if there can be. */
function toNext(s) {
  const next = settledFrom(s.settled, s.at, 1);
  if (next !== undefined || !s.run.more) return go(s, next ?? s.plan.length - 1, { pause: true });
  if (s.at !== s.plan.length - 1) go(s, s.plan.length - 1, { pause: true });
  if (Date.now() - s.asked < PATIENCE) return;
  s.asked = Date.now();
  s.ask(s.run.rounds.length);
  showControls(s, s.plan[s.at]);
}

// Play.

function play(s) {
  if (s.plan.length === 1) return;
  if (s.at === s.plan.length - 1) show(s, 0);
  clearTimeout(s.rest);
  const tick = () => {
    if (s.at === s.plan.length - 1) return stop(s, true);
    s.timer = setTimeout(tick, wait(s.at + 1));
    go(s, s.at + 1);
  };
  const wait = (at) => pauseAt(s.plan[at], s.run.rounds[s.plan[at].round], Number(s.find("select").value));
  s.timer = setTimeout(tick, 150);
  showControls(s, s.plan[s.at]);
}

function stop(s, report = false) {
  if (!s.timer) return;
  clearTimeout(s.timer);
  s.timer = 0;
  showControls(s, s.plan[s.at]);
  if (report) tell(s);
}

const ACTIONS = {
  next: (s) => go(s, s.at + 1, { pause: true }),
  back: (s) => go(s, s.at - 1, { pause: true }),
  first: (s) => go(s, 0, { pause: true }),
  last: (s) => go(s, s.plan.length - 1, { pause: true }),
  "round+": (s) => go(s, roundFrom(s.plan, s.at, 1), { pause: true }),
  "round-": (s) => go(s, roundFrom(s.plan, s.at, -1), { pause: true }),
  "written+": toNext,
  "written-": (s) => go(s, settledFrom(s.settled, s.at, -1) ?? 0, { pause: true }),
  "token+": (s) => walk(s, 1),
  "token-": (s) => walk(s, -1),
  play: (s) => (s.timer ? stop(s, true) : play(s)),
};

function onKey(s, event, where) {
  const target = event.target, on = target.type === "range" ? "range" : target.matches?.(".book") ? "scroll" : target.localName;
  const presenter = s.run.mode === "presenter";
  const action = actionOf(event, where, presenter, where === "stage" ? on : "");
  const leaves = { next: s.plan.length - 1, back: 0 }[action] === s.at || !inSight(s.root); // the page goes on, or back
  if (!action || (presenter && leaves)) return;
  event.preventDefault();
  event.stopPropagation();
  ACTIONS[action](s);
}

/** Enough of it to follow its steps: most of it, or of the screen. */
function inSight(root) {
  const { top, bottom, height } = root.querySelector(".main").getBoundingClientRect();
  return Math.min(bottom, innerHeight) - Math.max(top, 0) >= 0.75 * Math.min(height, innerHeight);
}

/** Keys pressed while nothing has the focus reach the first stage in sight. */
function onPageKey(s, event) {
  const here = document.activeElement;
  if (event.defaultPrevented || (here && here !== document.body) || !s.root.checkVisibility()) return;
  onKey(s, event, "page");
}

function onClick(s, event, ref) {
  const action = event.target.closest("[data-do]")?.dataset.do;
  if (action) return ACTIONS[action](s);
  if (!ref) return;
  look(s, { picked: ref });
  s.find(".panel").scrollIntoView({ block: "nearest" });
}
