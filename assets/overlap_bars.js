// The picture: for each token the bars of p and q side by side, what they share in green.
import { dress, each, make, put, raise, write } from "./overlap_dom.js";
import { textOf } from "./overlap_ratio.js";
import { quoted } from "./overlap_words.js";

const GLYPH = { kept: "✓", over: "✗", gap: "↻" };
const ROOM = 0.075; // of the height: below it a block has no room for its glyph
const LAWS = ["p", "q"];

function makeBar(law) {
  const bar = make("div", `bar ${law}`);
  dress(bar, { role: "slider", "data-law": law, "aria-orientation": "vertical", "aria-valuemin": 0, "aria-valuemax": 1 });
  bar.append(make("span", "block low"), make("span", "block high"), make("span", "edge"), make("span", "value"));
  return bar;
}

function makeGroup() {
  const group = make("li", "group"), bars = make("div", "bars"), feet = make("div", "feet"), label = make("label", "pick"), radio = make("input");
  bars.append(...LAWS.map(makeBar));
  feet.append(make("span", "", "p"), make("span", "", "q"));
  put(feet, "aria-hidden", "true");
  Object.assign(radio, { type: "radio", name: "x" });
  label.append(radio, make("bdi"));
  group.append(bars, feet, label);
  return group;
}

/** The round end of the axis: 1 where bars can be dragged. */
export const endOf = (most, fixed) => (fixed ? ([0.1, 0.2, 0.4, 0.6, 0.8].find((end) => most <= end) ?? 1) : 1);

export function drawBars(s, scene) {
  const { names, facts, N } = scene, end = s.end;
  each(s.find(".groups"), names, makeGroup, (group, name, i) => {
    const [bars, , label] = group.children;
    LAWS.forEach((law, at) => drawBar(bars.children[at], {
      name, law, i, x: scene[law][i], end, N, free: s.exact && !scene.tempered,
      kept: facts && N.value(facts.kept[i]), kind: law === "p" ? "gap" : "over",
    }));
    label.firstChild.checked = s.state.x === i;
    label.firstChild.dataset.i = i;
    put(label.firstChild, "aria-label", `draft ${quoted(name)}`);
    write(label.lastChild, name);
    label.title = name;
    put(group, "data-picked", s.state.x === i);
  });
  put(s.find(".groups"), "data-many", names.length > 5);
  s.find(".groups").style.setProperty("--n", names.length);
  each(s.find(".axis"), [0, 0.25, 0.5, 0.75, 1], () => make("span"), (tick, share) => {
    tick.style.bottom = `${share * 100}%`;
    put(tick, "data-at", Number((share * end).toFixed(3)));
  });
}

function drawBar(bar, { name, law, i, x, end, N, free, kept, kind }) {
  const [low, high, edge, value] = bar.children, height = N.value(x) / end, green = kept === null ? 0 : kept / end;
  bar.dataset.i = i;
  raise(low, 0, green);
  raise(high, green, height);
  low.dataset.kind = "kept";
  high.dataset.kind = kept === null ? "raw" : kind;
  put(low, "data-glyph", green > ROOM ? GLYPH.kept : "");
  put(high, "data-glyph", kept !== null && height - green > ROOM ? GLYPH[kind] : "");
  high.hidden = height - green <= 1e-12;
  edge.style.bottom = value.style.bottom = `${Math.min(height, 1) * 100}%`;
  write(value, shortOf(x));
  const said = `${law} of ${quoted(name)}: ${textOf(x)}`;
  put(bar, "aria-label", `${law} of ${quoted(name)}`);
  put(bar, "aria-valuenow", N.value(x));
  put(bar, "aria-valuetext", said);
  put(bar, "aria-disabled", !free && "true");
  bar.tabIndex = free ? 0 : -1;
  bar.title = said;
}

/** A fraction if there is room for it, else its digits. */
function shortOf(x) {
  const text = textOf(x);
  return text.length <= 7 || typeof x === "number" ? text : (Number(x.n) / Number(x.d)).toFixed(3);
}
