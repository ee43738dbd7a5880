"""The questions: by topic and words, with answers that stay folded until they are asked for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from specdec.language import text
from specdec.questions import DEPTHS, TOPICS, Question, find, questions
from specdec.ui import query
from specdec.ui.interview.kept import widget
from specdec.ui.interview.show import show_me

ALL = ("all", *TOPICS)
LIMITS = {
    "topic": query.Choice("all", ALL),
    "depth": query.Choice("line", DEPTHS),
    "find": query.Text("", 100),
    "ask": query.Text("", 200),  # names of open questions, joined by dots
}
BETWEEN = "."


def draw(link: Mapping[str, Any]) -> dict[str, Any]:
    """Draw the filters and the questions; returns the state for a link."""
    words = text("interview")
    topic, depth, wanted = filters(link)
    found = find(wanted, topic)
    if found:
        st.caption(words["count"].format(shown=len(found), all=len(questions())))
    else:
        st.info(words["none"])
    opened = [q.name for q in found if _question(q, depth, q.name in link["ask"].split(BETWEEN))]
    return {"topic": topic, "depth": depth, "find": wanted, "ask": _joined(opened)}


def filters(link: Mapping[str, Any]) -> tuple[str, str, str]:
    """The chosen topic, depth and words to search for."""
    words = text("interview")
    topics = {"all": words["every_topic"], **words["topics"]}
    topic = st.pills(
        words["topic"],
        ALL,
        format_func=topics.get,
        key=widget("topic", link["topic"]),
        required=True,
    )
    left, right = st.columns([2, 3], vertical_alignment="bottom")
    with left:
        depth = st.segmented_control(
            words["depth"],
            DEPTHS,
            format_func=words["depths"].get,
            key=widget("depth", link["depth"]),
            required=True,
        )
    wanted = right.text_input(
        words["search"],
        max_chars=100,
        key=widget("find", link["find"]),
        placeholder=words["search_hint"],
        icon=":material/search:",
    )
    return topic, depth, wanted


def _question(question: Question, depth: str, opened: bool) -> bool:
    """One question, folded; whether it is open now."""
    key = widget(f"question {question.name}", opened)
    box = st.expander(question.ask, key=key, on_change="rerun")
    if box.open:
        with box:
            _answers(question, depth)
    return bool(box.open)


def _answers(question: Question, depth: str) -> None:
    words = text("interview")
    titles = words["depths"]
    tabs = st.tabs(
        [titles[name] for name in DEPTHS],
        default=titles[depth],
        key=f"depths {question.name} {depth}",
    )
    for tab, name in zip(tabs, DEPTHS):
        with tab:
            st.markdown(question.answer(name))
            if name == "senior" and question.formula:
                st.latex(question.formula)
    with st.container(border=True):
        st.markdown(f"✗ **{words['wrong']}:** {question.wrong}\n\n{question.why}")
    show_me(question.show, question.see)
    if question.source:
        st.caption(words["source"].format(source=question.source))


def _joined(names: list[str]) -> str:
    """As many names as a link takes."""
    text = BETWEEN.join(names)
    return text if len(text) <= LIMITS["ask"].longest else _joined(names[:-1])
