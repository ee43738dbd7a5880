"""What can be looked at below the stage of "Live pair", one panel at a time."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from specdec.ui import live_beside, live_files, live_memory, live_rates
from specdec.ui.live import OWN
from specdec.ui.shown import Shown

KEY = "live panel"
TITLES = {
    "rates": "Four rates",
    "race": "Race",
    "compare": "Compare two runs",
    "what-if": "What if α were …",
    "memory": "Memory",
    "files": "Save and open",
    "recordings": "Recordings",
}


def draw(run: Shown, prompt: str, first: str) -> None:
    """The choice of panels, and the chosen one; `first` is the one of the link."""
    st.session_state.setdefault(KEY, first)
    st.segmented_control(
        "More about this run",
        list(TITLES),
        format_func=TITLES.get,
        key=KEY,
        required=True,
    )
    panels: dict[str, Callable[[], None]] = {
        "rates": lambda: live_rates.explained(run),
        "race": lambda: live_beside.against_plain(run),
        "compare": lambda: live_beside.two_runs(run, "chat" if prompt == OWN else prompt),
        "what-if": lambda: live_beside.what_if(run),
        "memory": lambda: live_memory.memory(run),
        "files": lambda: live_files.files(run),
        "recordings": lambda: live_files.gallery(run),
    }
    with st.container(border=True):
        panels[st.session_state[KEY]]()
