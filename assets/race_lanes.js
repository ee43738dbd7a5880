// The lanes on the screen: filled once, then only flipped on and off.
import { GLYPH, nameOf } from "./stage_words.js";
import { fillToken, make, put, write } from "./stage_dom.js";
import { gapsOf, standAt } from "./race_plan.js";
import { gapsSay, laneSays, ms } from "./race_words.js";

/** A token as a box; without a text of its own, where there is none to show. */
function boxOf(token, blank, seam) {
  const node = make("span", blank ? "tok blank" : "tok");
  node.append(make("span", "glyph", GLYPH[token.kind]), make("bdi", "text"));
  node.firstChild.setAttribute("aria-hidden", "true");
  node.lastChild.dir = "auto";
  if (!blank) fillToken(node, token.text);
  put(node, "role", "listitem");
  put(node, "data-kind", token.kind);
  put(node, "data-seam", seam);
  put(node, "aria-label", blank ? token.kind : nameOf(token, token.kind));
  return node;
}

function tickOf(lane, i, total, most) {
  const node = make("i", "tick"), written = lane.sums[i] - (lane.sums[i - 1] ?? 0);
  node.style.left = `${(100 * lane.ends[i]) / total}%`;
  node.style.height = `${20 + (80 * written) / most}%`;
  return node;
}

/** Draw a lane: its passes on the track, its tokens in their places. */
export function fillLane(view, lane, told, total, most) {
  write(view.track.querySelector(".name"), told.name);
  write(view.track.querySelector(".about"), told.about);
  write(view.text.querySelector(".name"), told.name);
  write(view.text.querySelector(".note"), told.note);
  view.bar.replaceChildren(make("i", "gone"), ...lane.ends.map((_, i) => tickOf(lane, i, total, most)));
  view.boxes = told.passes.flatMap((pass, r) => pass.map((token, i) => boxOf(token, told.blank, i === 0 && r > 0)));
  view.strip.replaceChildren(...view.boxes);
  view.on = view.fresh = 0;
}

/** Bring a lane to a time. */
export function showLane(view, lane, time, total) {
  const { passes, tokens, over } = standAt(lane, time);
  view.bar.firstChild.style.transform = `scaleX(${Math.min(time, lane.end) / total})`;
  laneSays(lane, time).forEach((words, i) => write(view.numbers.children[i], words));
  put(view.track, "data-over", over);
  const fresh = passes ? lane.sums[passes - 2] ?? 0 : 0;
  if (view.on === tokens) return;
  const from = Math.min(view.on, tokens, view.fresh, fresh), to = Math.max(view.on, tokens);
  view.boxes.slice(from, to).forEach((node, i) => {
    put(node, "data-on", from + i < tokens);
    put(node, "data-fresh", from + i >= fresh && from + i < tokens);
  });
  Object.assign(view, { on: tokens, fresh });
  const edge = view.boxes[tokens - 1];
  view.strip.scrollTop = edge ? edge.offsetTop + edge.offsetHeight - view.strip.clientHeight + 5 : 0;
}

const row = (cells) => {
  const node = make("tr", "");
  node.append(...cells.map((text, i) => make(i ? "td" : "th", "", text)));
  put(node.firstChild, "scope", "row");
  return node;
};

/** The waits between tokens of both lanes. */
export function fillGaps(root, lanes, names) {
  const gaps = lanes.map(gapsOf);
  const rows = gaps.map((g, i) => row([names[i], ...(g ? [`${g.none} of ${g.count}`, ms(g.p50), ms(g.p90), ms(g.max)] : ["–", "–", "–", "–"])]));
  root.querySelector("tbody").replaceChildren(...rows);
  write(root.querySelector("p"), gapsSay(gaps));
}

/** Every pass of both lanes, in the order in which they end. */
export function fillPasses(body, lanes, told) {
  const passes = lanes.flatMap((lane, l) => lane.ends.map((end, i) => ({ end, l, i })));
  passes.sort((a, b) => a.end - b.end || a.l - b.l);
  const text = ({ l, i }) => (told[l].blank ? told[l].passes[i].map((t) => t.kind).join(", ") : told[l].passes[i].map((t) => t.text).join(""));
  body.replaceChildren(...passes.map((p) => row([ms(p.end), told[p.l].name, String(p.i + 1), text(p), String(lanes[p.l].sums[p.i])])));
}
