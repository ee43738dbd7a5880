// Where a deck stands, and what a key does to it. Pure: old state → new state.

const KEYS = { " ": "turn", Enter: "turn", ArrowRight: "next", ArrowLeft: "back", k: "mark", Home: "first", End: "last" };

/** What a key does, or null. */
export function cardAction({ key, altKey, ctrlKey, metaKey }) {
  if (altKey || ctrlKey || metaKey) return null;
  return KEYS[key.length === 1 ? key.toLowerCase() : key] ?? null;
}

/** A deck of n cards {at, turned, known: [names]} after an action; another card shows its front. */
export function cardMoved(deck, action, names) {
  const go = (at) => {
    const to = Math.min(Math.max(at, 0), names.length - 1);
    return to === deck.at ? deck : { ...deck, at: to, turned: false };
  };
  switch (action) {
    case "turn": return { ...deck, turned: !deck.turned };
    case "next": return go(deck.at + 1);
    case "back": return go(deck.at - 1);
    case "first": return go(0);
    case "last": return go(names.length - 1);
    case "mark": {
      const name = names[deck.at], known = deck.known.filter((other) => other !== name);
      return { ...deck, known: known.length < deck.known.length ? known : [...known, name] };
    }
    default: return deck;
  }
}

/** "Card {n} of {all}" with its numbers. */
export function filled(text, values) {
  return text.replace(/\{(\w+)\}/g, (_, name) => values[name]);
}
