// Two runs beside each other. The browser keeps the fold and the scrolling; the page hears nothing.
import { make, put, write } from "./stage_dom.js";
import { columnsOf, foldedOf } from "./beside_plan.js";
import { fillGrid, fillRows } from "./beside_strips.js";

const mounted = new WeakMap(); // parentElement → state: the function below runs on every rerun
const calm = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

export default function ({ data, parentElement }) {
  const s = mounted.get(parentElement) ?? mount(parentElement);
  mounted.set(parentElement, s);
  const told = JSON.stringify(data);
  if (s.told !== told) receive(s, data);
  s.told = told;
  return () => mounted.delete(parentElement);
}

function mount(parent) {
  const root = parent.querySelector(".beside"), find = (what) => root.querySelector(what);
  const s = { root, find, scroll: find(".scroll") };
  root.onclick = (event) => ACTIONS[event.target.closest("[data-do]")?.dataset.do]?.(s);
  root.onkeydown = (event) => {
    if (event.key.toLowerCase() !== "f" || event.altKey || event.ctrlKey || event.metaKey || s.data.first === null) return;
    event.preventDefault();
    jump(s);
  };
  find("details").ontoggle = () => fillTable(s);
  return s;
}

function receive(s, data) {
  const { strips, first } = data;
  Object.assign(s, { data, columns: columnsOf(strips, first), folded: foldedOf(first) });
  put(s.find("[data-do=jump]"), "hidden", first === null);
  put(s.find("[data-do=fold]"), "hidden", !s.folded);
  put(s.find(".key .mark-word"), "hidden", first === null);
  s.find("thead tr").replaceChildren(...["token", ...strips.map((x) => x.label), ""].map((text) => {
    const cell = make("th", "", text);
    put(cell, "scope", "col");
    return cell;
  }));
  draw(s, s.folded);
  fillTable(s);
  reach(s);
}

function draw(s, hidden) {
  s.hidden = hidden;
  fillGrid(s.find(".grid"), s.columns, s.data.strips, hidden);
  const button = s.find("[data-do=fold]");
  put(button, "aria-expanded", hidden ? "false" : "true");
  write(button, hidden ? `Show all ${s.data.first} equal tokens` : "Fold the equal tokens");
}

function fillTable(s) {
  if (s.find("details").open) fillRows(s.find("tbody"), s.columns, s.data);
}

/** Bring the first difference into the middle of both strips; the page itself stays. */
function reach(s, behavior = "auto") {
  const frame = s.find(".frame"), labels = s.find(".corner").offsetWidth;
  if (!frame) return null;
  const room = Math.max((s.scroll.clientWidth - labels - frame.offsetWidth) / 2, 8); // a wide one from its beginning
  s.scroll.scrollTo({ left: frame.offsetLeft - labels - room, behavior });
  return frame;
}

function jump(s) {
  reach(s, calm() ? "auto" : "smooth")?.focus({ preventScroll: true });
}

const ACTIONS = {
  jump,
  fold: (s) => (draw(s, s.hidden ? 0 : s.folded), reach(s)),
  unfold: (s) => (draw(s, 0), s.find("[data-do=fold]").focus({ preventScroll: true }), (s.scroll.scrollLeft = 0)),
};
