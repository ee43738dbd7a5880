"""Page 6 live: the chosen ways run on this machine, in turn, with progress and Cancel."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

import streamlit as st

from specdec import contest_run
from specdec.contest import LAWS, Contest
from specdec.contest_run import Asking, Stage
from specdec.law import Sampling
from specdec.presets import presets
from specdec.ui import engine
from specdec.ui.drafters import FRESH, LIMITS, LIVE, Chosen
from specdec.ui.job import Job
from specdec.ui.watch import watched

KEY, TURNS = "drafters job", 3
SEEDS = 2**32 - 1


def panel(chosen: Chosen, link: Mapping[str, Any]) -> dict[str, int]:
    """The settings of a run, its button and progress; k, n and seed for the link."""
    for name in ("k", "n", "seed"):
        st.session_state.setdefault(f"drafters {name}", link[name])
    with st.container(horizontal=True):
        k, n = LIMITS["k"], LIMITS["n"]
        st.number_input("k (a tree: 2k guesses)", k.low, k.high, key="drafters k", width=190)
        st.number_input("Tokens", n.low, n.high, key="drafters n", width=150)
        st.number_input("Seed", 0, SEEDS, key="drafters seed", width=190)
    told = {name: int(st.session_state[f"drafters {name}"]) for name in ("k", "n", "seed")}
    ways = (*chosen.ways, *chosen.missing)
    if not ways:
        st.caption("Choose a way to draft above; then it can run here.")
        return told
    work = partial(_work, prompt=chosen.contest.prompt, law=chosen.law, ways=ways, **told)
    watched(KEY, "Run these ways here", work, _keep, engine.progress)
    return told


def _keep(found: tuple[str, str, Contest] | None) -> None:
    """Show a whole contest in place of the recorded one, once."""
    if not found or st.session_state.get("drafters kept") is found[2]:
        return
    prompt, law, contest = found
    st.session_state["drafters kept"] = contest
    st.session_state[LIVE] = st.session_state.get(LIVE, {}) | {(prompt, law): contest}
    st.session_state[FRESH] = True
    st.rerun()


def _work(
    job: Job, *, prompt: str, law: str, ways: tuple[str, ...], k: int, n: int, seed: int
) -> tuple[str, str, Contest] | None:
    pair = engine.load()
    [preset] = [p for p in presets() if p.name == prompt]
    asking = Asking(pair, preset, Sampling(LAWS[law]), k, n, seed)
    there = contest_run.possible(pair, asking.sampling.greedy)
    stages = contest_run.contest(asking, [name for name in ways if name in there], TURNS)
    last = _turns(job, stages)
    return last and (prompt, law, last.contest)


def _turns(job: Job, stages: Iterator[Stage]) -> Stage | None:
    """A run a turn at the model, so that other readers come between; None if cancelled."""
    while not job.cancelled:
        with engine.GATE.turn(job):
            stage = next(stages)
        if stage.contest:
            return stage
        job.say(stage.fraction, stage.words)
    return None
