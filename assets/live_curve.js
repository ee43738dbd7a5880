// Speed-up against k and against α, redrawn while the reader drags; theory.js stands before this.
// Python hears of a change once, when it is settled.

/** The round number at or above x that an axis ends with, and the step of its ticks. */
export function axis(x) {
  const ends = [[1.5, 0.5], [2, 0.5], [3, 1], [4, 1], [5, 1], [6, 1], [8, 2], [10, 2], [12, 3], [16, 4], [20, 5], [25, 5]];
  const step = Math.ceil(x / 50) * 10;
  return ends.find(([end]) => end >= x) ?? [Math.ceil(x / step) * step, step];
}

const WORDS = {
  faster: "▲ faster than plain", slower: "▼ slower than plain", same: "= as fast as plain",
  slow: "slower than plain decoding", plain: "1× plain decoding",
  never: "even α = 1 is too slow", none: "none", beyond: "no k is best", you: "you", best: "best",
};
const times = (x) => `${x.toFixed(2)}×`;
const short = (x) => String(Number(x.toFixed(4)));
const NAMES = ["k", "alpha", "c", "v"];
const mounted = new WeakMap();

export default function ({ data, parentElement, setStateValue }) {
  const s = mounted.get(parentElement) ?? mount(parentElement);
  mounted.set(parentElement, s);
  Object.assign(s, { data, send: (point) => setStateValue("point", point) });
  if (s.revision !== data.revision) {  // set from outside: a link, a preset. Else the hand is ahead of the answer
    Object.assign(s, { revision: data.revision, point: { ...data.point }, sent: { ...data.point } });
  }
  for (const name of NAMES) {
    const [min, max, step] = data.ranges[name];
    for (const input of [s.ranges[name], s.numbers[name]]) Object.assign(input, { min, max, step });
  }
  draw(s);
  return () => {
    s.sizes.disconnect();
    mounted.delete(parentElement);
  };
}

function mount(parent) {
  const find = (what) => parent.querySelector(what);
  const inputs = (type) => Object.fromEntries(
    NAMES.map((name) => [name, find(`[data-name=${name}] input[type=${type}]`)]));
  const s = { find, ranges: inputs("range"), numbers: inputs("number"), held: false };
  for (const name of NAMES) {
    s.ranges[name].oninput = () => set(s, name, s.ranges[name].valueAsNumber);
    s.numbers[name].oninput = () => set(s, name, s.numbers[name].valueAsNumber);
    s.ranges[name].onchange = s.numbers[name].onchange = () => { if (!s.held) settle(s); };
  }
  const controls = find(".controls");  // a key held down changes a slider many times: told once, at its end
  controls.onkeydown = (event) => { s.held = event.target.type === "range"; };
  controls.onkeyup = () => { if (s.held) { s.held = false; settle(s); } };  // typing goes on until Enter or Tab
  controls.onfocusout = () => { s.held = false; settle(s); };
  grab(s, find(".main svg"), "k", (share) => Math.round(share * s.data.ranges.k[1]));
  grab(s, find(".side svg"), "alpha", (share) => Math.round(share * 100) / 100);
  find("details").ontoggle = () => draw(s);
  s.sizes = new ResizeObserver(() => { measure(s); draw(s); });
  s.sizes.observe(find(".figures"));
  measure(s);
  return s;
}

/** Sizes in px are read when they change, not at every redraw: reading makes the browser lay out. */
function measure(s) {
  const rem = parseFloat(getComputedStyle(s.find(".live")).fontSize);
  const of = (svg) => ({ svg, width: svg.clientWidth, height: svg.clientHeight, rem });
  Object.assign(s, { main: of(s.find(".main svg")), side: of(s.find(".side svg")) });
}

/** A figure is a slider, too: press or drag in it. */
function grab(s, svg, name, valueOf) {
  const move = (event) => {
    const { left, width } = svg.getBoundingClientRect();
    set(s, name, valueOf((event.clientX - left - LEFT) / (width - LEFT - RIGHT)));
  };
  svg.onpointerdown = (event) => {
    svg.setPointerCapture(event.pointerId);
    if (event.pointerType !== "touch") move(event);  // a finger may only want to scroll past
  };
  svg.onpointermove = (event) => { if (svg.hasPointerCapture(event.pointerId)) move(event); };
  svg.onlostpointercapture = () => settle(s);
  svg.onclick = (event) => { move(event); settle(s); };
}

function set(s, name, value) {
  if (!Number.isFinite(value)) return;  // a number half typed
  const [min, max] = s.data.ranges[name];
  s.point[name] = Math.min(max, Math.max(min, name === "k" ? Math.round(value) : value));
  draw(s);
}

/** The reader let go: write what was typed as it was understood, tell Python once. */
function settle(s) {
  for (const name of NAMES) s.numbers[name].value = short(s.point[name]);
  if (NAMES.every((name) => s.point[name] === s.sent[name])) return;
  s.sent = { ...s.point };
  s.send(s.sent);
  s.find(".said").textContent = s.find(".main svg").getAttribute("aria-label");
}

function draw(s) {
  const { k, alpha, c, v } = s.point, { ranges, measured, kMax } = s.data;
  const now = {
    k, alpha, c, v, measured, kEnd: ranges.k[1], at: speedup(alpha, k, c, v), best: bestK(alpha, c, v, kMax),
    finite: hasFiniteBestK(alpha, c, v), even: breakEvenAlpha(k, c, v),
  };
  now.peak = speedup(alpha, now.best, c, v);
  controls(s, now);
  readout(s, now);
  againstK(s.main, now);
  againstAlpha(s.side, now);
  if (s.find("details").open) table(s.find("tbody"), now);
}

function controls(s, now) {
  for (const name of NAMES) {
    const range = s.ranges[name], number = s.numbers[name];
    range.value = s.point[name];
    range.setAttribute("aria-valuetext", `${short(s.point[name])}, speed-up ${times(now.at)}`);
    if (!number.matches(":focus")) number.value = short(s.point[name]);
  }
}

function readout(s, now) {
  const word = exceeds(now.at, 1) ? "faster" : exceeds(1, now.at) ? "slower" : "same";
  const shown = {
    speedup: times(now.at), word: WORDS[word], tokens: tokensPerPass(now.alpha, now.k).toFixed(2),
    cost: (1 + now.k * (now.c + now.v)).toFixed(2), best: now.finite ? String(now.best) : "∞",
    bestSpeedup: now.finite ? times(now.peak) : WORDS.beyond, even: now.even === null ? WORDS.none : now.even.toFixed(2),
  };
  for (const [name, text] of Object.entries(shown)) s.find(`[data-out=${name}]`).textContent = text;
  s.find(".first").dataset.word = word;
  const runs = now.measured.map((run, i) => `□ ${i + 1}: ${run.label}, k = ${run.k}, measured ${times(run.speedup)}`);
  s.find(".runs").textContent = runs.join("   ");
}

const LEFT = 44, RIGHT = 18, TOP = 26, BOTTOM = 40;  // px around the plot

/** Draw by calling, reuse by position: the n-th call sets up the n-th child. */
function pen({ svg, width, height, rem }, xEnd, peak, curve) {
  const [yEnd, yStep] = axis(Math.max(1.4, peak * 1.12)), glyph = 0.56 * rem;  // a character's width
  const x = (value) => LEFT + (value / xEnd) * (width - LEFT - RIGHT);
  const y = (value) => height - BOTTOM - (value / yEnd) * (height - TOP - BOTTOM);
  const taken = [];  // boxes of words, which later words avoid
  let n = 0;
  const put = (name, attributes, words = "") => {
    let node = svg.children[n++];
    if (node?.localName !== name) {
      const made = document.createElementNS("http://www.w3.org/2000/svg", name);
      if (node) node.replaceWith(made);
      else svg.append(made);
      node = made;
    }
    for (const key of Object.keys(attributes)) node.setAttribute(key, attributes[key]);
    if (name === "text" && node.textContent !== words) node.textContent = words;
  };
  const line = (kind, points) => put("path", {
    class: kind, d: points.map(([a, b], i) => `${i ? "L" : "M"}${x(a).toFixed(1)} ${y(b).toFixed(1)}`).join("") });
  const text = (kind, px, py, words, anchor = "middle") => {
    put("text", { class: kind, x: px, y: py, "text-anchor": anchor }, words);
    const wide = words.length * glyph, left = anchor === "end" ? px - wide : anchor === "middle" ? px - wide / 2 : px;
    if (kind !== "tick") taken.push([left, left + wide, py - 14, py + 4]);
  };
  const free = ([left, right, top, bottom]) => {
    if (left < LEFT || right > width - 4 || top < 0 || bottom > height - BOTTOM) return false;
    if (taken.some(([l, r, t, b]) => left < r && right > l && top < b && bottom > t)) return false;
    for (let px = left; px <= right; px += 6) {
      const py = y(curve(Math.min(xEnd, Math.max(0, ((px - LEFT) / (width - LEFT - RIGHT)) * xEnd))));
      if (py > top - 4 && py < bottom + 4) return false;
    }
    return true;
  };
  const avoid = (a, b, beside = 0) => taken.push([x(a) - 9, x(a) + 9 + beside, y(b) - 9 - beside, y(b) + 9]);
  /** Words beside a point, where they cover neither the curve nor other words. */
  const label = (kind, a, b, words) => {
    const wide = words.length * glyph, places = [];
    for (const down of [24, -14, 44, -34, 64, 84, -54]) {
      for (const left of [12, -12 - wide, -wide / 2, 30, -30 - wide]) places.push([x(a) + left, y(b) + down]);
    }
    const fits = places.find(([px, py]) => free([px, px + wide, py - 14, py + 4]));
    const [px, py] = fits ?? [Math.min(Math.max(x(a) - wide / 2, LEFT), width - wide - 4), y(b) - 14];
    text(kind, px, py, words, "start");
  };
  const done = () => { while (svg.children.length > n) svg.lastElementChild.remove(); };
  return { width, height, glyph, xEnd, yEnd, yStep, x, y, put, line, text, avoid, free, label, done };
}

/** Axes, the line of plain decoding, and all that is slower in grey. */
function frame(p, xStep, name) {
  const right = p.width - RIGHT, floor = p.y(0);
  p.put("rect", { class: "slow", x: LEFT, y: p.y(1), width: Math.max(0, right - LEFT), height: floor - p.y(1) });
  for (let value = 0; value <= p.yEnd; value += p.yStep) {
    p.line("grid", [[0, value], [p.xEnd, value]]);
    p.text("tick", LEFT - 6, p.y(value) + 4, `${value}×`, "end");
  }
  for (let i = 0; i * xStep <= p.xEnd + 1e-9; i++) p.text("tick", p.x(i * xStep), floor + 18, short(i * xStep));
  p.text("name", (LEFT + right) / 2, p.height - 4, name);
  p.line("plain", [[0, 1], [p.xEnd, 1]]);
  const wide = WORDS.slow.length * p.glyph, fits = (py) => py - 14 > p.y(1) && p.free([right - wide, right, py - 14, py + 4]);
  const at = [floor - 6, p.y(1) + 18].find(fits);
  p.text("slow", right, at ?? floor, at === undefined ? "" : WORDS.slow, "end");
}

function againstK(figure, now) {
  const { kEnd, at, k, best, peak, finite } = now, of = (i) => speedup(now.alpha, i, now.c, now.v);
  const runs = now.measured.filter((run) => run.k <= kEnd);
  const p = pen(figure, kEnd, Math.max(of(Math.min(best, kEnd)), ...runs.map((run) => run.speedup)), of);
  frame(p, 4, "k, tokens drafted a round");
  p.text("plain", p.width - RIGHT, p.y(1) - 6, WORDS.plain, "end");
  const fine = Array.from({ length: 4 * kEnd + 1 }, (_, i) => i / 4);
  p.line("free", fine.map((i) => [i, tokensPerPass(now.alpha, i)]).filter(([, value]) => value <= p.yEnd));
  p.line("curve", fine.map((i) => [i, of(i)]));
  for (let i = 0; i <= kEnd; i++) p.put("circle", { class: "dot", cx: p.x(i), cy: p.y(of(i)), r: 2.6 });
  p.line("drop", [[k, 0], [k, at]]);
  const seen = finite && best <= kEnd, atBest = finite && k === best;
  for (const run of runs) p.avoid(run.k, run.speedup, 14);  // with its number
  if (seen) diamond(p, best, peak);
  you(p, k, at);
  p.label("you", k, at, `${WORDS.you}: k = ${k} · ${times(at)}${atBest ? `, ${WORDS.best}` : ""}`);
  if (seen && !atBest) p.label("best", best, peak, `${WORDS.best} k = ${best} · ${times(peak)}`);
  if (!seen) p.text("best", p.width - RIGHT, 14, `${finite ? `${WORDS.best} k = ${best}` : WORDS.beyond} →`, "end");
  now.measured.forEach((run, i) => {
    if (run.k > kEnd) return;
    p.put("rect", { class: "run", x: p.x(run.k) - 9, y: p.y(run.speedup) - 9, width: 18, height: 18 });
    p.text("run", p.x(run.k) + 12, p.y(run.speedup) - 8, String(i + 1), "start");
  });
  p.done();
  figure.svg.setAttribute("aria-label", describe(now));
}

function againstAlpha(figure, now) {
  const of = (alpha) => speedup(alpha, now.k, now.c, now.v), { even } = now;
  const p = pen(figure, 1, Math.max(of(1), 1), of), crosses = even !== null && now.k > 0;
  frame(p, 0.2, "α, chance of being accepted");
  p.line("curve", Array.from({ length: 101 }, (_, i) => [i / 100, of(i / 100)]));
  p.line("drop", [[now.alpha, 0], [now.alpha, now.at]]);
  if (crosses) diamond(p, even, 1);
  you(p, now.alpha, now.at);
  p.label("you", now.alpha, now.at, `α = ${short(now.alpha)} · ${times(now.at)}`);
  if (crosses) p.label("best", even, 1, `even at ${even.toFixed(2)}`);
  if (even === null) p.text("best", p.width - RIGHT, 14, WORDS.never, "end");
  p.done();
  const pays = even === null ? WORDS.never : `it pays from α = ${even.toFixed(2)} on`;
  figure.svg.setAttribute("aria-label", `Speed-up against α at k = ${now.k}: from ${times(of(0))} at α = 0 to ${times(of(1))} at α = 1; ${pays}.`);
}

function diamond(p, a, b) {
  const x = p.x(a), y = p.y(b);
  p.put("path", { class: "diamond", d: `M${x} ${y - 8}L${x + 8} ${y}L${x} ${y + 8}L${x - 8} ${y}Z` });
  p.avoid(a, b);
}

function you(p, a, b) {
  p.put("circle", { class: "you", cx: p.x(a), cy: p.y(b), r: 7 });
  p.avoid(a, b);
}

function describe({ alpha, k, c, v, at, best, peak, finite, kEnd }) {
  const end = speedup(alpha, kEnd, c, v), top = finite ? `best at k = ${best} with ${times(peak)}` : "without a best k";
  return `Speed-up against k at α = ${short(alpha)}, c = ${short(c)}, v = ${short(v)}: 1.00× at k = 0, ${top}, ${times(end)} at k = ${kEnd}. You are at k = ${k} with ${times(at)}.`;
}

function table(body, { alpha, k, c, v, best, finite, kEnd }) {
  for (let i = body.rows.length; i <= kEnd; i++) for (let cell = 0, row = body.insertRow(); cell < 5; cell++) row.insertCell();
  for (let i = 0; i <= kEnd; i++) {
    const mark = [i === k && `● ${WORDS.you}`, finite && i === best && `◆ ${WORDS.best}`].filter(Boolean).join("  ");
    const texts = [String(i), tokensPerPass(alpha, i).toFixed(2), (1 + i * (c + v)).toFixed(2), times(speedup(alpha, i, c, v)), mark];
    texts.forEach((words, cell) => (body.rows[i].cells[cell].textContent = words));
  }
}
