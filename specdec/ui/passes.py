"""What a pass over several tokens costs on this machine, measured when a reader asks."""

from __future__ import annotations

import streamlit as st

from specdec.measure import PassTimes, pass_times
from specdec.ui import engine
from specdec.ui.job import Job
from specdec.ui.watch import watched

KEY, TOKENS, REPEATS = "pass job", (1, 2, 3, 5, 9), 15


def panel() -> None:
    """Buttons, progress, and the result as numbers and a table."""
    watched(
        KEY, "Measure it here", _measure, lambda found: found and result(*found), engine.progress
    )


def _measure(job: Job) -> tuple[PassTimes, str] | None:
    pair = engine.load()
    words = f"Timing passes over {', '.join(map(str, TOKENS))} tokens, in turn"
    job.say(0.0, words)
    with engine.GATE.turn(job):
        for times in pass_times(pair.target, TOKENS, repeats=REPEATS):
            if job.cancelled:
                return None
            job.say(times.repeats / REPEATS, words)
    return times, ", ".join(pair.hardware)


def result(times: PassTimes, hardware: str) -> None:
    """Five tokens against one, then every count."""
    one, five = times.seconds[0], times.seconds[times.tokens.index(5)]
    left, right = st.columns([1, 2], vertical_alignment="center")
    left.metric("A pass over 5 tokens costs", f"{five / one:.2f} ×", "of a pass over 1", "off")
    right.dataframe(
        {
            "tokens in one pass": times.tokens,
            "milliseconds": [round(s * 1e3, 1) for s in times.seconds],
            "÷ a pass over 1": [round(s / one, 2) for s in times.seconds],
            "per token": [round(s / one / n, 2) for n, s in zip(times.tokens, times.seconds)],
        },
        hide_index=True,
    )
    st.caption(
        f"Measured just now on {hardware}: medians of {times.repeats} passes each, in turn, "
        f"with {times.length} tokens cached. Other work on this machine moves them."
    )
