// What the canvas says: sentences and the algebra, with the current numbers in it. Pure.
import { bothOf, isOne, same, textOf } from "./overlap_ratio.js";

export const quoted = (name) => `“\u2068${name}\u2069”`;
const equals = ({ N }) => (N.exact ? "=" : "≈");
const SPELT = 8; // tokens: beyond, the last step is spelt out for the drafted one, and the table has the others
const inBrackets = (x) => (textOf(x).includes("/") ? `(${textOf(x)})` : textOf(x));
const total = (xs) => xs.map(textOf).join(" + ");

/** What is wrong with the sums: [{law, text}]. Nothing is mended here. */
export function faultsOf({ N, sums }) {
  return ["p", "q"].filter((law) => !isOne(N, sums[law])).map((law) => {
    const sum = sums[law], much = N.less(N.one, sum);
    const off = much ? N.sub(sum, N.one) : N.sub(N.one, sum);
    return { law, text: `${law} sums to ${bothOf(sum)}, ${textOf(off)} too ${much ? "much" : "little"}: it is not a law yet.` };
  });
}

/** The sums, for the live region and the line under the picture. */
export function sumsOf(scene) {
  if (!scene.valid) return faultsOf(scene).map((fault) => fault.text).join(" ");
  const { alpha, rejected } = scene.facts;
  return `p and q each sum to 1. Overlap α = Σ min(p, q) = ${bothOf(alpha)}. Total variation = 1 − α = ${bothOf(rejected)}.`;
}

/** The picture in words, token by token. */
export function describe(scene) {
  const { names, p, q, facts, N } = scene;
  const lines = names.map((name, i) => {
    const laws = `${quoted(name)}: p ${textOf(p[i])}, q ${textOf(q[i])}`;
    if (!facts) return laws;
    const over = N.less(N.zero, facts.over[i]) ? `, rejected ${textOf(facts.over[i])}` : "";
    const gap = N.less(N.zero, facts.gap[i]) ? `, missing ${textOf(facts.gap[i])}` : "";
    return `${laws}, kept ${textOf(facts.kept[i])}${over}${gap}`;
  });
  return `${lines.join("; ")}. ${sumsOf(scene)}`;
}

/** The sentence of a step of the picture, 1 to 4. */
export function sayOf(step, scene) {
  if (!scene.valid) return "Mend the sums first: a law gives away exactly 1. Overlap, residual and proof wait for it.";
  const { alpha, rejected, missing } = scene.facts, nothing = !scene.N.less(scene.N.zero, missing);
  return [
    "The drafter draws a token from q: the taller its bar, the likelier.",
    `Kept: the part of q that lies under p, min(p, q). In all α ${equals(scene)} ${textOf(alpha)}.`,
    nothing ? "Nothing sticks out: q = p, and nothing is ever rejected." : `Rejected: what sticks out above p, ${textOf(rejected)} in all.`,
    nothing
      ? "p = q: every draft is kept, and what is written is p."
      : `What q has too much of, p lacks elsewhere: ${textOf(rejected)} and ${textOf(missing)}, equal areas. So the rejected mass, drawn anew where p lacks it, fills p exactly.`,
  ][step - 1];
}

/** The proof for the drafted token x, line by line: [{title, rule, lines}]. */
export function algebraOf(scene, x) {
  const { names, p, q, facts } = scene, eq = equals(scene), name = quoted(names[x]);
  const { kept, gap, alpha, rejected, residual, accept, missing, written } = facts;
  const none = !scene.N.less(scene.N.zero, missing), good = (i) => agrees(scene, written[i], p[i]);
  return [
    {
      title: `${name} is drafted and kept`, rule: "q · min(1, p/q) = min(p, q)",
      lines: [`${textOf(q[x])} · ${textOf(accept[x])} ${eq} ${textOf(kept[x])}`],
    },
    { title: "Any draft is kept", rule: "α = Σ min(p, q)", lines: [`${total(kept)} ${eq} ${textOf(alpha)}`] },
    {
      title: "So a draft is rejected with", rule: "1 − α = total variation = all the gaps of p",
      lines: [`1 − ${textOf(alpha)} ${eq} ${textOf(rejected)} ${eq} ${total(gap)}`],
    },
    {
      title: `and then ${name} replaces it with`, rule: "residual = max(0, p − q) / (1 − α)",
      lines: [none ? "nothing is rejected: it is never asked" : `${textOf(gap[x])} / ${inBrackets(missing)} ${eq} ${textOf(residual[x])}`],
    },
    {
      title: "Written, both ways together", rule: "min(p, q) + (1 − α) · residual = min(p, q) + max(0, p − q) = p",
      lines: names.map((other, i) => ({
        name: other, mark: good(i) ? `${eq} p ✓` : `≠ p = ${textOf(p[i])}`,
        text: `${textOf(kept[i])} + ${textOf(rejected)} · ${textOf(residual[i])} ${eq} ${textOf(written[i])}`,
      })).filter((_, i) => names.length <= SPELT || i === x),
    },
  ];
}

const agrees = ({ N }, a, b) => (N.exact ? same(N, a, b) : Math.abs(a - b) < 1e-12);

/** The fate of a drafted token, in a sentence. */
export function fateOf(scene, drop, x, u, w) {
  const { names, q, facts, N } = scene, name = quoted(names[x]), limit = textOf(facts.accept[x]);
  if (!drop.drafted) return `q = 0: the drafter never says ${name}, so it is never tested. It can still be written, as a replacement.`;
  const drawn = `${name} is drafted with chance ${textOf(q[x])}.`;
  if (!drop.possible) return `${drawn} p ≥ q here: whatever u is, it is accepted.`;
  const at = textOf(N.of(u, 1000));
  if (drop.accepted) return `${drawn} u = ${at} < min(1, p/q) ${equals(scene)} ${limit}: accepted, written.`;
  const by = `w = ${textOf(N.of(w, 1000))} draws ${quoted(names[drop.replacement])} from the residual`;
  return `${drawn} u = ${at} ≥ min(1, p/q) ${equals(scene)} ${limit}: rejected. ${by}, and that is written.`;
}

/** What temperature does here. */
export function heatOf({ tempered, N, valid, facts }) {
  if (!valid) return "";
  if (!tempered) return "T = 1: the laws as they are drawn, in exact fractions.";
  if (N.exact) return `T = 0, greedy: each law is one-hot on its likeliest token (the first of equals). The two agree or they do not: α is 1 or 0, and here it is ${textOf(facts.alpha)}.`;
  return "Each law is p^(1/T), renormalised: numbers now, no longer exact fractions. At T = 1 the bars can be dragged again.";
}
