"""The walkthrough: twelve questions that wait for the reader, and a whiteboard that fills up."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

import streamlit as st

from specdec import walk
from specdec.language import text
from specdec.ui import query, timer
from specdec.ui.interview import board, kept
from specdec.ui.interview.show import show_me
from specdec.walk import Walk

KEY = "interview walk"  # of the session
LIMITS = {"step": query.Number(0, 0, 2 * len(board.all_steps()) - 1, whole=True)}


def draw(link: Mapping[str, Any]) -> dict[str, Any]:
    """Draw the question in sight and the board; returns the state for a link."""
    words, steps = text("walkthrough"), board.all_steps()
    at = _current(link["step"])
    st.markdown(words["intro"])
    left, right = st.columns(2, gap="large")
    with left:
        _question(at, steps[at.question], words)
    with right, st.container(border=True):
        st.markdown(f"**{words['board']}**")
        if at.revealed:
            board.draw(steps[: at.revealed])
        else:
            st.caption(words["empty"])
    _times(at, words)
    return {"step": at.place}


def _current(place: int) -> Walk:
    """The walk of this visit, brought to the link's place."""
    at = st.session_state.get(KEY) or walk.start(len(board.all_steps()))
    if at.place != place or (not at.answered and at.since is None):
        at = at.at(place, time.monotonic())
    st.session_state[KEY] = at
    return at


def _go(to: Walk) -> None:
    st.session_state[KEY] = to
    kept.keep("walkthrough", {"step": to.place})


def _on() -> None:
    _go(st.session_state[KEY].on(time.monotonic()))


def _back() -> None:
    at = st.session_state[KEY]
    _go(at.at(at.place - 1, time.monotonic()))


def _again() -> None:
    _go(walk.start(len(board.all_steps())).at(0, time.monotonic()))


def _question(at: Walk, step: board.Step, words: Mapping[str, str]) -> None:
    st.progress(
        at.revealed / len(at.spent),
        text=words["place"].format(n=at.question + 1, all=len(at.spent)),
    )
    st.markdown(f"#### {step.ask}")
    if at.since is not None:
        timer.counting("walk timer", step.name, time.monotonic() - at.since)
    if at.answered:
        st.markdown(step.answer)
        show_me(step.show, step.see)
    with st.container(horizontal=True):
        if not at.ended:
            label = words["next" if at.answered else "reveal"]
            st.button(label, type="primary", key="walk on", on_click=_on)
        st.button(words["back"], key="walk back", on_click=_back, disabled=at.place == 0)
        st.button(words["again"], key="walk again", on_click=_again)
    if at.ended:
        st.success(words["done"])


def _times(at: Walk, words: Mapping[str, str]) -> None:
    """The reader's own times, of what was timed."""
    timed = [seconds for seconds in at.spent if seconds is not None]
    st.caption(words["clock"])
    if not timed:
        return
    total, mean = f"{sum(timed):.0f} s", f"{sum(timed) / len(timed):.0f} s"
    with st.expander(words["total"].format(answered=len(timed), total=total, mean=mean)):
        st.table(
            [
                {
                    words["question"]: step.ask,
                    words["time"]: words["untimed"] if spent is None else f"{spent:.0f} s",
                }
                for step, spent in zip(board.all_steps(), at.spent[: at.question + 1])
            ]
        )
