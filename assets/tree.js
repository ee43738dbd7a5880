// A round's guesses as a tree. The place lives here and is told to the page when it rests.
import { put, write } from "./stage_dom.js";
import { nodeFrom, placeIn, roomOf } from "./tree_plan.js";
import { fillAbout, fillRows, fillTree, fillWrote, lightPath } from "./tree_draw.js";
import { fillMask, markRow } from "./tree_mask.js";

const REST = 250; // ms: a walk through rounds is one message
const mounted = new WeakMap(); // parentElement → state: the function below runs on every rerun

export default function ({ data, parentElement, setStateValue }) {
  const s = mounted.get(parentElement) ?? mount(parentElement);
  mounted.set(parentElement, s);
  s.tell = (place) => setStateValue("place", place);
  const told = JSON.stringify(data);
  if (s.told !== told) receive(s, data);
  s.told = told;
  return () => {
    clearTimeout(s.timer);
    mounted.delete(parentElement);
  };
}

function mount(parent) {
  const root = parent.querySelector(".tree"), find = (what) => root.querySelector(what);
  const s = { root, find, range: find("input"), canvas: find(".canvas"), mask: find(".mask"), timer: null };
  root.onkeydown = (event) => onKey(s, event);
  root.onclick = (event) => onClick(s, event.target);
  s.range.oninput = () => go(s, Number(s.range.value), 0);
  return s;
}

function receive(s, { rounds, start }) {
  Object.assign(s, { rounds, room: roomOf(rounds), drawn: 0 });
  s.range.max = Math.max(1, rounds.length);
  show(s, placeIn(rounds, start));
}

/** Draw a place. */
function show(s, place) {
  const round = s.rounds[place.round - 1], at = place.node - 1;
  s.place = place;
  if (!round) return;
  if (s.drawn !== place.round) {
    fillTree(s.canvas, round, s.room);
    fillWrote(s.find(".wrote"), round);
    fillMask(s.mask, round);
    fillRows(s.find(".rows tbody"), round);
    s.drawn = place.round;
  }
  lightPath(s.canvas, round.nodes, at);
  fillAbout(s.find(".about"), round, at);
  markRow(s.mask, at);
  s.range.value = place.round;
  s.range.style.setProperty("--done", `${(100 * (place.round - 1)) / Math.max(1, s.rounds.length - 1)}%`);
  put(s.range, "aria-valuetext", `round ${place.round} of ${s.rounds.length}`);
  write(s.find(".place"), `round ${place.round} of ${s.rounds.length}`);
  for (const name of ["first", "back"]) put(s.find(`[data-do=${name}]`), "aria-disabled", place.round > 1 ? null : "true");
  for (const name of ["next", "last"]) put(s.find(`[data-do=${name}]`), "aria-disabled", place.round < s.rounds.length ? null : "true");
}

function go(s, round, node, focus = false) {
  show(s, placeIn(s.rounds, { round, node }));
  if (focus) s.canvas.querySelector("[aria-current]")?.focus({ preventScroll: true });
  clearTimeout(s.timer);
  s.timer = setTimeout(() => s.tell(s.place), REST);
}

const ACTIONS = {
  first: (s) => go(s, 1, 0),
  back: (s) => go(s, s.place.round - 1, 0),
  next: (s) => go(s, s.place.round + 1, 0),
  last: (s) => go(s, s.rounds.length, 0),
};

function onClick(s, target) {
  const action = target.closest("[data-do]")?.dataset.do, node = target.closest("[data-node]")?.dataset.node;
  if (action) ACTIONS[action](s);
  else if (node) go(s, s.place.round, Number(node) + 1, Boolean(target.closest(".canvas")));
}

const WAYS = { ArrowRight: "out", ArrowLeft: "in", ArrowUp: "up", ArrowDown: "down" };

function onKey(s, event) {
  const { key, shiftKey, altKey, ctrlKey, metaKey, target } = event;
  if (altKey || ctrlKey || metaKey || target.type === "range" || target.matches(".scroll")) return;
  const rounds = shiftKey && { ArrowRight: 1, ArrowLeft: -1 }[key];
  if (!rounds && (shiftKey || !(key in WAYS))) return;
  event.preventDefault();
  event.stopPropagation();
  if (rounds) return go(s, s.place.round + rounds, 0);
  const { nodes } = s.rounds[s.place.round - 1];
  go(s, s.place.round, nodeFrom(nodes, s.place.node - 1, WAYS[key]) + 1, true);
}
