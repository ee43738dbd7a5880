"""Page 7's state: which measurement is shown, of which run, and the work of a new one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import streamlit as st

from specdec.batch import BATCHES
from specdec.machine import Machine, TimedRun, seconds_of
from specdec.measure import Costs
from specdec.presets import ASSETS, Preset, presets
from specdec.profile import profile
from specdec.ui import engine, query
from specdec.ui.job import Job
from specdec.ui.measured import Measured, remember
from specdec.ui.watch import watched
from specdec.waterfall import c_of, measured

KEY, LAST = "machine job", "machine measured"
STEADY = 1.25  # the slowest repeat of plain decoding ÷ the fastest, up to which nothing is said
NAMES = tuple(p.name for p in presets())
WORDS = {"model": "small model", "lookup": "prompt lookup"}
LIMITS = {"prompt": query.Choice("code", NAMES)}


@dataclass(frozen=True)
class Chosen:
    """What is on the page: a measurement, one of its runs, a batch size; `prompt`: to measure."""

    machine: Machine
    run: TimedRun
    batch: int
    prompt: str

    def link(self) -> dict[str, Any]:
        """Values for the keys of a link."""
        return {
            "drafter": self.run.drafter,
            "k": self.run.k,
            "batch": self.batch,
            "prompt": self.prompt,
        }


@cache
def recorded() -> Machine:
    """The measurement that is shown before any other."""
    return Machine.from_json((ASSETS / "traces" / "machine.json").read_bytes())


def shown() -> Machine:
    """This visit's last whole measurement, else the recorded one."""
    job = st.session_state.get(KEY)
    if job and job.result:
        st.session_state[LAST] = job.result
    return st.session_state.get(LAST) or recorded()


def origin(machine: Machine) -> str:
    """Where a measurement comes from, in a line."""
    source = machine.source
    how = f"Recorded on {source.when}" if source.kind == "recorded" else "Measured in this visit"
    repeats = len(machine.plain.seconds)
    return (
        f"{how} · {source.machine} · {source.dtype} on {source.device} · {source.target}, greedy, "
        f"{machine.plain.tokens} tokens of the prompt “{machine.prompt}”, each run "
        f"{repeats} time{'s' * (repeats != 1)} · other work on a machine moves its times"
    )


def unsteady(machine: Machine) -> str:
    """A warning where plain decoding itself took very different times; "" if it did not."""
    times = machine.plain.per_token
    ratio = max(times) / min(times)
    if ratio < STEADY:
        return ""
    return (
        f"The repeats of plain decoding differ by {ratio:.1f}×: the machine was busy with other "
        "work. Read these numbers as rough, and measure again when it is quiet."
    )


def measuring(prompt: str) -> str:
    """The prompt to measure with (a link gives the first), the button, cancel and progress."""
    known = {p.name: p for p in presets()}
    st.session_state.setdefault("machine prompt", prompt)
    name = st.selectbox(
        "Prompt of the runs", NAMES, key="machine prompt", format_func=lambda n: known[n].title
    )
    work = partial(_measure, preset=known[name])
    watched(KEY, "Measure this machine", work, lambda found: None, engine.progress)
    return name


def _measure(job: Job, preset: Preset) -> Machine | None:
    pair = engine.load()
    with engine.GATE.turn(job):
        for stage in profile(pair, preset):
            if job.cancelled:
                return None
            job.say(stage.fraction, stage.words)
    return stage.machine


def controls(link: Mapping[str, Any], prompt: str) -> Chosen:
    """The drafter, k and batch that the charts are drawn for; a link gives the first values."""
    machine = shown()
    drafters = [name for name in WORDS if machine.of(name)]
    left, middle, right = st.columns(3)
    drafter = left.radio(
        "Drafter",
        drafters,
        drafters.index(link["drafter"]) if link["drafter"] in drafters else 0,
        key="machine drafter",
        format_func=WORDS.get,
        horizontal=True,
    )
    runs = machine.of(drafter)
    ks = [run.k for run in runs]
    near = min(ks, key=lambda k: abs(k - link["k"]))
    k = middle.radio(
        "k, of the measured runs",
        ks,
        ks.index(near),
        key=f"machine k {drafter} {len(ks)}",
        horizontal=True,
    )
    batch = right.select_slider(
        "Sequences in one pass (B)",
        BATCHES,
        min(BATCHES, key=lambda b: abs(b - link["batch"])),
        key="machine batch",
    )
    [run] = [run for run in runs if run.k == k]
    _remember(machine)
    return Chosen(machine, run, batch, prompt)


def _remember(machine: Machine) -> None:
    """Put what was measured here on the curve of page 4."""
    if machine.source.kind != "live":
        return
    for run in machine.runs[1:]:
        if run.alpha is not None:
            one, verify = machine.target.seconds[0], seconds_of(machine.target, run.k + 1)
            v = Costs(run.k, one, verify, 0.0).v
            label = f"this machine: {WORDS[run.drafter]}, k = {run.k}"
            speed = measured(machine, run)[1]
            remember(Measured(label, run.k, run.alpha, c_of(machine, run), v, speed))
