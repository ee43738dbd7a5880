// A run on the screen: what a step does not change, and what it does.
import { clamp, countsAt, lastPass, shownAt } from "./stage_plan.js";
import { endOf, sourceOf } from "./stage_words.js";
import { ruleOf } from "./stage_rules.js";
import { sayOf, tallyOf } from "./stage_say.js";
import { factsOfDrafted, factsOfPrompt, factsOfWritten } from "./stage_facts.js";
import { make, put, write } from "./stage_dom.js";
import { fillRound, fillStrip, fitColumns, lanesSay, showRound } from "./stage_lanes.js";
import { fillClock, showClock, timesOf } from "./stage_clock.js";
import { fillLedger, showLedger } from "./stage_cells.js";
import { fillPanel } from "./stage_panel.js";

/** Everything that a step does not change. */
export function fill(s) {
  const { run, plan, find } = s;
  s.filled = s.edge = null;
  s.times = timesOf(run.clock);
  put(s.root, "data-mode", run.mode);
  put(s.root, "data-mended", run.rounds.some((r) => r.branches || r.drafted.some((t) => t.mended))); // room for a longer sentence
  s.items = fillStrip(s.strip, run);
  fitColumns(s.lanes, s.columns, run);
  const clock = JSON.stringify(run.clock);
  if (s.clock !== clock) fillClock(find(".clock"), s.times, run.settings.k === 0);
  s.clock = clock;
  write(find(".source"), sourceOf(run.source, run.settings));
  fillLedger(find(".ledger"), run);
  s.range.max = plan.length - 1;
  put(s.root, "data-idle", plan.length === 1);
  const ticks = plan.filter((p) => p.step === 0 && p.at > 0).map((p) => (100 * p.at) / (plan.length - 1));
  const drawn = ticks.join();
  if (s.ticks === drawn) return;
  s.ticks = drawn;
  find(".seams").replaceChildren(...ticks.map((x) => Object.assign(make("i", ""), { style: `left:${x}%` })));
}

/** Draw step `at`. */
export function show(s, at) {
  s.at = at;
  const { run, plan, find } = s, step = plan[at], round = run.rounds[step.round];
  const shown = shownAt(step, round), { tokens } = countsAt(step, run.rounds);
  if (s.filled !== step.round) {
    fillRound(s.columns, round, run, countsAt(plan[at - step.step], run.rounds).tokens);
    s.lanes.style.setProperty("--used", round ? round.drafted.length + 1 : 1);
    s.filled = step.round;
  }
  const active = ["draft", "accept"].includes(step.phase) ? `${step.phase}${step.i}` : step.phase;
  showRound(s.columns, round, run, shown, active);
  const kept = round ? lastPass(round, shown.judged) + 1 : 0; // by the last pass so far
  put(find(".keep"), "hidden", !kept);
  s.lanes.style.setProperty("--kept", Math.max(kept, 1));
  put(s.lanes, "data-verified", shown.verified);
  put(s.lanes, "data-phase", step.phase);
  const said = lanesSay(round, run, shown);
  s.lanes.querySelectorAll(".label span").forEach((node, i) => write(node, Object.values(said)[i]));
  showStrip(s, tokens, shown.written ? tokens - round.written.length : tokens);
  write(find(".say"), sayOf(step, run));
  showClock(find(".clock"), s.times, step, run, tokens);
  showLedger(find(".ledger"), step, round, run, shown);
  showControls(s, step);
  rove(s);
  showPanel(s);
  scrollStrip(s, tokens);
}

function showStrip(s, tokens, fresh) {
  for (const { node, ref } of s.items) {
    const at = ref?.startsWith("w") ? Number(ref.slice(1)) : -1, on = at < tokens;
    put(node, "data-on", on);
    put(node, "data-fresh", on && at >= fresh);
  }
}

/** Keep the last token in sight; last of all, as it asks for the layout. */
function scrollStrip(s, tokens) {
  const edge = s.items[s.items.length - s.run.rounds.reduce((n, r) => n + r.written.length, 0) + tokens - 1]?.node;
  if (s.edge === edge) return;
  s.edge = edge;
  s.strip.scrollTop = edge.offsetTop + edge.offsetHeight - s.strip.clientHeight + 5; // its padding
}

export function showControls(s, step) {
  const { plan, run, find, range } = s, end = s.at === plan.length - 1;
  range.value = s.at;
  range.style.setProperty("--done", `${(100 * s.at) / Math.max(plan.length - 1, 1)}%`);
  const place = step.round < 0 ? "no round yet" : `round ${step.round + 1} of ${run.rounds.length} · step ${step.step} of ${step.last}`;
  put(range, "aria-valuetext", place);
  write(find(".place"), place);
  write(find(".tally"), tallyOf(step, run.rounds));
  write(find(".end"), s.asked ? "one round more …" : endOf(run.end));
  put(find(".end"), "data-on", end);
  const onward = find("[data-do='written+']"), asks = end && run.more;
  put(onward, "aria-disabled", end && !run.more ? "true" : null);
  put(onward, "aria-label", asks ? "One round more" : "To the next written token");
  put(onward, "title", asks ? "One round more, to its first token (.)" : "To the next written token (.)");
  for (const name of ["first", "written-", "back"]) put(find(`[data-do="${name}"]`), "aria-disabled", s.at === 0 ? "true" : null);
  for (const name of ["next", "last"]) put(find(`[data-do=${name}]`), "aria-disabled", end ? "true" : null);
  write(find(".play span"), s.timer ? "Pause" : "Play");
  put(find(".play"), "data-playing", Boolean(s.timer));
}

// Tokens: one tab stop, ↑ ↓ walk, the panel tells.

const tokensOf = (s) => [...s.root.querySelectorAll(".strip .tok[data-on], .cell[data-on] .tok:not([hidden])")];
const focused = (s) => s.root.getRootNode().activeElement;

function rove(s) {
  const tokens = tokensOf(s), here = focused(s);
  const lost = here?.matches?.(".tok[data-ref]") && !tokens.includes(here);
  const stop = tokens.includes(here) ? here : s.root.querySelector(".cell.draft[data-active][data-on] .tok") ?? tokens.at(-1);
  if (s.stop && s.stop !== stop) s.stop.tabIndex = -1;
  if (stop) stop.tabIndex = 0;
  s.stop = stop;
  if (lost) s.root.focus({ preventScroll: true });
}

export function walk(s, way) {
  const tokens = tokensOf(s), here = tokens.indexOf(focused(s));
  const next = here < 0 ? s.stop : tokens[clamp(here + way, 0, tokens.length - 1)];
  next?.focus();
}

export function choose(s, node) {
  if (s.stop) s.stop.tabIndex = -1;
  node.tabIndex = 0;
  s.stop = node;
  look(s, { picked: node.dataset.ref });
}

export function look(s, what) {
  Object.assign(s, what);
  showPanel(s);
}

/** The token that the panel is about: under the pointer, chosen, or the step's own. */
function showPanel(s) {
  const ref = [s.over, s.picked, ownRef(s)].find((r) => r && factsOf(s, r));
  const key = ref && `${ref} ${s.at}`;
  if (s.panelKey === key && s.panelRun === s.run) return;
  Object.assign(s, { panelKey: key, panelRun: s.run });
  fillPanel(s.find(".panel"), ref ? factsOf(s, ref) : null);
}

function ownRef(s) {
  const step = s.plan[s.at], round = s.run.rounds[step.round];
  if (["draft", "accept", "discard"].includes(step.phase)) return `d${step.i}`;
  if (step.phase === "verify") return round.drafted.length ? "d0" : null;
  return step.phase === "write" ? `w${countsAt(step, s.run.rounds).tokens - 1}` : null;
}

function factsOf(s, ref) {
  const { run, plan } = s, step = plan[s.at], round = run.rounds[step.round], i = Number(ref.slice(1));
  if (ref[0] === "p") return run.prompt[i] ? factsOfPrompt(run.prompt[i]) : null;
  const shown = shownAt(step, round);
  if (ref[0] === "d") return i < shown.drafted ? factsOfDrafted(round, i, shown, ruleOf(round, run)) : null;
  if (i >= countsAt(step, run.rounds).tokens) return null;
  let first = 0, r = 0;
  while (first + run.rounds[r].written.length <= i) first += run.rounds[r++].written.length;
  return factsOfWritten(run.rounds[r], i - first, ruleOf(run.rounds[r], run));
}
