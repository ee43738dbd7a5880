"""Two charts of page 6: adaptive k beside the best in hindsight, and certainty against fact."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import streamlit as st

from specdec import calibration
from specdec.calibration import Bin
from specdec.contest import LAWS, RECORDED, Contest, load
from specdec.hindsight import Hindsight, hindsight
from specdec.measure import Costs
from specdec.ui.drafters import WORDS

PLOT = {"config": {"displayModeBar": False}}
ADAPTS, BEST = "#0072B2", "#D55E00"
MARKS = {"model": "circle", "heads": "square", "early-exit": "diamond", "lookup": "triangle-up"}


@dataclass(frozen=True)
class Stairs:
    """k of every round of the adaptive run, and the best k where each began."""

    asked: tuple[int, ...]
    kept: tuple[int, ...]
    best: tuple[int, ...]
    bar: Hindsight
    costs: Costs
    drafter: str


def stairs(contest: Contest) -> Stairs | None:
    """None without an adaptive run, or without its drafter's answers at every place."""
    if "adaptive" not in contest.names:
        return None
    trace, costs = contest.entry("adaptive").trace, contest.costs("adaptive")
    seen = contest.foresight(trace.settings.drafter)
    if seen is None or costs is None or trace.token_ids != contest.plain.trace.token_ids:
        return None
    bar = hindsight(seen.agree, costs.c, costs.v)
    starts = [r.start - len(trace.prompt) for r in trace.rounds]
    return Stairs(
        tuple(r.k for r in trace.rounds),
        tuple(r.accepted for r in trace.rounds),
        tuple(bar.k[i] for i in starts),
        bar,
        costs,
        trace.settings.drafter,
    )


def adaptive(contest: Contest) -> None:
    """Words, staircase, table."""
    found = stairs(contest)
    if found is None:
        st.markdown(
            "There is nothing to hold an adaptive k against here: it takes a greedy text, which "
            "all drafters share, and an adaptive run that wrote the same one."
        )
        return
    st.markdown(adaptive_words(contest, found))
    st.plotly_chart(staircase(found), key="drafters stairs", alt=stairs_said(found), **PLOT)
    with st.expander("The rounds in numbers"):
        st.table(
            [
                {"round": str(i + 1), "k asked": str(k), "kept": str(a), "best k": str(b)}
                for i, (k, a, b) in enumerate(zip(found.asked, found.kept, found.best))
            ]
        )


def adaptive_words(contest: Contest, found: Stairs) -> str:
    """What the policy knows, what hindsight knows, and what that is worth."""
    speed = contest.speedups("adaptive")[1]
    exact = sum(a == b for a, b in zip(found.asked, found.best))
    return (
        f"k follows the share that was kept of the last drafts by the {WORDS[found.drafter]} and "
        f"the costs c = {found.costs.c:.3f}, v = {found.costs.v:.3f}. It cannot see ahead. "
        "**Hindsight** can: the drafter was asked at *every* place of the text, so it is known "
        "how far each draft would have been right, and the k's that write the text in the least "
        f"time follow (dynamic programming). They are worth **{found.bar.speedup:.2f}×** by these "
        f"costs; the adaptive run came to {speed:.2f}× by the clock, and asked for the best k in "
        f"{exact} of {len(found.asked)} rounds."
    )


def staircase(found: Stairs):
    """Steps over rounds: asked, and best."""
    import plotly.graph_objects as go

    figure, x = go.Figure(), list(range(1, len(found.asked) + 1))
    for name, values, colour, dash in (
        ("k asked for", found.asked, ADAPTS, "solid"),
        ("best k in hindsight", found.best, BEST, "dot"),
    ):
        line = {"shape": "hvh", "width": 3, "color": colour, "dash": dash}
        figure.add_scatter(x=x, y=values, name=name, mode="lines", line=line)
    figure.add_scatter(
        x=x,
        y=found.kept,
        name="kept",
        mode="markers",
        marker={"symbol": "x-thin", "size": 8, "line": {"width": 2, "color": "#7a7a7a"}},
    )
    return _laid(figure, "round", "k", {"rangemode": "tozero", "dtick": 1 if _low(found) else 2})


def stairs_said(found: Stairs) -> str:
    """The staircase for those who do not see it."""
    return (
        f"k of {len(found.asked)} rounds: asked for {min(found.asked)} to {max(found.asked)}, best "
        f"in hindsight {min(found.best)} to {max(found.best)}; the table has every round."
    )


def _low(found: Stairs) -> bool:
    return max(*found.asked, *found.best) <= 8


def certainty(contest: Contest, ways: Sequence[str]) -> None:
    """Words, chart, table: of the shown contest, and all recorded prompts with it if recorded."""
    found = certainties(contest)
    shown = [name for name in found if name in ways] or list(found)
    if not shown:
        st.markdown("This contest asked no drafter how sure it was; a greedy one does.")
        return
    st.markdown(certainty_words({name: found[name] for name in shown}))
    alt = "Share kept against certainty, in bins; the table below has all numbers."
    chart = reliability({name: found[name] for name in shown})
    st.plotly_chart(chart, key="drafters certainty", alt=alt, **PLOT)
    st.table([row for name in shown for row in bin_rows(name, found[name])])
    st.caption(
        "Intervals: Wilson, 95 %, as if guesses were independent; in one text they are not quite. "
        + (
            f"All recorded greedy texts together: {', '.join(RECORDED)}."
            if contest.source.kind == "recorded"
            else "This run's greedy text."
        )
    )


def certainties(contest: Contest) -> dict[str, tuple[Bin, ...]]:
    """Drafter → bins of its first guess at every place; recordings are taken together."""
    recorded = contest.source.kind == "recorded"
    all_ = [load(name, next(iter(LAWS))) for name in RECORDED] if recorded else [contest]
    pairs: dict[str, list[tuple[float, bool]]] = {}
    for one in all_:
        for seen in one.foresights:
            told = [(s, a > 0) for s, a in zip(seen.sure, seen.agree) if s is not None]
            pairs.setdefault(seen.name, []).extend(told)
    return {name: calibration.bins(*zip(*told)) for name, told in pairs.items() if told}


def certainty_words(found: dict[str, tuple[Bin, ...]]) -> str:
    """How far each drafter's word is to be trusted."""
    gaps = {name: calibration.gap(made) for name, made in found.items()}
    said = "; ".join(f"{WORDS[name]} {gap:.2f}" for name, gap in gaps.items())
    return (
        "At every place of the text each drafter was asked for its next token and **how sure** it "
        "is of it: q of its favourite at temperature 1 (greedy decoding itself makes q one-hot). "
        "On the diagonal it is right as often as it is sure; then its confidence may decide how "
        "far to draft and which branches of a tree to grow. A lookup claims 1 whatever it copies. "
        f"Mean distance from the diagonal: {said}."
    )


def reliability(found: dict[str, tuple[Bin, ...]]):
    """Share kept against mean certainty, with intervals, and the diagonal."""
    import plotly.graph_objects as go

    figure = go.Figure()
    line = {"dash": "dot", "width": 1, "color": "#808080"}
    figure.add_scatter(x=[0, 1], y=[0, 1], mode="lines", line=line, name="as sure as right")
    for name, made in found.items():
        there = [b for b in made if b.count]
        figure.add_scatter(
            x=[b.sure for b in there],
            y=[b.rate for b in there],
            name=WORDS[name],
            mode="lines+markers",
            marker={"symbol": MARKS.get(name, "circle"), "size": 10},
            error_y={
                "array": [b.interval[1] - b.rate for b in there],
                "arrayminus": [b.rate - b.interval[0] for b in there],
                "width": 4,
            },
            text=[f"{b.right} of {b.count}" for b in there],
            hovertemplate="%{text}<extra></extra>",
        )
    return _laid(figure, "how sure (q of the favourite)", "share right", {"range": [-0.03, 1.03]})


def bin_rows(name: str, made: Sequence[Bin]) -> list[dict[str, str]]:
    """A row a bin that has guesses."""
    return [
        {
            "drafter": WORDS[name],
            "sure": f"{b.low:g} to {b.high:g}",
            "guesses": str(b.count),
            "mean": f"{b.sure:.2f}",
            "right": f"{b.right} ({b.rate:.0%})",
            "95 % interval": f"{b.interval[0]:.2f} to {b.interval[1]:.2f}",
        }
        for b in made
        if b.count
    ]


def _laid(figure, x: str, y: str, yaxis: dict):
    figure.update_layout(
        height=360,
        margin={"l": 10, "r": 10, "t": 30, "b": 10},
        xaxis={"title": x},
        yaxis={"title": y} | yaxis,
        legend={"orientation": "h", "y": -0.25},
    )
    return figure
