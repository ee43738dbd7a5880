"""Station 3: many sequences in one pass, and no room left to check guesses in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import streamlit as st

from specdec import batch
from specdec.machine import Machine, TimedRun, seconds_of
from specdec.ui import machine, machine_charts, machine_words, query, shell
from specdec.ui.live_rates import number
from specdec.ui.speedup_tables import MARKS
from specdec.ui.stations.parts import part, question
from specdec.ui.watch import unfolded

PLOT = {"config": {"displayModeBar": False}}
GUESSES = ("From B = 2 or 4 on", "From B = 8 or 16 on", "From B = 32 or 64 on", "At none of these")
LIMITS = {
    "batch": query.Number(16, 1, 64, whole=True),
    "k": query.Number(4, 1, 24, whole=True),
    "drafter": query.Choice("model", tuple(machine.WORDS)),
}


@dataclass(frozen=True)
class Shown:
    """A measurement, one of its runs, a batch size whose passes were timed."""

    machine: Machine
    run: TimedRun
    size: int


def draw(link: Mapping[str, Any]) -> dict[str, Any]:
    """Draw the station; returns its state for a link."""
    found = machine.shown()
    _question(found)
    part("do", "Serve more readers at once: their tokens share every pass.")
    at = _controls(found, link)
    st.caption(machine.origin(found))
    if busy := machine.unsteady(found):
        st.warning(busy)
    if found.source.kind == "recorded":
        words = "Measure this machine: this station then shows its numbers"
        st.page_link(shell.page("machine").path, label=words, icon=":material/speed:")

    part("symptom", _symptom(at))
    alt = "Speed-up by batch size here and as published; the tables below have the numbers."
    figure = machine_charts.batches(found, at.run)
    st.plotly_chart(figure, key="batch speeds", alt=alt, **PLOT)
    published = batch.published()
    st.caption(
        "Here: computed from the timed passes and the run's α; each sequence's own cache is left "
        "out. Dotted lines are **published** figures, not this machine's: "
        f"{published.words} ({MARKS[published.mark]})."
    )
    unfolded("The published figures", "batch published", lambda: st.table(_published()))

    part("cause", _cause(at))
    figure = machine_charts.passes(found, at.size, at.run)
    st.plotly_chart(figure, key="batch passes", alt="Time of a pass by its tokens.", **PLOT)
    unfolded("Passes in numbers", "batch v", lambda: st.table(machine_words.ranges(found)))

    part("cure", _cure(at))
    st.table(machine_words.batches(found, at.run))
    return {"batch": at.size, "drafter": at.run.drafter, "k": at.run.k}


def stops_at(found: Machine, run: TimedRun) -> int | None:
    """The smallest batch at which no k pays; None if some k pays at all that were timed."""
    return next((size for size in _sizes(found) if not batch.best(found, run, size)[0]), None)


def _question(found: Machine) -> None:
    run = _run(found, "model", 4)
    stop = stops_at(found, run)
    right = next((g for g, most in zip(GUESSES, (4, 16, 64)) if stop and stop <= most), GUESSES[-1])
    words = "Some k pays at every batch that was timed." if stop is None else (
        f"From B = {stop} on no k pays: there the passes are full without guesses."
    )  # fmt: skip
    k, speed, _ = batch.best(found, run, 1)
    question(
        "batch",
        f"One reader alone gains most with k = {k}: {speed:.2f}×, with α = {number(run.alpha)}. "
        "Put B readers into every pass. From which B on is it best not to draft at all?",
        GUESSES,
        right,
        words,
    )


def _controls(found: Machine, link: Mapping[str, Any]) -> Shown:
    left, right = st.columns(2)
    drafters = [name for name in machine.WORDS if found.of(name)]
    name = left.radio(
        "Drafter",
        drafters,
        drafters.index(link["drafter"]) if link["drafter"] in drafters else 0,
        key="batch drafter",
        format_func=machine.WORDS.get,
        horizontal=True,
    )
    sizes = _sizes(found)
    near = min(sizes, key=lambda size: abs(size - link["batch"]))
    size = right.select_slider("Sequences in one pass (B)", sizes, near, key="batch size")
    return Shown(found, _run(found, name, link["k"]), size)


def _run(found: Machine, drafter: str, k: int) -> TimedRun:
    """The measured run nearest to this."""
    runs = found.of(drafter) or found.runs[1:]
    return min(runs, key=lambda run: abs(run.k - k))


def _sizes(found: Machine) -> list[int]:
    reach = min(found.draft.tokens[-1], found.target.tokens[-1])
    return [size for size in batch.BATCHES if size <= reach]


def _symptom(at: Shown) -> str:
    k, speed, _ = batch.best(at.machine, at.run, at.size)
    [own] = batch.speedup(at.machine, at.run, at.size, np.array([at.run.k]))
    kept = "not timed" if np.isnan(own) else f"{own:.2f}×"
    best = f"k = {k}, with {speed:.2f}×" if k else "k = 0: plain decoding"
    return (
        f"**B = {at.size}:** at k = {at.run.k} the speed-up is {kept}; the best is {best}. α is "
        f"{number(at.run.alpha)} at every batch: the drafter is as good as before."
    )


def _cause(at: Shown) -> str:
    times, n = at.machine.target, at.size * (at.run.k + 1)
    one, flat = times.seconds[0], batch.ridge(at.machine)
    alone, full = seconds_of(times, at.size), seconds_of(times, n)
    there = "a time that was not measured" if np.isnan(full) else f"{full / alone:.1f} × as long"
    return (
        "A pass reads all weights once, whatever it computes with them: up to "
        f"**{flat} token{'s' * (flat != 1)}** a pass costs at most a quarter more than over one "
        f"here ({one * 1e3:.1f} ms). Guesses live in that room. {at.size} sequences fill "
        f"{at.size} places without any guess; with k = {at.run.k} a pass has {n} tokens, and "
        f"against one over {at.size} it takes {there}. Once the arithmetic is no longer idle, a "
        "rejected guess costs as much as a written token."
    )


def _cure(at: Shown) -> str:
    stop = stops_at(at.machine, at.run)
    until = "at every batch that was timed" if stop is None else f"below B = {stop}"
    return (
        "Choose k by the load, and switch drafting off when the batch is full: with the "
        f"{machine.WORDS[at.run.drafter]} some k pays {until}. The best k by batch:"
    )


def _published() -> list[dict[str, str]]:
    series = batch.published().series
    return [
        {"B": str(size)} | {s.name: f"{s.speedup[i]:.2f}×" for s in series}
        for i, size in enumerate(series[0].batch)
    ]
