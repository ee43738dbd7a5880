// How the rejected mass becomes the residual: arrows, and pieces that move from one to the other.

const SVG = "http://www.w3.org/2000/svg";
const MOVE = 250; // ms

/** Each rejected block parts in proportion to the residual: [{from, to, mass, low, high}], all numbers. */
export function flowsOf({ N, p, q, facts }) {
  if (!facts) return [];
  const number = (xs) => xs.map(N.value), filled = number(facts.kept), residual = number(facts.residual);
  const flows = [];
  number(facts.over).forEach((over, from) => {
    let low = N.value(p[from]); // of the next piece, in the bar that it leaves
    residual.forEach((share, to) => {
      const mass = over * share;
      if (mass < 1e-9) return;
      flows.push({ from, to, mass, low, high: filled[to] });
      low += mass;
      filled[to] += mass;
    });
  });
  return flows;
}

/** Where bars are, in px of the picture: measured once a size, never while dragging. */
export function measure(s) {
  const bars = s.find(".bars"), groups = s.find(".groups");
  if (!bars) return;
  const { offsetLeft, clientWidth } = groups;
  s.box = { left: offsetLeft, width: clientWidth, bar: bars.firstChild.offsetWidth, top: bars.offsetTop + groups.offsetTop, height: bars.clientHeight, n: s.state.names.length };
}

const xOf = ({ left, width, n, bar }, i, law) => left + ((i + 0.5) * width) / n + (law === "p" ? -bar / 2 : bar / 2);
const yOf = (s, mass) => s.box.top + s.box.height * (1 - mass / s.end);

export function drawFlows(s, scene) {
  const svg = s.find(".flows"), flows = s.box ? flowsOf(scene) : [];
  while (svg.children.length > 1 + flows.length) svg.lastElementChild.remove();
  flows.forEach((flow, at) => {
    if (!svg.children[at + 1]) svg.append(document.createElementNS(SVG, "path"));
    const path = svg.children[at + 1], x1 = xOf(s.box, flow.from, "q"), x2 = xOf(s.box, flow.to, "p");
    const y1 = yOf(s, flow.low + 0.8 * flow.mass), y2 = yOf(s, flow.high + 0.8 * flow.mass);
    const peak = Math.max(6, Math.min(y1, y2) - 26 - Math.abs(x2 - x1) * 0.12);
    path.setAttribute("d", `M${x1.toFixed(1)} ${y1.toFixed(1)}C${x1.toFixed(1)} ${peak.toFixed(1)} ${x2.toFixed(1)} ${peak.toFixed(1)} ${x2.toFixed(1)} ${y2.toFixed(1)}`);
    path.setAttribute("stroke-width", (1.2 + 2.4 * flow.mass).toFixed(2));
    const near = flows.length <= 4 || flow.from === s.state.x || flow.to === s.state.x; // of many, those of the drafted token
    path.setAttribute("marker-end", near ? "url(#tip)" : "");
    path.setAttribute("stroke-opacity", near ? 1 : 0.25);
  });
}

/** Move the pieces over; `then` is called when they have arrived. Their size never changes: that is the point. */
export function fly(s, scene, then) {
  const place = s.find(".flying"), unit = s.box.height / s.end, { bar } = s.box;
  const moves = flowsOf(scene).map(({ from, to, mass, low, high }) => {
    const piece = document.createElement("span");
    piece.className = "block";
    piece.dataset.kind = "over";
    Object.assign(piece.style, { width: `${bar}px`, height: `${mass * unit}px` });
    place.append(piece);
    const at = (i, law, base) => `translate(${xOf(s.box, i, law) - bar / 2}px, ${yOf(s, base + mass)}px)`;
    return piece.animate([{ transform: at(from, "q", low) }, { transform: at(to, "p", high) }], { duration: MOVE, delay: MOVE, fill: "both", easing: "ease-in-out" });
  });
  s.flight = moves;
  Promise.all(moves.map((move) => move.finished)).then(() => (land(s), then()), () => {}); // cancelled: somebody else has gone on
}

export function land(s) {
  for (const move of s.flight ?? []) move.cancel();
  s.flight = null;
  s.find(".flying").replaceChildren();
}
