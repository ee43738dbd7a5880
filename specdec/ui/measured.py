"""What was measured on this machine in this visit, for pages that set it beside a prediction."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

KEY = "measured"


@dataclass(frozen=True)
class Measured:
    """One measured run: its settings, its rates (α judged; c, v in target passes), its speed-up."""

    label: str
    k: int
    alpha: float
    c: float
    v: float
    speedup: float


def measured() -> tuple[Measured, ...]:
    """All runs of this visit, oldest first."""
    return tuple(st.session_state.get(KEY, ()))


def remember(run: Measured) -> None:
    """Keep a run; one with the same label replaces the older."""
    others = [other for other in measured() if other.label != run.label]
    st.session_state[KEY] = [*others, run]
