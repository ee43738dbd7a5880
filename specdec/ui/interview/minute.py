"""The one-minute answer: a clock, the reader's notes, then a model answer and a list to tick."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import streamlit as st

from specdec.language import entries, text
from specdec.ui import query, timer
from specdec.ui.interview.kept import widget

NOTES, LONGEST = "interview minute notes", 2000  # of the session: name → what the reader wrote


@dataclass(frozen=True)
class Minute:
    """A question to answer in a minute, a model answer, and the points of a good one."""

    name: str
    ask: str
    answer: str
    points: tuple[str, ...]


@cache
def minutes(language: str = "en") -> tuple[Minute, ...]:
    """All of them, in order."""
    return entries("minute", Minute, language)


NAMES = tuple(minute.name for minute in minutes())
LIMITS = {"ask": query.Choice(NAMES[0], NAMES)}


def draw(link: Mapping[str, Any]) -> dict[str, Any]:
    """Draw one question; returns the state for a link."""
    words, known = text("one_minute"), {minute.name: minute for minute in minutes()}
    st.markdown(words["intro"])
    name = st.radio(
        words["ask"],
        NAMES,
        format_func=lambda name: known[name].ask,
        key=widget("minute", link["ask"]),
    )
    timer.countdown("minute timer", name)
    _notes(name, words)
    key = widget(f"minute shown {name}", False)
    box = st.expander(words["reveal"], key=key, on_change="rerun")
    if box.open:
        with box:
            _answer(known[name], words)
    return {"ask": name}


def _notes(name: str, words: Mapping[str, str]) -> None:
    """What the reader writes stays in the session, also while another part is open."""
    store = st.session_state.setdefault(NOTES, {})
    written = st.text_area(
        words["notes"],
        max_chars=LONGEST,
        height=160,
        key=widget(f"minute notes {name}", store.get(name, "")),
        placeholder=words["notes_hint"],
    )
    st.session_state[NOTES] = store | {name: written}
    st.caption(words["words"].format(n=len(written.split())))


def _answer(minute: Minute, words: Mapping[str, str]) -> None:
    st.markdown(minute.answer)
    st.caption(words["length"].format(n=len(minute.answer.split())))
    st.markdown(f"**{words['points']}**")
    ticks = [
        st.checkbox(point, key=f"minute point {minute.name} {i}")
        for i, point in enumerate(minute.points)
    ]
    st.caption(words["ticked"].format(n=sum(ticks), all=len(ticks)))
