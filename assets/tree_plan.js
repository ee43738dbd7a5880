// The order of a tree's nodes: who is above, below, beside; what a node sees. Pure.

/** Rows and depths of the largest tree: the drawing keeps this room. */
export function roomOf(rounds) {
  const all = rounds.flatMap((round) => round.nodes);
  return { rows: 1 + Math.max(0, ...all.map((n) => n.row)), depths: Math.max(1, ...all.map((n) => n.depth)) };
}

/** The row of the text, from which the tree grows: amid its first guesses. */
export function rootRow(nodes) {
  const first = nodes.filter((n) => n.parent < 0).map((n) => n.row);
  return first.length ? (Math.min(...first) + Math.max(...first)) / 2 : 0;
}

/** The node that a key leads to from `at` (-1: the text); `at` itself where there is none. */
export function nodeFrom(nodes, at, way) {
  if (way === "out") return nodes.findIndex((n) => n.parent === at) < 0 ? at : preferred(nodes, at);
  if (at < 0) return at;
  if (way === "in") return nodes[at].parent;
  const level = nodes.map((n, i) => ({ ...n, i })).filter((n) => n.depth === nodes[at].depth).sort((a, b) => a.row - b.row);
  const here = level.findIndex((n) => n.i === at);
  return level[Math.min(Math.max(here + (way === "down" ? 1 : -1), 0), level.length - 1)].i;
}

/** The way out leads along the accepted path, else to the guess that was judged first. */
function preferred(nodes, at) {
  const next = nodes.map((n, i) => ({ ...n, i })).filter((n) => n.parent === at);
  return (next.find((n) => n.verdict === "accepted") ?? next[0]).i;
}

/** A place brought into the rounds: {round from 1, node from 1, 0 for none}. */
export function placeIn(rounds, { round = 1, node = 0 } = {}) {
  const at = Math.min(Math.max(Math.trunc(round) || 1, 1), Math.max(1, rounds.length));
  const n = rounds[at - 1]?.nodes.length ?? 0;
  return { round: at, node: Math.min(Math.max(Math.trunc(node) || 0, 0), n) };
}

/** Columns of the mask: the cached text, the text's last token, every node. */
export function maskRow(nodes, at) {
  if (at < 0) return [true, true, ...nodes.map(() => false)];
  return [true, true, ...[...nodes[at].sees].map((x) => x === "1")];
}

/** The path of a node in words, from the text on. */
export const pathOf = (nodes, at) => (at < 0 ? [] : nodes[at].path);
