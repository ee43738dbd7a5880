// What hands do: drag or press keys on bars and pins, type into fields. Each ends in one change of state.
import { FLOAT, parseRatio, ratio } from "./overlap_ratio.js";
import { drawOf } from "./overlap_rule.js";
import { freeName, moved, nameOf, normalised, stepped } from "./overlap_edit.js";

const KEYS = { ArrowUp: 1, ArrowRight: 1, ArrowDown: -1, ArrowLeft: -1, PageUp: 10, PageDown: -10, Home: -Infinity, End: Infinity };

/** Steps that a key asks for, Shift for ten at once; null if it is no key of a slider. */
export function stepOf({ key, shiftKey, altKey, ctrlKey, metaKey }) {
  if (altKey || ctrlKey || metaKey || !(key in KEYS)) return null;
  return KEYS[key] * (shiftKey && Math.abs(KEYS[key]) === 1 ? 10 : 1);
}

const within = (x, most) => Math.min(most, Math.max(0, x));

/** A bar to so many hundredths. One bar moved to and fro ends where it began: all is counted from there. */
export function setBar(s, law, i, hundredths) {
  const { base } = s;
  if (base?.law !== law || base.i !== i || base.last !== s.state[law]) s.base = { law, i, from: s.state[law] };
  s.base.last = moved(s.base.from, i, hundredths);
  s.change({ [law]: s.base.last });
}

export function keyOnBar(s, bar, by) {
  const { law, i } = bar.dataset, at = s.state[law][i];
  setBar(s, law, Number(i), Number.isFinite(by) ? stepped(at, by) : by > 0 ? 100 : 0);
}

export function keyOnPin(s, name, by) {
  s.change({ [name]: within(Number.isFinite(by) ? s.state[name] + 10 * by : by, 999) });
}

/** Take hold of a bar or a pin: what follows the pointer until it lets go. */
export function grab(s, event, node) {
  const rect = (node.matches(".bar") ? node : node.parentElement).getBoundingClientRect();
  const { law, i, line } = node.closest("[data-line], .bar").dataset;
  const move = law
    ? (e) => setBar(s, law, Number(i), Math.round(within((rect.bottom - e.clientY) / rect.height, 1) * 100))
    : (e) => s.change({ [line]: within(Math.round(((e.clientX - rect.left) / rect.width) * 1000), 999) });
  s.base = null;
  s.held = true;
  node.setPointerCapture(event.pointerId);
  node.onpointermove = move;
  node.onlostpointercapture = () => {
    node.onpointermove = null;
    s.held = false;
    s.settle();
  };
  move(event);
}

/** A field was left: take what it says, or keep it with its fault. */
export function typed(s, field) {
  const what = field.dataset.field, i = Number(field.dataset.i), key = `${what} ${i}`, list = what === "name" ? "names" : what;
  const changed = (value) => s.state[list].map((old, j) => (j === i ? value : old));
  try {
    const value = what === "name" ? nameOf(field.value, s.state.names, i) : parseRatio(field.value);
    s.faults.delete(key);
    s.change({ [list]: changed(value) });
  } catch (error) {
    s.faults.set(key, error.message);
    s.change({});
  }
}

/** A token more, with p = q = 0, or one less; nothing else moves, so a sum may want mending. */
export function addToken(s) {
  const { names, p, q } = s.state;
  s.change({ names: [...names, freeName(names)], p: [...p, ratio(0n)], q: [...q, ratio(0n)] });
}

export function removeToken(s, i) {
  const without = (list) => list.filter((_, j) => j !== i), { names, p, q, x } = s.state;
  s.faults.clear();
  s.change({ names: without(names), p: without(p), q: without(q), x: x > i ? x - 1 : Math.min(x, names.length - 2) });
}

export function mend(s, law) {
  const fixed = normalised(s.state[law]);
  if (fixed) s.change({ [law]: fixed });
}

/** Chance draws the token from q, and u, and w. */
export function drawAll(s, scene) {
  const some = () => Math.floor(Math.random() * 1000), { N, q } = scene;
  s.change({ x: drawOf(FLOAT, q.map(N.value), Math.random()), u: some(), w: some() });
}
