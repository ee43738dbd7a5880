"""What temperature, top-k and top-p do to α on the real pair: recorded, or measured anew."""

from __future__ import annotations

import plotly.graph_objects as go
import streamlit as st

from specdec.lab import overlaps, stored
from specdec.lab.overlaps import Overlaps, Sweep
from specdec.presets import presets
from specdec.ui import engine
from specdec.ui.job import Job
from specdec.ui.lab_charts import room
from specdec.ui.shown import source
from specdec.ui.watch import unfolded, watched

DRAFTS = {
    "same": ("#009E73", "circle", "solid", "the same settings as the target"),
    "open": ("#0072B2", "square", "dash", "temperature 1, no cut"),
    "greedy": ("#D55E00", "diamond", "dot", "greedy, one-hot q"),
}
TITLES = {"temperature": "Temperature", "top_k": "Top-k", "top_p": "Top-p"}
CONFIG = {"displayModeBar": False}


def overlaps_panel() -> None:
    """α along temperature, top-k and top-p."""
    st.subheader("What the settings do to α")
    st.markdown(
        "The target samples at temperature, top-k, top-p; α = Σ min(p, q) at each of many "
        "positions, averaged. Every drafter below is lossless: a drafter that ignores the settings "
        "costs speed, never the law, as long as its q is the law it really drew from.\n\n"
        "Look for two things: which drafter is best when the target is nearly greedy, and which "
        "when it samples freely; and whether temperature lowers α here. That it does is a tendency "
        "of many pairs, not a law."
    )
    unfolded("α along temperature, top-k and top-p", "overlaps open", _opened)


def _opened() -> None:
    watched(
        "overlaps",
        "Measure again on this machine",
        _measure,
        lambda found: _overlaps(found or stored.load(overlaps.FILE)),
        engine.progress,
    )


def _measure(job: Job) -> Overlaps | None:
    pair = engine.load()
    found = None
    for share, found in overlaps.measure(pair, presets(), turn=lambda: engine.GATE.turn(job)):
        job.say(share, "Measuring α" if found.sweeps else "Writing text to measure on")
        if found.sweeps:
            job.result = found
        if job.cancelled:
            return job.result
    return found


def _overlaps(found: Overlaps) -> None:
    st.caption(
        f"{source(found)} {found.positions} positions in {len(found.prompts)} texts that the "
        "target wrote itself at temperature 1; bars: one standard error."
    )
    for column, sweep in zip(st.columns(len(found.sweeps) or 1), found.sweeps):
        with column:
            st.plotly_chart(
                _curves(sweep), key=f"sweep {sweep.setting}", alt=_curves_alt(sweep), config=CONFIG
            )
    with st.expander("The numbers of these charts"):
        st.table(
            [
                {"setting": TITLES[sweep.setting], "value": f"{point.value:g}"}
                | {
                    f"drafter: {DRAFTS[d][3]}": f"{a:.3f}"
                    for d, a in zip(overlaps.DRAFTS, point.alpha)
                }
                for sweep in found.sweeps
                for point in sweep.points
            ]
        )


def _curves(sweep: Sweep) -> go.Figure:
    figure = go.Figure()
    x = [f"{point.value:g}" for point in sweep.points]
    for i, name in enumerate(overlaps.DRAFTS):
        colour, symbol, dash, words = DRAFTS[name]
        figure.add_scatter(
            name=words,
            x=x,
            y=[point.alpha[i] for point in sweep.points],
            error_y={"array": [point.error[i] for point in sweep.points], "width": 2},
            mode="lines+markers",
            line={"color": colour, "dash": dash},
            marker={"symbol": symbol, "size": 8},
        )
    figure.update_layout(
        title=TITLES[sweep.setting],
        xaxis={"type": "category"},
        yaxis={"title": "α", "rangemode": "tozero"},
        **room(len(overlaps.DRAFTS)),
    )
    return figure


def _curves_alt(sweep: Sweep) -> str:
    lines = [
        f"drafter with {DRAFTS[name][3]}: "
        + ", ".join(f"{point.value:g} gives {point.alpha[i]:.2f}" for point in sweep.points)
        for i, name in enumerate(overlaps.DRAFTS)
    ]
    return f"Lines: α against {TITLES[sweep.setting].lower()}. " + "; ".join(lines) + "."
