"""Runs as files: saved as JSON or a table, opened again, and the recorded ones as a gallery."""

from __future__ import annotations

from typing import Any

import streamlit as st

from specdec import measure, recordings
from specdec.export import to_csv
from specdec.presets import Preset, presets
from specdec.trace import Trace, recorded
from specdec.ui import engine
from specdec.ui.literal import literal
from specdec.ui.live import OPENED
from specdec.ui.live_rates import number
from specdec.ui.shown import Shown

MOST = 2**20  # bytes of a file that is opened
WAYS = {
    "model": "Small model, greedy",
    "sampled": "Small model, sampled",
    "lookup": "Prompt lookup, greedy",
}


def files(run: Shown) -> None:
    """Save the run on the stage; open one from a file."""
    left, right = st.columns(2, gap="large")
    with left:
        st.markdown("**Save the run on the stage**")
        name = f"{run.key.replace(' ', '-')}-k{run.trace.settings.k}"
        st.download_button(
            "As JSON: everything, opens here again",
            lambda: run.trace.to_json(),
            f"{name}.json",
            "application/json",
            on_click="ignore",
        )
        st.download_button(
            "As CSV: a line for every drafted and every written token",
            lambda: to_csv(run.trace),
            f"{name}.csv",
            "text/csv",
            on_click="ignore",
        )
    with right:
        st.markdown("**Open a run**")
        st.file_uploader("A trace as JSON, at most 1 MB", "json", key="upload", on_change=_open)
        if error := st.session_state.get("upload error"):
            st.error(error)
        if OPENED in st.session_state:
            st.button("Close it and go back", on_click=_close)


def _open() -> None:
    """Put the uploaded trace on the stage, or keep what is there and say why."""
    st.session_state.pop("upload error", None)
    file = st.session_state.get("upload")
    if file is None:
        return
    try:
        st.session_state[OPENED] = file.name, opened(file.getvalue())
    except ValueError as error:
        st.session_state["upload error"] = literal(f"“{file.name}” was not opened. {error}")


def opened(data: bytes) -> Trace:
    """The trace in a file, checked; ValueError in words. What was live is a recording now."""
    if len(data) > MOST:
        raise ValueError(f"It has {len(data) / MOST:.1f} MB; the most is {MOST // 2**20} MB.")
    trace = Trace.from_json(data)
    if not trace.rounds:
        raise ValueError("No round has run in this trace: there is nothing to show.")
    return recorded(trace, "") if trace.source.kind == "live" else trace


def _close() -> None:
    st.session_state.pop(OPENED, None)


def gallery(run: Shown) -> None:
    """The recorded runs by kind of prompt, each with its rates and what to notice."""
    st.caption("Real runs of the default pair, recorded with their timings. Each opens at once.")
    going = engine.live().running
    for preset in presets():
        st.markdown(f"**{preset.title}** · {preset.notice}")
        for column, (way, words) in zip(st.columns(len(WAYS)), WAYS.items()):
            with column, st.container(border=True, height="stretch"):
                st.markdown(words)
                st.caption(figures(recordings.load(preset.name, way)))
                st.button(
                    "Open",
                    key=f"open {preset.name} {way}",
                    on_click=_show,
                    args=(preset, way),
                    disabled=going,
                    help="Stop the run that goes on first." if going else None,
                )


def figures(recording: recordings.Recording) -> str:
    """The numbers of a recording in a line."""
    trace = recording.speculative
    speed = measure.measured_speedup(trace, recording.plain)
    return (
        f"α {number(trace.alpha)} · {number(trace.tokens_per_pass)} tokens a pass · "
        f"{number(speed)} × plain"
    )


def _show(preset: Preset, way: str) -> None:
    """Set the controls to a recording's settings, and forget what lay over it."""
    _close()
    engine.live().forget()
    settings = recordings.load(preset.name, way).speculative.settings
    values: dict[str, Any] = {
        "preset": preset.name,
        "drafter": settings.drafter,
        "k": settings.k,
        "T": settings.sampling.temperature,
        "top_k": settings.sampling.top_k,
        "top_p": settings.sampling.top_p,
        "n": settings.max_new_tokens,
        "rule": settings.rule,
        "seed": settings.seed,
    }
    for name, value in values.items():
        st.session_state[f"live {name}"] = value
