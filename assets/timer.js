// A clock that runs in the browser: it asks nothing of the server.
import { faceOf } from "./timer_words.js";

const timers = new WeakMap(); // parentElement → state
const now = () => performance.now() / 1000;

export default function ({ data, parentElement }) {
  const s = timers.get(parentElement) ?? mount(parentElement);
  timers.set(parentElement, s);
  if (s.name !== data.name || !data.limit) begin(s, data);
  Object.assign(s, { data, name: data.name });
  s.root.setAttribute("aria-label", data.words.label);
  s.find(".controls").hidden = s.find(".track").hidden = !data.limit;
  show(s);
  return () => {
    clearInterval(s.ticks);
    timers.delete(parentElement);
  };
}

function mount(parent) {
  const root = parent.querySelector(".timer"), find = (what) => root.querySelector(what);
  const s = { root, find, name: null, gone: 0, since: null };
  root.onclick = (event) => ACTIONS[event.target.closest("[data-do]")?.dataset.do]?.(s);
  s.ticks = setInterval(() => s.since !== null && show(s), 200);
  return s;
}

function begin(s, data) {
  s.gone = data.elapsed ?? 0;
  s.since = data.limit ? null : now();
}

const elapsed = (s) => s.gone + (s.since === null ? 0 : now() - s.since);

const ACTIONS = {
  toggle(s) {
    s.gone = elapsed(s);
    s.since = s.since === null ? now() : null;
    show(s);
  },
  reset(s) {
    Object.assign(s, { gone: 0, since: null });
    show(s);
  },
};

function show(s) {
  const { words } = s.data, face = faceOf(s.data, elapsed(s));
  write(s.find(".digits"), face.digits);
  write(s.find(".side"), face.side);
  write(s.find("[data-do=toggle]"), s.since === null ? words.start : words.pause);
  write(s.find("[data-do=reset]"), words.reset);
  write(s.find(".said"), face.over ? words.minute : "");
  s.find(".track i").style.width = `${100 * face.share}%`;
  s.root.toggleAttribute("data-over", face.over);
}

const write = (node, words) => node.textContent === words || (node.textContent = words);
