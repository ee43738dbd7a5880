"""What a pass over several tokens costs on this machine, measured when a reader asks."""

from __future__ import annotations

import streamlit as st

from specdec.measure import PassTimes, pass_times
from specdec.ui import engine
from specdec.ui.job import Job

KEY, TOKENS = "pass job", (1, 2, 3, 5, 9)


def _measure(job: Job) -> tuple[PassTimes, str]:
    job.say(0.1, "Loading the target")
    pair = engine.load()
    job.say(0.6, "Timing passes over 1, 2, 3, 5 and 9 tokens, in turn")
    with engine.GATE.turn(job):
        return pass_times(pair.target, TOKENS), ", ".join(pair.hardware)


def _start() -> None:
    st.session_state[KEY] = Job(_measure)


def panel() -> None:
    """A button, progress, and the result as numbers and a table."""
    job: Job | None = st.session_state.get(KEY)
    running = job is not None and job.running
    st.button("Measure it here", on_click=_start, disabled=running, type="primary")

    @st.fragment(run_every=0.5 if running else None)
    def watch() -> None:
        if job is None:
            return
        if job.running:
            loading = engine.loading()
            st.progress(max(job.fraction, loading[0] / 2), text=loading[1] or job.words)
        elif running:
            st.rerun()
        elif job.error:
            st.error(job.error)
        else:
            result(*job.result)

    watch()


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
        f"Measured just now on {hardware}: medians of 15 passes each, in turn, with "
        f"{times.length} tokens cached. Other work on this machine moves them."
    )
