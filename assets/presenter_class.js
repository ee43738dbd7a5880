// A class script that runs in this tab: a list of links, and how far the class is. It stays in the browser.

const STORE = "draft-verify-accept class";

/** The running class {items: [{url, title, minutes}], at, since}, or null. */
export function classOf(store) {
  try {
    const run = JSON.parse(store.getItem(STORE));
    return run?.items?.[run.at] ? run : null;
  } catch {
    return null;
  }
}

/** The class at another of its links, kept for the page that opens there; null before the first and after the last. */
export function moved(store, run, way) {
  const at = run.at + way;
  if (!run.items[at]) return null;
  store.setItem(STORE, JSON.stringify({ ...run, at }));
  return run.items[at].url;
}

export function begun(store, items, at, since) {
  store.setItem(STORE, JSON.stringify({ items, at, since }));
}

export function ended(store) {
  store.removeItem(STORE);
}

/** "2 of 9 · The rule", and the time: planned by the end of this link, and gone. */
export function classWords(run, now) {
  const planned = run.items.slice(0, run.at + 1).reduce((sum, item) => sum + item.minutes, 0);
  const gone = Math.max(0, Math.floor((now - run.since) / 60_000));
  return { place: `${run.at + 1} of ${run.items.length} · ${run.items[run.at].title}`, clock: `${gone} min gone, ${Number(planned.toFixed(2))} planned by the end of this` };
}
