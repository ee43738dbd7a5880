// The laws at a position as rows of bars. Pure.

/** Rows, likeliest first: [{id, text, mine, and a number a law}]; `own`: the token's own numbers by law. */
export function barsOf(tops, token, own = token) {
  const rows = new Map(), names = Object.keys(tops);
  const row = (id, text) => {
    if (!rows.has(id)) rows.set(id, { id, text, mine: id === token.id });
    return rows.get(id);
  };
  for (const name of names) for (const [id, text, x] of tops[name]?.entries ?? []) row(id, text)[name] = x;
  if (rows.size) row(token.id, token.text);
  for (const bar of rows.values())
    for (const name of names) bar[name] ??= (bar.mine ? own[name] : null) ?? (tops[name] && (tops[name].rest < 1e-9 ? 0 : null)); // null: below the head
  const order = (a, b) => names.map((name) => (b[name] ?? 0) - (a[name] ?? 0)).find(Boolean) ?? 0;
  return [...rows.values()].sort(order);
}

/** The mass outside the heads: {p: 0.1, …}. */
export const restOf = (tops) =>
  Object.fromEntries(Object.entries(tops).filter(([, top]) => top).map(([name, top]) => [name, top.rest]));

const NOISE = 1e-5; // the numbers came with six digits each: a smaller difference is no mass

/** The same, outside the rows that are shown. */
export const restBeside = (bars, names) =>
  Object.fromEntries(names.map((name) => [name, outside(bars.map((bar) => bar[name] ?? 0))]));

function outside(chances) {
  const rest = 1 - chances.reduce((sum, x) => sum + x, 0);
  return rest < NOISE ? 0 : rest;
}
