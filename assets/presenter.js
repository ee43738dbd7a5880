// Presenter mode: one key goes on. A stage in sight takes the keys first, then the page scrolls, then the next page opens.
import { focusOf, nextTop, presenterAction } from "./presenter_keys.js";
import { classOf, classWords, ended, moved } from "./presenter_class.js";

const REPORTED = 450; // ms: by then a stage has told its place; told later, it would call its page back
const PATIENCE = 3000; // ms that a page may take to come
const modes = new WeakMap(); // parentElement → state
const calm = () => matchMedia("(prefers-reduced-motion: reduce)").matches;
const main = () => document.querySelector("[data-testid=stMain]");
const html = () => document.documentElement;

export default function ({ data, parentElement, setTriggerValue }) {
  const s = modes.get(parentElement) ?? mount(parentElement, data.entered);
  modes.set(parentElement, s);
  s.turn = (way) => setTriggerValue("turn", way);
  s.leave = () => setTriggerValue("leave", true);
  if (html().dataset.page !== data.page) main().scrollTo({ top: 0, behavior: "instant" });
  html().dataset.page = data.page;
  if (s.page !== data.page) Object.assign(s, { page: data.page, aim: null, been: [], turned: 0 });
  s.data = data;
  fill(s);
  return () => {
    s.ends.abort();
    clearInterval(s.ticks);
    modes.delete(parentElement);
  };
}

function mount(parent, entered) {
  if (entered) ended(sessionStorage); // a class is presented by its links; one that was left by the browser is over
  const root = parent.querySelector(".presenter"), find = (what) => root.querySelector(what);
  const s = { root, find, page: null, aim: null, been: [], turned: 0, pressed: 0, before: 0, ends: new AbortController() }, signal = { signal: s.ends.signal };
  html().dataset.controls ??= "folded";
  root.onclick = (event) => {
    const action = event.target.closest("[data-do]")?.dataset.do;
    if (action) pressed(s, action);
  };
  addEventListener("keydown", () => ([s.before, s.pressed] = [s.pressed, Date.now()]), { ...signal, capture: true });
  addEventListener("keydown", (event) => onKey(s, event), signal); // after a stage, which listens on the document
  addEventListener("click", freeKeys, signal);
  s.ticks = setInterval(() => fill(s), 5000);
  document.activeElement?.matches("button, a") && document.activeElement.blur();
  return s;
}

function fill(s) {
  const run = classOf(sessionStorage);
  const { place, clock } = run ? classWords(run, Date.now()) : { place: s.data.place, clock: "" };
  write(s.find(".place"), place);
  write(s.find(".clock"), clock);
  s.find("[data-do=controls]").setAttribute("aria-pressed", String(html().dataset.controls === "shown"));
  const rows = s.data.keys.map(([keys, meaning]) => {
    const row = document.createElement("tr"), name = document.createElement("th"), words = document.createElement("td");
    name.scope = "row";
    name.textContent = keys;
    words.textContent = meaning;
    row.append(name, words);
    return row;
  });
  if (!s.find("tbody").childElementCount) s.find("tbody").replaceChildren(...rows);
}

const write = (node, words) => node.textContent === words || (node.textContent = words);

// Keys.

function onKey(s, event) {
  if (event.defaultPrevented || event.isComposing) return;
  const node = event.composedPath()[0];
  const on = node.localName ? focusOf({ tag: node.localName, type: node.type, role: node.getAttribute("role") ?? "", editable: node.isContentEditable }) : "";
  const action = presenterAction(event, on);
  if (!action || (action === "leave" && unfoldedAbove())) return;
  event.preventDefault();
  ACTIONS[action](s);
}

/** Something lies over the page that Escape closes first. */
const unfoldedAbove = () => document.querySelector("[popover]:popover-open, [data-testid=stPopoverBody], [data-testid=stDialog], [role=listbox]");

/** A button of the bar: what its key does. The keys of a stage are keys, so they are pressed. */
function pressed(s, action) {
  const key = { next: "PageDown", back: "PageUp" }[action];
  if (!key) return ACTIONS[action](s);
  document.activeElement?.blur();
  document.body.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
}

/** What was clicked lets go of the keyboard: Space is to go on, not to press it again. */
function freeKeys(event) {
  if (!event.detail) return; // pressed by a key
  event.composedPath().find((node) => node.matches?.("button, summary, a"))?.blur();
}

const ACTIONS = {
  next: (s) => scrolled(s, nextTop(blocks(), now(s), sight(), end())) || turn(s, 1),
  back: (s) => {
    if (now(s) <= 2) return turn(s, -1);
    scrolled(s, s.been.pop() ?? Math.max(0, now(s) - 0.8 * sight()), true);
  },
  "page+": (s) => turn(s, 1),
  "page-": (s) => turn(s, -1),
  answer: () => answers(),
  controls: (s) => {
    html().dataset.controls = html().dataset.controls === "shown" ? "folded" : "shown";
    fill(s);
  },
  help: (s) => s.find(".keys").togglePopover(),
  leave: (s) => {
    ended(sessionStorage);
    s.leave();
  },
};

function turn(s, way) {
  const run = classOf(sessionStorage);
  if (Date.now() - s.turned < PATIENCE) return; // on its way
  s.turned = Date.now();
  if (!run) return setTimeout(() => s.turn(way), Math.max(0, s.before + REPORTED - Date.now()));
  const url = moved(sessionStorage, run, way), next = url && new URL(url, location.href);
  if (next?.origin === location.origin) location.assign(next);
}

// The page.

const sight = () => main().clientHeight - 56; // the bar lies over the rest
const end = () => main().scrollHeight - main().clientHeight;

/** Where the page is, or is going while it scrolls. */
const now = (s) => (s.aim !== null && Math.abs(s.aim - main().scrollTop) > 2 && Date.now() - s.since < 600 ? s.aim : main().scrollTop);

function scrolled(s, top, back = false) {
  if (top === null) return false;
  if (!back) s.been.push(now(s));
  Object.assign(s, { aim: top, since: Date.now() });
  main().scrollTo({ top, behavior: calm() ? "auto" : "smooth" });
  return true;
}

/** The blocks of the page, from the top of its content. */
function blocks() {
  const list = main().querySelector("[data-testid=stMainBlockContainer] [data-testid=stVerticalBlock]"), zero = main().getBoundingClientRect().top - main().scrollTop;
  return [...(list?.children ?? [])].map((node) => {
    const { top, bottom, height } = node.getBoundingClientRect();
    return { top: top - zero, bottom: bottom - zero, height, heading: Boolean(node.querySelector(":scope > [data-testid=stHeading]")) };
  }).filter(({ height }) => height > 0);
}

/** Open the first folded box in sight; a prediction before others. With none folded, fold them all. */
function answers() {
  const { top, bottom } = main().getBoundingClientRect();
  const seen = [...main().querySelectorAll("[data-testid=stExpander] details")].filter((box) => {
    const at = box.getBoundingClientRect();
    return at.height && at.bottom > top && at.top < bottom - 56;
  });
  const folded = seen.filter((box) => !box.open), asked = folded.find((box) => /^Predict/.test(box.textContent.trim()));
  for (const box of folded.length ? [asked ?? folded[0]] : seen) box.querySelector("summary").click();
}
