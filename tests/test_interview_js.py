"""The deck's moves and the timer's face, in node, as shipped."""

from __future__ import annotations

import pytest

TIMER = """
const timer = await load("timer_words.js");
give(data.map(([limit, gone]) =>
  timer.faceOf({ limit, words: { left: "left", over: "over" } }, gone)));
"""
DECK = """
const deck = await load("cards_deck.js");
const names = ["a", "b", "c"];
give(data.reduce((d, action) => deck.cardMoved(d, action, names),
  { at: 0, turned: false, known: [] }));
"""
KEYS = """
const deck = await load("cards_deck.js");
give(data.map(deck.cardAction));
"""


def test_a_minute_ends_at_nought_and_goes_on_over_it(node):
    faces = node(TIMER, [[60, 0], [60, 0.5], [60, 59.9], [60, 60], [60, 75.2], [None, 75.9]])
    digits = ["1:00", "1:00", "0:01", "+0:00", "+0:15", "1:15"]
    assert [face["digits"] for face in faces] == digits
    assert [face["over"] for face in faces] == [False] * 3 + [True] * 2 + [False]
    assert [face["share"] for face in faces] == pytest.approx([0, 0.5 / 60, 59.9 / 60, 1, 1, 0])


@pytest.mark.parametrize(
    ("actions", "at", "turned", "known"),
    [
        (["turn"], 0, True, []),
        (["turn", "next"], 1, False, []),
        (["back", "turn", "back"], 0, True, []),
        (["next", "next", "next", "next"], 2, False, []),
        (["last", "mark", "first", "mark"], 0, False, ["c", "a"]),
        (["mark", "mark"], 0, False, []),
        (["nothing"], 0, False, []),
    ],
)
def test_a_deck_moves(node, actions, at, turned, known):
    assert node(DECK, actions) == {"at": at, "turned": turned, "known": known}


def test_keys_of_the_browser_stay_its_own(node):
    keys = [{"key": " "}, {"key": "K"}, {"key": "k", "ctrlKey": True}, {"key": "x"}]
    assert node(KEYS, keys) == ["turn", "mark", None, None]
