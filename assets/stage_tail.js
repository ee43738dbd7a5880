// Why the tail goes: a discarded token at its place after the right token. Pure.
import { looksAhead } from "./stage_plan.js";
import { quoted } from "./stage_words.js";
import { barsOf, restBeside } from "./stage_bars.js";

const LIKELIEST = 5; // of each of the two laws

/** The test that cut the draft: its index, the rejected token and what was written instead; null where the end cut it. */
function cutOf(round) {
  const at = round.drafted.findIndex((t) => t.verdict === "rejected");
  return at < 0 || looksAhead(round) ? null : { at, wrong: round.drafted[at], right: round.written[at] };
}

const ANOTHER = "To judge it there takes another pass.";
const wouldBe = ({ kept }) => `would ${kept ? "" : "not "}have been kept`;

/** What the panel of a discarded token says; "" where there is nothing to say. */
export function sayThere(round, i, rule) {
  const cut = cutOf(round), { mended } = round.drafted[i];
  if (!cut) return "";
  if (!mended) return `The law after the written ${quoted(cut.right.text)} was not computed here.`;
  const between = i > cut.at + 1 ? ", and the drafts between," : "";
  return `After the written ${quoted(cut.right.text)}${between} it ${wouldBe(mended)}: ${rule.tellsThere(mended)}. ${ANOTHER}`;
}

/** The same of the first discarded token, for the sentence of its step. */
export function sayFirstThere(round) {
  const cut = cutOf(round), token = cut && round.drafted[cut.at + 1];
  if (!token?.mended) return "";
  return ` After the written ${quoted(cut.right.text)}, ${quoted(token.text)} ${wouldBe(token.mended)}; to judge it there takes another pass.`;
}

/** The target's two laws at its place as one table; null where the trace does not hold both. */
export function lawsThere(round, i) {
  const cut = cutOf(round), token = round.drafted[i], { mended } = token;
  if (!cut || !mended?.p_top || !token.p_top) return null;
  const tops = { wrong: token.p_top, right: mended.p_top };
  const heads = Object.values(tops).flatMap((top) => top.entries.slice(0, LIKELIEST).map(([id]) => id));
  const shown = new Set([token.id, ...heads]);
  const bars = barsOf(tops, token, { wrong: token.p, right: mended.p }).filter((bar) => shown.has(bar.id));
  return {
    caption: `p here, after the rejected ${quoted(cut.wrong.text)} and after the written ${quoted(cut.right.text)}`,
    columns: [["wrong", "after ✗"], ["right", "after ↻"]],
    bars,
    rest: restBeside(bars, Object.keys(tops)),
  };
}
