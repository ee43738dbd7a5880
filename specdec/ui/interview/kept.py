"""What page 9 keeps of each part while the reader is elsewhere: the keys of its link, as last."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from specdec.ui import course, presenter, query

KEPT, PART = "interview kept", "interview part"  # of the session: part → keys; the widget


def begin(params: Mapping[str, Any], parts: tuple[str, ...]) -> tuple[str, ...]:
    """Choose the part: on arrival by a link, later by what was kept; gives notes on the link."""
    store = st.session_state.setdefault(KEPT, {})
    own = set(params) & set(query.KEYS) - {course.KEY, presenter.KEY}
    arrives = PART not in st.session_state and bool(own)
    link = query.read(params if arrives else store, part=query.Choice(parts[0], parts))
    if arrives:
        store[link.values["part"]] = {name: str(params[name]) for name in params}
    st.session_state.setdefault(PART, link.values["part"])
    return link.notes


def params(part: str) -> Mapping[str, str]:
    """The keys with which a part was last seen, or a link's on arrival."""
    return st.session_state[KEPT].get(part, {})


def keep(part: str, state: Mapping[str, Any]) -> None:
    """A part was drawn like this."""
    store = st.session_state[KEPT]
    st.session_state[KEPT] = store | {"part": part, part: query.write(**state)}


def widget(name: str, value: Any) -> str:
    """The key of a widget that starts from this value unless it has one of its own."""
    key = f"interview {name}"
    st.session_state.setdefault(key, value)
    return key
