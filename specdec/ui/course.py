"""The way through the lessons: which of them this visit has opened. In the session and as seen=…"""

from __future__ import annotations

from collections.abc import Collection

import streamlit as st

from specdec.language import text
from specdec.ui import query

KEY = "seen"
_BETWEEN = "."


def opened() -> frozenset[str]:
    """The addresses of the lessons that were opened."""
    return st.session_state.get(KEY, frozenset())


def enter(address: str, lessons: Collection[str]) -> tuple[str, ...]:
    """Note that a page is open, and what its link says of others; gives sentences on the link."""
    link = {KEY: st.query_params[KEY]} if KEY in st.query_params else {}
    told, notes = read(link, lessons)
    st.session_state[KEY] = opened() | told | ({address} & set(lessons))
    return notes


def read(link: dict[str, str], lessons: Collection[str]) -> tuple[frozenset[str], tuple[str, ...]]:
    """The lessons that a link names, and sentences about what was mended."""
    found = query.read(link, KEY)
    names = frozenset(found.values[KEY].split(_BETWEEN)) - {""}
    foreign = (text("course")["unknown"],) if names - set(lessons) else ()
    return names & set(lessons), found.notes or foreign


def write(lessons: Collection[str]) -> str:
    """What a link says of the opened lessons, in their order."""
    return _BETWEEN.join(address for address in lessons if address in opened())
