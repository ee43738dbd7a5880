"""Simulated rounds on page 4: how many, their mean and band in words, their lengths as a chart."""

from __future__ import annotations

from functools import lru_cache

import streamlit as st

from specdec import theory
from specdec.cloud import SHARE, Cloud, cloud, law
from specdec.ui import speedup_at
from specdec.ui.live_curve import K_END
from specdec.ui.speedup_at import ROUNDS, At

RAISED = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
WITHIN = round(1 / (1 - SHARE))  # one seed in so many misses


def played(at: At) -> Cloud | None:
    """The rounds to draw on the curve; None while their section is closed."""
    return _cloud(at.point.alpha, at.n, at.seed) if "rounds" in at.opened else None


_cloud = lru_cache(32)(lambda alpha, n, seed: cloud(alpha, n, seed, K_END))


def panel(at: At) -> None:
    """Controls, the words, the chart and its table."""
    rounds, (k, alpha) = played(at), (at.point.k, at.point.alpha)
    st.markdown(
        "Each drafted token is accepted with chance α, on its own; the first miss ends the draft. "
        "That is all the formula assumes. Here it is played out, and the curve above carries the "
        "mean at every k with its band."
    )
    with st.container(horizontal=True, vertical_alignment="bottom"):
        _number("n", "Rounds", int(ROUNDS.low), int(ROUNDS.high), at.n)
        _number("seed", "Seed", 0, 2**32 - 1, at.seed)
        st.button(
            "Another seed",
            on_click=lambda: speedup_at.change(seed=(at.seed + 1) % 2**32),
        )
    st.markdown(verdict(rounds, k))
    st.plotly_chart(
        chart(rounds, k),
        key="rounds chart",
        alt=described(rounds, k),
        config={"displayModeBar": False},
    )
    st.table(rows(rounds, k))
    st.caption(
        f"Simulated, no model: {rounds.n} rounds, seed {rounds.seed}, α = {alpha:g}. A draft of "
        f"k is the beginning of one of {K_END}: all points of the curve are the same rounds."
    )


def _number(field: str, label: str, low: int, high: int, value: int) -> None:
    key = f"speedup {field}"
    st.session_state[key] = value
    st.number_input(
        label, low, high, key=key, on_change=speedup_at.entered, args=(field,), width=180
    )


def verdict(rounds: Cloud, k: int) -> str:
    """The mean, the closed form, and whether it lies in the band."""
    mean, half = rounds.mean(k), rounds.half(k)
    exact = theory.tokens_per_pass(rounds.alpha, k)
    start = (
        f"**Simulated: {mean:.3f} tokens a pass** over {rounds.n} rounds of k = {k}. "
        f"The closed form says {exact:.3f}"
    )
    if half == 0:
        return f"{start}, and chance has no part in it here: every round is alike."
    band = f"the band, {mean:.3f} ± {half:.3f}"
    if rounds.covers(k):
        return f"**✓** {start}, inside {band}. Of {WITHIN} seeds about {WITHIN - 1} say so."
    return (
        f"**✗** {start}, outside {band}. About one seed in {WITHIN} does that to a true formula: "
        "try another."
    )


def rows(rounds: Cloud, k: int) -> list[dict[str, str]]:
    """The lengths: simulated beside the law."""
    counts, chances = rounds.at(k), law(rounds.alpha, k)
    return [
        {
            "accepted": f"{a} of {k}",
            "rounds": str(count),
            "share": f"{count / rounds.n:.3f}",
            "law": f"{chance:.3f}",
            "as a formula": "α" + str(a).translate(RAISED) + "\u00a0(1\u00a0−\u00a0α)" * (a < k),
        }
        for a, (count, chance) in enumerate(zip(counts, chances))
    ]


def described(rounds: Cloud, k: int) -> str:
    """The chart for those who do not see it."""
    shares = ", ".join(
        f"{a}: {count / rounds.n:.2f} against {chance:.2f}"
        for a, (count, chance) in enumerate(zip(rounds.at(k), law(rounds.alpha, k)))
    )
    return f"Share of {rounds.n} simulated rounds by accepted tokens, against the law. {shares}."


def chart(rounds: Cloud, k: int):
    """Bars of the simulated shares, and the geometric law, cut at k, as diamonds."""
    import plotly.graph_objects as go

    figure, lengths = go.Figure(), list(range(k + 1))
    figure.add_bar(
        name="simulated",
        x=lengths,
        y=[count / rounds.n for count in rounds.at(k)],
        marker={"color": "#0072B2", "pattern": {"shape": "/", "fillmode": "overlay"}},
    )
    figure.add_scatter(
        name="law: αᵃ (1 − α), and αᵏ at a = k",
        x=lengths,
        y=law(rounds.alpha, k).tolist(),
        mode="markers",
        cliponaxis=False,
        marker={"symbol": "diamond-open", "size": 13, "color": "#D55E00", "line": {"width": 3}},
    )
    figure.update_layout(
        height=340,
        margin={"l": 10, "r": 10, "t": 40, "b": 10},
        xaxis={"title": "accepted tokens of a round", "dtick": 1 if k <= 12 else 4},
        yaxis={"title": "share of rounds", "rangemode": "tozero"},
        legend={"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0},
    )
    return figure
