"""Flash cards of the questions, shuffled by a seed, turned and sorted from the keyboard."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import streamlit as st

from specdec.language import text
from specdec.questions import DEPTHS, TOPICS, Question, find
from specdec.ui import query
from specdec.ui.component import component
from specdec.ui.interview.kept import widget

KNOWN = "interview cards known"  # of the session: names of the questions marked as known
LIMITS = {
    "topic": query.Choice("all", ("all", *TOPICS)),
    "depth": query.Choice("line", DEPTHS),
    "seed": query.KEYS["seed"],
    "step": query.Number(0, 0, 99, whole=True),
}


def draw(link: Mapping[str, Any]) -> dict[str, Any]:
    """Draw the cards; returns the state for a link."""
    words, titles = text("cards"), text("interview")
    st.markdown(words["intro"])
    left, middle, right = st.columns([3, 3, 2])
    topics = {"all": titles["every_topic"], **titles["topics"]}
    topic = left.selectbox(
        titles["topic"],
        list(topics),
        format_func=topics.get,
        key=widget("card topic", link["topic"]),
    )
    depth = middle.segmented_control(
        titles["depth"],
        DEPTHS,
        format_func=titles["depths"].get,
        key=widget("card depth", link["depth"]),
        required=True,
    )
    seed = right.number_input(
        words["seed"], 0, 2**32 - 1, key=widget("card seed", int(link["seed"]))
    )
    deck = shuffled(find(topic=topic), int(seed))
    at = _cards(deck, depth, f"cards {topic} {seed}", link["step"])
    return {"topic": topic, "depth": depth, "seed": int(seed), "step": at}


def shuffled(deck: tuple[Question, ...], seed: int) -> tuple[Question, ...]:
    """The deck in the order of this seed, the same on every machine."""
    order = np.random.Generator(np.random.Philox(key=seed)).permutation(len(deck))
    return tuple(deck[i] for i in order)


def _cards(deck: tuple[Question, ...], depth: str, key: str, start: int) -> int:
    """The component; returns the card in sight. What the browser sends is checked."""
    first = f"{key} start"  # kept, so that the message stays the same and is not sent again
    if "at" not in (st.session_state.get(key) or {}) or first not in st.session_state:
        st.session_state[first] = min(start, len(deck) - 1)
    names = [question.name for question in deck]
    marked = st.session_state.setdefault(KNOWN, frozenset())
    state = _mount(
        key=key,
        data={
            "cards": [_card(question, depth) for question in deck],
            "start": st.session_state[first],
            "known": sorted(marked & set(names)),
            "words": dict(text("cards")),
        },
        on_at_change=lambda: None,
        on_known_change=lambda: _mark(st.session_state[key].get("known"), names),
    )
    return place(state.get("at"), len(deck), st.session_state[first])


def place(sent: Any, n: int, otherwise: int) -> int:
    """The card that the browser names, from 0 to n − 1."""
    whole = isinstance(sent, int | float) and sent == sent and abs(sent) < 2**31
    return min(max(int(sent), 0), n - 1) if whole else otherwise


def _mark(sent: Any, names: list[str]) -> None:
    """Take over the marks of this deck; those of other topics stay."""
    known = {name for name in sent if name in names} if isinstance(sent, list | tuple) else set()
    st.session_state[KNOWN] = st.session_state[KNOWN] - set(names) | known


def _card(question: Question, depth: str) -> dict[str, str]:
    return {
        "name": question.name,
        "ask": question.ask,
        "answer": question.answer(depth),
        "wrong": question.wrong,
    }


_mount = component("cards", ("deck",))
