"""Long work on a page: a button that starts it, one that cancels it, its progress, its result."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import streamlit as st

from specdec.ui.job import Job

EVERY = 0.3  # seconds between two looks


def unfolded(label: str, key: str, draw: Callable[[], None]) -> None:
    """An expander that draws only while it is open: a chart's script weighs megabytes."""
    opened = st.expander(label, key=key, on_change="rerun")
    if opened.open:
        with opened:
            draw()


def watched(
    key: str,
    label: str,
    work: Callable[[Job], Any],
    show: Callable[[Any], None],
    progress: Callable[[Job], tuple[float, str]] = lambda job: (job.fraction, job.words),
) -> None:
    """Draw the buttons, then `show(result)`: of the last work, None before any.

    `work(job)` runs in a thread; it may set `job.result` on the way, and it is shown at once.
    """
    job = st.session_state.get(key)
    running = job is not None and job.running

    def start() -> None:
        st.session_state[key] = Job(work)

    with st.container(horizontal=True):
        st.button(label, type="primary", key=f"{key} start", on_click=start, disabled=running)
        st.button(
            "Cancel",
            key=f"{key} cancel",
            on_click=lambda: st.session_state[key].cancel(),
            disabled=not running,
        )

    @st.fragment(run_every=EVERY if running else None)
    def watch() -> None:
        job = st.session_state.get(key)
        if job and job.running:
            share, words = progress(job)
            st.progress(share, text=words or "Starting")
        elif running:  # it ended since: a whole run stops the timer and frees the button
            st.rerun()
        if job and job.error:
            st.error(job.error)
        show(job.result if job else None)

    watch()
