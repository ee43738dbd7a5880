"""A measurement as a file: saved, and another machine's beside it."""

from __future__ import annotations

import streamlit as st

from specdec.machine import Machine
from specdec.ui.literal import literal
from specdec.ui.machine_words import beside

MOST = 2**20  # bytes of a file that is opened


def files(machine: Machine) -> None:
    """Save this measurement; open another one beside it."""
    left, right = st.columns(2, gap="large")
    with left:
        st.markdown("**Save this measurement**")
        st.download_button(
            "As JSON: opens here again",
            machine.to_json,
            "machine.json",
            "application/json",
            on_click="ignore",
        )
    with right:
        st.markdown("**Open another machine's**")
        file = st.file_uploader("A measurement as JSON, at most 1 MB", "json", key="machine file")
    if file is None:
        return
    try:
        other = opened(file.getvalue())
    except ValueError as error:
        st.error(literal(f"“{file.name}” was not opened. {error}"))
        return
    st.table(
        [{name: literal(cell) for name, cell in row.items()} for row in beside(machine, other)]
    )


def opened(data: bytes) -> Machine:
    """The measurement in a file, checked; ValueError in words."""
    if len(data) > MOST:
        raise ValueError(f"It has {len(data) / MOST:.1f} MB; the most is {MOST // 2**20} MB.")
    return Machine.from_json(data)
