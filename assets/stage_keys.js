// Keys and the pace of play. Pure.

const KEYS = {
  ArrowRight: "next", ArrowLeft: "back", PageDown: "next", PageUp: "back", Home: "first", End: "last",
  ArrowDown: "token+", ArrowUp: "token-", " ": "play",
};
const TOKENS = { ".": "written+", ",": "written-" };
const OWN = { // keys that some things in the stage have a use for
  range: ["ArrowUp", "ArrowDown"],
  scroll: ["ArrowUp", "ArrowDown", "PageUp", "PageDown", "Home", "End"],
};

/** What a key does, or null. `where`: "stage" (focus is in it) or "page" (focus is nowhere). */
export function actionOf(event, where, presenter = false, on = "") {
  const { key, shiftKey, altKey, ctrlKey, metaKey } = event;
  if (altKey || ctrlKey || metaKey || on === "select") return null;
  if (key === " " && (on === "button" || on === "summary")) return null; // the button's own click
  if (OWN[on]?.includes(key)) return null;
  if (key in TOKENS) return TOKENS[key]; // with or without shift: layouts differ
  if (shiftKey && key === "ArrowRight") return "round+";
  if (shiftKey && key === "ArrowLeft") return "round-";
  if (shiftKey) return null;
  if (presenter && key === " ") return "next";
  if (presenter && key.toLowerCase() === "p") return "play";
  if (where === "page" && !presenter && !["ArrowRight", "ArrowLeft"].includes(key)) return null; // they scroll
  return KEYS[key] ?? null;
}

const PAUSE = { empty: 0, before: 900, draft: 550, verify: 1300, accept: 1100, discard: 1200, write: 1500 }; // ms

/** How long a step stays while playing, in ms; a surprise a little longer. */
export function pauseAt(step, round, speed) {
  return (PAUSE[step.phase] + (step.phase === "accept" && surprises(round, step.i) ? 600 : 0)) / speed;
}

/** A rejection; where the last pass decides, a pass that saves what failed before it. */
const surprises = ({ drafted }, i) => (drafted[i].passed === null ? drafted[i].verdict === "rejected" : drafted[i].passed && drafted[i - 1]?.passed === false);
