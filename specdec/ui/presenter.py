"""Presenter mode: big type, folded controls, one key to go on. In the session, and as present=1."""

from __future__ import annotations

import streamlit as st

from specdec.language import text
from specdec.ui import query
from specdec.ui.component import component

KEY = "present"
ENTERED = "presenter entered"  # of the session: by the reader, so by no link of a class
SHORTCUT = "Alt+P"
MODULES = ("keys", "class")


def on() -> bool:
    """Whether this visit presents: by its link at first, then by what the reader did since."""
    link = {KEY: st.query_params[KEY]} if KEY in st.query_params else {}
    first = query.read(link, KEY).values[KEY] == "1"
    return st.session_state.setdefault(KEY, first)


def switch(present: bool) -> None:
    """Enter or leave; the address follows, so a reload keeps it."""
    st.session_state[KEY] = st.session_state[ENTERED] = present
    if present:
        st.query_params[KEY] = "1"
    else:
        st.query_params.pop(KEY, None)


def button() -> None:
    """The way in."""
    words = text("presenter")
    st.button(
        words["enter"],
        key="presenter enter",
        help=words["help"],
        icon=":material/present_to_all:",
        on_click=switch,
        args=(True,),
        shortcut=SHORTCUT,
    )


def bar(address: str, place: str) -> int:
    """What the mode adds to a page; gives 1 if the next page is asked for, -1 for the one before.

    `place` says on the screen where the reader is.
    """
    keys = [[row["keys"], row["does"]] for row in text("presenter")["key"]]
    state = _mount(
        key="presenter bar",
        data={
            "page": address,
            "place": place,
            "keys": keys,
            "entered": st.session_state.get(ENTERED, False),
        },
        on_turn_change=lambda: None,
        on_leave_change=lambda: switch(False),
    )
    turn = state.get("turn")
    return turn if turn in (1, -1) else 0


_mount = component("presenter", MODULES, isolate=False)
