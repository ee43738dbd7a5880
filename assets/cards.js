// Flash cards: the position lives here, the page hears of it as an absolute number.
import { cardAction, cardMoved, filled } from "./cards_deck.js";

const decks = new WeakMap(); // parentElement → state

export default function ({ data, parentElement, setStateValue }) {
  const s = decks.get(parentElement) ?? mount(parentElement);
  decks.set(parentElement, s);
  s.tell = setStateValue;
  const names = data.cards.map((card) => card.name), told = JSON.stringify([names, data.start]);
  if (s.told !== told) s.deck = { at: data.start, turned: false, known: data.known };
  Object.assign(s, { data, names, told });
  s.root.setAttribute("aria-label", data.words.label);
  show(s);
  return () => decks.delete(parentElement);
}

function mount(parent) {
  const root = parent.querySelector(".cards"), find = (what) => root.querySelector(what);
  const s = { root, find, told: null };
  root.onclick = (event) => {
    const action = event.target.closest("[data-do]")?.dataset.do;
    if (action) act(s, action);
    else if (event.target.closest(".card") && !String(getSelection())) act(s, "turn");
  };
  root.onkeydown = (event) => {
    const action = cardAction(event), onButton = event.target.closest("button");
    if (!action || (onButton && (event.key === " " || event.key === "Enter"))) return;
    event.preventDefault();
    event.stopPropagation(); // a page-wide key of the same name stays quiet
    act(s, action);
  };
  return s;
}

function act(s, action) {
  const before = s.deck;
  s.deck = cardMoved(before, action, s.names);
  show(s);
  if (s.deck.turned || before.at !== s.deck.at) write(s.find(".said"), s.deck.turned ? s.data.cards[s.deck.at].answer : s.data.cards[s.deck.at].ask);
  if (before.at !== s.deck.at) s.tell("at", s.deck.at);
  if (before.known !== s.deck.known) s.tell("known", s.deck.known);
}

function show(s) {
  const { words, cards } = s.data, { at, turned, known } = s.deck, card = cards[at], marked = known.includes(card.name);
  write(s.find(".place"), filled(words.place, { n: at + 1, all: cards.length }));
  write(s.find(".side"), turned ? words.answer : words.question);
  write(s.find(".ask"), card.ask);
  write(s.find(".answer"), card.answer);
  write(s.find(".wrong b"), `✗ ${words.wrong}:`);
  write(s.find(".wrong span"), card.wrong);
  s.find(".back").hidden = !turned;
  s.find(".card").toggleAttribute("data-known", marked);
  for (const [action, label] of [["back", `← ${words.back}`], ["turn", words.turn], ["next", `${words.next} →`], ["mark", marked ? `✓ ${words.unknown}` : words.known]])
    write(s.find(`[data-do=${action}]`), label);
  s.find("[data-do=mark]").setAttribute("aria-pressed", String(marked));
  s.find("[data-do=back]").toggleAttribute("aria-disabled", at === 0);
  s.find("[data-do=next]").toggleAttribute("aria-disabled", at === cards.length - 1);
  write(s.find(".count"), filled(words.count, { n: known.filter((name) => s.names.includes(name)).length, all: cards.length }));
}

const write = (node, words) => node.textContent === words || (node.textContent = words);
