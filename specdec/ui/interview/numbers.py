"""The numbers drill: exercises with exact answers, what a slip would have given, the way there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from specdec import drill
from specdec.drill import Exercise
from specdec.drill_exercise import show
from specdec.language import text
from specdec.ui.interview.series import LIMITS as SERIES
from specdec.ui.interview.series import series, verdict
from specdec.ui.literal import literal

LIMITS = SERIES
TRIED = "drill tried"  # of the session state: address → typed answers in order, as numbers


def draw(link: Mapping[str, Any]) -> dict[str, Any]:
    """Draw the part; returns its state for a link."""
    words = text("drill")
    st.markdown(words["intro"])
    at = series("numbers", link)
    asked, address = drill.exercise(at.seed, at.step), (at.seed, at.step)
    tried = st.session_state.setdefault(TRIED, {})
    with st.container(border=True):
        st.markdown(words["ask"][asked.kind].format(**asked.given))
        exact = words["within"].format(tolerance=show(asked.tolerance))
        st.caption(exact if asked.tolerance else words["exact"])
        _form(words, address, tried)
        if address in tried:
            _judge(asked, words, address, tried[address][-1])
    _score(words, tried)
    return {"seed": at.seed, "step": at.step}


def _form(words: Mapping[str, Any], address: tuple[int, int], tried: dict) -> None:
    with st.form(f"drill {address}", border=False):
        typed = st.text_input(
            words["answer"],
            key=f"drill answer {address}",
            placeholder=words["hint"],
            max_chars=40,
            width=320,
        )
        sent = st.form_submit_button(words["check"], type="primary")
    if sent:
        try:
            tried.setdefault(address, []).append(drill.read(typed))
        except ValueError as error:
            if not tried[address]:
                del tried[address]
            st.error(literal(str(error)))


def _judge(asked: Exercise, words: Mapping[str, Any], address: tuple, value: Any) -> None:
    found = drill.check(asked, value)
    said = words["near"] if found.near else ""
    if found.slip:
        said = words["slips"][asked.kind][found.slip]
    st.markdown(f"{verdict(found.right)} {show(value)}. {said}")
    if found.right:
        _solution(asked, words)
        return
    st.markdown(words["again"])
    with st.expander(words["solution"]):
        _solution(asked, words)


def _solution(asked: Exercise, words: Mapping[str, Any]) -> None:
    for step in asked.steps:
        st.latex(step)
    answer = show(asked.answer)
    if asked.tolerance and "/" in answer:
        answer = f"{answer} ≈ {float(asked.answer):.4f}"
    st.markdown(f"**{words['result'].format(answer=answer)}**")


def _score(words: Mapping[str, Any], tried: Mapping) -> None:
    firsts = [drill.check(drill.exercise(*at), values[0]).right for at, values in tried.items()]
    if firsts:
        st.markdown(words["score"].format(first=sum(firsts), all=len(firsts)))
