"""Measured runs beside the formula: of this visit, and recorded ones of the default pair."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from functools import cache

import streamlit as st

from specdec import measure, recordings, theory
from specdec.presets import presets
from specdec.trace import Source
from specdec.ui import speedup_at
from specdec.ui.live_curve import Point
from specdec.ui.measured import Measured


def panel(runs: Sequence[Measured]) -> None:
    """The runs of this visit."""
    if not runs:
        st.markdown(
            "Nothing yet in this visit: a run of the live pair leaves its point on the curve."
        )
        return
    _show(runs)


def recorded_panel() -> None:
    """The recorded runs; they stand in a table, not on the curve, which is this visit's."""
    runs, source = recorded()
    st.markdown(
        "The default pair on each kind of text, greedy. Its α, c and v differ from text to text; "
        "the formula with each run's own should come near its clock."
    )
    _show(runs)
    st.caption(f"Recorded on {source.when}: {source.machine}, {source.device}, {source.dtype}.")


@cache
def recorded() -> tuple[tuple[Measured, ...], Source]:
    """Every preset's run with the small drafter, and where it was recorded."""
    runs = []
    for preset in presets():
        fast, slow = (recording := recordings.load(preset.name)).speculative, recording.plain
        costs, speed = measure.costs_of(fast, slow), measure.measured_speedup(fast, slow)
        if costs and speed and fast.alpha is not None:
            k = fast.settings.k
            runs.append(Measured(preset.title, k, fast.alpha, costs.c, costs.v, speed))
    return tuple(runs), fast.source


def _show(runs: Sequence[Measured]) -> None:
    st.table(compared(runs))
    st.markdown("Set the sliders to")
    with st.container(horizontal=True):
        for run in runs:
            label = f"“{run.label}”"
            st.button(label, key=f"go {label}", on_click=speedup_at.go, args=(point_of(run),))


def point_of(run: Measured) -> Point:
    """The sliders' point nearest to a measured run."""
    return Point.read(asdict(run))[0]


def compared(runs: Sequence[Measured]) -> list[dict[str, str]]:
    """Rows of the table that sets each measured run beside its prediction."""
    return [
        {
            "run": run.label,
            "k": str(run.k),
            "α": f"{run.alpha:.3f}",
            "c": f"{run.c:.3f}",
            "v": f"{run.v:.3f}",
            "predicted": f"{theory.speedup(run.alpha, run.k, run.c, max(run.v, 0.0)):.2f}×",
            "measured": f"{run.speedup:.2f}×",
        }
        for run in runs
    ]
