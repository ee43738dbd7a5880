"""Two runs on one clock or one under the other: the race, the comparison, and "what if α were"."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from specdec import measure, recordings, simulate, theory
from specdec.compare import conditions
from specdec.trace import Trace
from specdec.ui.beside import beside
from specdec.ui.engine import MAX_K
from specdec.ui.live_rates import number
from specdec.ui.race import race
from specdec.ui.shown import Shown

KEPT = "kept runs"  # of the session state: label → trace
MOST_KEPT = 4
NEEDS_PLAIN = (
    "It needs plain decoding of the same prompt beside this run: it follows by itself when a run "
    "has come to its end."
)
NEEDS_PASSES = "It needs a drafter that makes passes: this run made none, so c is not known here."


def against_plain(run: Shown) -> None:
    """The race of the run on the stage against plain decoding."""
    if run.plain is None or not run.trace.settings.k:
        st.markdown(NEEDS_PLAIN if run.trace.settings.k else "At k = 0 this run is plain decoding.")
        return
    race(run.trace, run.plain, key=f"race {run.key}")


def two_runs(run: Shown, preset: str) -> None:
    """Any two of: the run on the stage, runs that were kept, recordings of the same prompt."""
    st.button(
        "Keep the run on the stage",
        on_click=keep,
        args=(run,),
        help=f"Then change one setting, run again, and compare. The last {MOST_KEPT} are kept.",
    )
    runs = choices(run, preset, st.session_state.get(KEPT, {}))
    labels, columns = list(runs), st.columns(2)
    first = columns[0].selectbox("One run", labels, 0, key=f"compare a {preset}")
    other = columns[1].selectbox("The other", labels, nearest(runs), key=f"compare b {preset}")
    if first == other:
        st.info("This is the same run twice: choose another one beside it.")
        return
    a, b = runs[first], runs[other]
    if [t.id for t in a.prompt] != [t.id for t in b.prompt]:
        st.info("These two runs have different prompts: nothing about their texts can be compared.")
        return
    beside(a, b, key="beside", labels=(first, other))


def choices(run: Shown, preset: str, kept: Mapping[str, Trace]) -> dict[str, Trace]:
    """What can be compared, by label."""
    runs = {f"On the stage: {label(run.trace)}": run.trace, **kept}
    for way in recordings.WAYS:
        trace = recordings.load(preset, way).speculative
        if trace is not run.trace:
            runs[f"Recorded: {label(trace)}"] = trace
    return runs


def nearest(runs: Mapping[str, Trace]) -> int:
    """The place of the run that differs from the first in the fewest settings, but in some."""
    first, *others = runs.values()
    apart = [len(conditions(first, other)) or len(vars(first.settings)) for other in others]
    return 1 + apart.index(min(apart)) if others else 0


def keep(run: Shown) -> None:
    """Remember the run on the stage; the oldest of too many goes."""
    kept = st.session_state.get(KEPT, {})
    name = f"Kept {st.session_state.get('kept so far', 0) + 1}: {label(run.trace)}"
    st.session_state["kept so far"] = st.session_state.get("kept so far", 0) + 1
    st.session_state[KEPT] = dict([*kept.items(), (name, run.trace)][-MOST_KEPT:])


def label(trace: Trace) -> str:
    """A run in a few words: what drafted, and the settings that matter most."""
    s = trace.settings
    drafter = trace.source.drafter if s.k else "plain decoding"
    sampling = "greedy" if s.sampling.greedy else f"T = {s.sampling.temperature:g}, seed {s.seed}"
    rule = "" if s.rule == "pq" or not s.k else f", {s.rule}"
    return f"{drafter}, k = {s.k}, {sampling}{rule}"


def what_if(run: Shown) -> None:
    """The real pair's clock with an α of the reader's choice: simulated rounds, no text."""
    costs = run.plain and run.trace.draft_passes and measure.costs_of(run.trace, run.plain)
    if not costs:
        st.markdown(NEEDS_PASSES if run.plain else NEEDS_PLAIN)
        return
    st.markdown(
        "The times of a pass are this pair's own, measured in the two runs above; whether a "
        "drafted token is accepted is **drawn with the chance α that you set**. So there is no "
        "text: nothing here is what the target would write."
    )
    left, middle, right = st.columns(3)
    start = round(run.trace.alpha or 0.5, 2)
    alpha = left.slider("What if α were …", 0.0, 1.0, start, 0.01, key="what-if alpha")
    k = middle.slider("k", 1, MAX_K, run.trace.settings.k, key="what-if k")
    seed = right.number_input("Seed of the draws", 0, 2**32 - 1, 0, key="what-if seed")
    n = len(run.trace.token_ids)
    fast, slow = simulate.trace(alpha, k, n, int(seed), costs), simulate.plain(n, costs)
    st.markdown(outcome(alpha, k, costs, measure.measured_speedup(fast, slow)))
    race(fast, slow, key="what-if race")


def outcome(alpha: float, k: int, costs: measure.Costs, drawn: float | None) -> str:
    """The formula's answer, the draw's, and the best k."""
    formula = theory.speedup(alpha, k, costs.c, costs.v)
    best = theory.best_k(alpha, costs.c, costs.v, MAX_K)
    top = theory.speedup(alpha, best, costs.c, costs.v)
    return (
        f"With c = {costs.c:.2f} and v = {costs.v:.2f} the formula gives **{formula:.2f} ×** at "
        f"k = {k}; these draws give {number(drawn)} ×. The best would be k = {best}, with "
        f"{top:.2f} ×."
    )
