// Speed-up against k and against α, redrawn while the reader drags. The formulas are the twins of
// specdec/theory.py, operation for operation. Python hears of a change once, when it is settled.

export function tokensPerPass(alpha, k) {
  const missing = 1 - alpha;
  if (missing === 0) return k + 1;
  return k === 0 ? 1 : -Math.expm1((k + 1) * Math.log1p(-missing)) / missing;
}

export function speedup(alpha, k, c, v) {
  return tokensPerPass(alpha, k) / (1 + k * (c + v));
}

const exceeds = (a, b) => a > b * (1 + 16 * Number.EPSILON);

export function hasFiniteBestK(alpha, c, v) {
  return !((c + v === 0 && alpha > 0) || (alpha === 1 && exceeds(1, c + v)));
}

/** The last k whose token still gains: gains only fall, so halving finds it. */
export function bestK(alpha, c, v, kMax) {
  if (!hasFiniteBestK(alpha, c, v)) return kMax;
  let gains = 0, stops = kMax + 1;
  while (stops - gains > 1) {
    const k = Math.floor((gains + stops) / 2);
    const pays = exceeds(alpha ** k * (1 + (k - 1) * (c + v)), (c + v) * tokensPerPass(alpha, k - 1));
    if (pays) gains = k;
    else stops = k;
  }
  return gains;
}

export function breakEvenAlpha(k, c, v) {
  if (k > 0 && exceeds(c + v, 1)) return null;
  const extra = k * (c + v);
  let low = extra / Math.max(k, 1), high = Math.min(extra, 1);
  for (let i = 0; i < 80; i++) {
    const middle = (low + high) / 2;
    if (middle * tokensPerPass(middle, k - 1) >= extra) high = middle;
    else low = middle;
  }
  return high;
}

/** The round number at or above x that an axis ends with, and the step of its ticks. */
export function axis(x) {
  const ends = [[1.5, 0.5], [2, 0.5], [3, 1], [4, 1], [5, 1], [6, 1], [8, 2], [10, 2], [12, 3], [16, 4], [20, 5], [25, 5]];
  return ends.find(([end]) => end >= x) ?? [Math.ceil(x / 10) * 10, Math.ceil(x / 50) * 10];
}

const WORDS = {
  faster: "▲ faster than plain", slower: "▼ slower than plain", same: "= as fast as plain",
  slow: "slower than plain decoding", plain: "1× plain decoding",
  never: "even α = 1 is too slow", none: "none", beyond: "more is always better", you: "you", best: "best",
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
    s.ranges[name].onchange = s.numbers[name].onchange = () => s.held || settle(s);
  }
  const controls = find(".controls");  // a key held down changes a slider many times: told once, at its end
  controls.onkeydown = (event) => (s.held = event.target.type === "range");
  controls.onkeyup = controls.onfocusout = () => ((s.held = false), settle(s));
  grab(s, find(".main svg"), "k", (share) => Math.round(share * s.data.ranges.k[1]));
  grab(s, find(".side svg"), "alpha", (share) => Math.round(share * 100) / 100);
  find("details").ontoggle = () => draw(s);
  s.sizes = new ResizeObserver(() => draw(s));
  s.sizes.observe(find(".figures"));
  return s;
}

/** A figure is a slider, too: press or drag in it. */
function grab(s, svg, name, valueOf) {
  const move = (event) => {
    const { left, width } = svg.getBoundingClientRect();
    set(s, name, valueOf((event.clientX - left - LEFT) / (width - LEFT - RIGHT)));
  };
  svg.onpointerdown = (event) => (svg.setPointerCapture(event.pointerId), move(event));
  svg.onpointermove = (event) => svg.hasPointerCapture(event.pointerId) && move(event);
  svg.onlostpointercapture = () => settle(s);
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
  againstK(s.find(".main svg"), now);
  againstAlpha(s.find(".side svg"), now);
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
}

const LEFT = 44, RIGHT = 18, TOP = 26, BOTTOM = 40;  // px around the plot

/** Draw by calling, reuse by position: the n-th call sets up the n-th child. */
function pen(svg, xEnd, peak) {
  const width = svg.clientWidth, height = svg.clientHeight, [yEnd, yStep] = axis(Math.max(1.4, peak * 1.12));
  let n = 0;
  const put = (name, attributes, text = "") => {
    let node = svg.children[n++];
    if (node?.localName !== name) {
      const made = document.createElementNS("http://www.w3.org/2000/svg", name);
      if (node) node.replaceWith(made);
      else svg.append(made);
      node = made;
    }
    for (const key of Object.keys(attributes)) node.setAttribute(key, attributes[key]);
    if (name === "text" && node.textContent !== text) node.textContent = text;
  };
  const x = (value) => LEFT + (value / xEnd) * (width - LEFT - RIGHT);
  const y = (value) => height - BOTTOM - (value / yEnd) * (height - TOP - BOTTOM);
  const line = (kind, points) => put("path", { class: kind, d: points.map(([a, b], i) => `${i ? "L" : "M"}${x(a).toFixed(1)} ${y(b).toFixed(1)}`).join("") });
  const text = (kind, px, py, words, anchor = "middle") => put("text", { class: kind, x: px, y: py, "text-anchor": anchor }, words);
  /** Words beside (px, py), on the side where there is room for them. */
  const label = (kind, px, py, words) => {
    const half = words.length * 4.2;
    text(kind, Math.min(Math.max(px, LEFT + half), width - half - 4), Math.max(py, 14), words);
  };
  const done = () => { while (svg.children.length > n) svg.lastElementChild.remove(); };
  return { width, height, yEnd, yStep, x, y, put, line, text, label, done };
}

/** Axes, the line of plain decoding, and all that is slower in grey. */
function frame(p, xEnd, xStep, name) {
  const right = p.width - RIGHT, floor = p.y(0);
  p.put("rect", { class: "slow", x: LEFT, y: p.y(1), width: Math.max(0, right - LEFT), height: floor - p.y(1) });
  for (let value = 0; value <= p.yEnd; value += p.yStep) {
    p.line("grid", [[0, value], [xEnd, value]]);
    p.text("tick", LEFT - 6, p.y(value) + 4, `${value}×`, "end");
  }
  for (let i = 0; i * xStep <= xEnd + 1e-9; i++) p.text("tick", p.x(i * xStep), floor + 18, short(i * xStep));
  p.text("name", (LEFT + right) / 2, p.height - 4, name);
  p.line("plain", [[0, 1], [xEnd, 1]]);
  p.text("plain", right, p.y(1) - 6, WORDS.plain, "end");
  p.text("slow", right, floor - 6, floor - p.y(1) > 24 ? WORDS.slow : "", "end");
}

function againstK(svg, now) {
  const { kEnd, at, k, best, peak } = now, of = (i) => speedup(now.alpha, i, now.c, now.v);
  const runs = now.measured.filter((run) => run.k <= kEnd);
  const p = pen(svg, kEnd, Math.max(of(Math.min(best, kEnd)), ...runs.map((run) => run.speedup)));
  frame(p, kEnd, 4, "k, tokens drafted a round");
  const fine = Array.from({ length: 4 * kEnd + 1 }, (_, i) => i / 4);
  p.line("free", fine.map((i) => [i, tokensPerPass(now.alpha, i)]).filter(([, value]) => value <= p.yEnd));
  p.line("curve", fine.map((i) => [i, of(i)]));
  for (let i = 0; i <= kEnd; i++) p.put("circle", { class: "dot", cx: p.x(i), cy: p.y(of(i)), r: 2.6 });
  p.line("drop", [[k, 0], [k, at]]);
  if (now.finite && best <= kEnd) {
    diamond(p, best, peak);
    p.label("best", p.x(best), p.y(peak) - 14, `${WORDS.best} k = ${best} · ${times(peak)}`);
  } else p.text("best", p.width - RIGHT, 14, now.finite ? `${WORDS.best} k = ${best} →` : `${WORDS.beyond} →`, "end");
  for (const run of runs) {
    p.put("rect", { class: "run", x: p.x(run.k) - 5, y: p.y(run.speedup) - 5, width: 10, height: 10 });
    p.label("run", p.x(run.k), p.y(run.speedup) + 22, `${run.label} ${times(run.speedup)}`);
  }
  you(p, k, at, `${WORDS.you}: k = ${k} · ${times(at)}`);
  svg.setAttribute("aria-label", describe(now));
}

function againstAlpha(svg, now) {
  const of = (alpha) => speedup(alpha, now.k, now.c, now.v), { even } = now;
  const p = pen(svg, 1, Math.max(of(1), 1));
  frame(p, 1, 0.2, "α, chance of being kept");
  p.line("curve", Array.from({ length: 101 }, (_, i) => [i / 100, of(i / 100)]));
  p.line("drop", [[now.alpha, 0], [now.alpha, now.at]]);
  if (even !== null && now.k > 0) diamond(p, even, 1);
  const words = even === null ? WORDS.never : now.k > 0 ? `break-even α = ${even.toFixed(2)}` : "";
  p.label("best", p.x(even ?? 1), p.y(1) - 22, words);
  you(p, now.alpha, now.at, `α = ${short(now.alpha)} · ${times(now.at)}`);
  const pays = even === null ? WORDS.never : `it pays from α = ${even.toFixed(2)} on`;
  svg.setAttribute("aria-label", `Speed-up against α at k = ${now.k}: from ${times(of(0))} at α = 0 to ${times(of(1))} at α = 1; ${pays}.`);
}

function diamond(p, a, b) {
  const x = p.x(a), y = p.y(b);
  p.put("path", { class: "diamond", d: `M${x} ${y - 8}L${x + 8} ${y}L${x} ${y + 8}L${x - 8} ${y}Z` });
}

function you(p, a, b, words) {
  p.put("circle", { class: "you", cx: p.x(a), cy: p.y(b), r: 7 });
  p.label("you", p.x(a) + 12 + words.length * 4.2, p.y(b) + 24, words);
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
