"""The map of page 4: the speed-up for every α and k, at the c and v of the sliders."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import streamlit as st

from specdec import theory
from specdec.ui.live_curve import K_END, Point

ALPHAS, KS = np.linspace(0.0, 1.0, 51), np.arange(K_END + 1)
FINE = np.linspace(0.0, 1.0, 401)  # α of the ridge, for clean steps
COARSE = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95)  # α of the table's rows
SHORT = (1, 2, 3, 4, 6, 8, 12, 16, 24)  # k of its columns
SLOW, EVEN, FAST = "#D55E00", "#F4F1EA", "#0072B2"
INK = "#111111"  # the map's own ground is light to middle in both themes


@dataclass(frozen=True)
class Map:
    """Speed-ups at one c and v, and for each k the α where it breaks even."""

    speedups: np.ndarray  # [ALPHAS, KS]
    even: np.ndarray  # [KS]; NaN where no α does, and at k = 0, which is plain decoding


def map_of(c: float, v: float) -> Map:
    """The speed-up at every α and k."""
    even = theory.break_even_alpha(KS, c, v)
    even[0] = np.nan
    return Map(theory.speedup(ALPHAS[:, None], KS, c, v), even)


def ridge(alphas: np.ndarray, c: float, v: float) -> np.ndarray:
    """The best k for each α; NaN where no k is best, or only one beyond the map."""
    best = theory.best_k(alphas, c, v, K_END + 1)
    return np.where((best <= K_END) & theory.has_finite_best_k(alphas, c, v), best, np.nan)


def panel(at: Point) -> None:
    """Chart, words and table."""
    st.markdown(
        "Each cell is a setting. **Blue** is faster than plain decoding, **orange** slower; on the "
        "dashed line it is just as fast. The solid line is the **ridge**: the best k for each α."
    )
    st.plotly_chart(chart(at), key="map chart", alt=described(at), config={"displayModeBar": False})
    st.markdown(notice(at))
    st.table(rows(at))
    st.caption(f"Speed-up by α (rows) and k (columns), at c = {at.c:g} and v = {at.v:g}.")


def notice(at: Point) -> str:
    """What the map shows at these costs."""
    each = at.c + at.v
    if each == 0:
        return "Drafting costs nothing here: nothing is slower, and no k is best. Raise c or v."
    if each >= 1:
        return "A drafted token costs as much as a pass of the target: no setting pays."
    return (
        f"**What to notice:** left of α = c + v = {each:g} the ridge lies on k = 0, so no draft "
        "pays. Right of it the best k climbs slowly at first, and steeply only near α = 1: a "
        "better drafter earns more than a longer draft."
    )


def rows(at: Point) -> list[dict[str, str]]:
    """The map in numbers, coarser; ▼ is slower than plain decoding."""
    found = []
    for alpha in COARSE:
        speeds = theory.speedup(alpha, SHORT, at.c, at.v)
        cells = {str(k): "▼\u00a0" * int(x < 1 - 1e-9) + f"{x:.2f}×" for k, x in zip(SHORT, speeds)}
        finite = theory.has_finite_best_k(alpha, at.c, at.v)
        best = theory.best_k(alpha, at.c, at.v, 999)
        found.append({"α": f"{alpha:g}", **cells, "best k": str(best) if finite else "none"})
    return found


def described(at: Point) -> str:
    """The map for those who do not see it."""
    whole = map_of(at.c, at.v)
    fastest = whole.speedups.max()
    return (
        f"Heat map of the speed-up over α and k at c = {at.c:g}, v = {at.v:g}: from "
        f"{whole.speedups.min():.2f}× to {fastest:.2f}×. You are at α = {at.alpha:g}, k = {at.k} "
        f"with {theory.speedup(at.alpha, at.k, at.c, at.v):.2f}×. The table below has the numbers."
    )


def chart(at: Point):
    """The heat map, coloured by the logarithm so that half and double weigh the same."""
    import plotly.graph_objects as go

    whole = map_of(at.c, at.v)
    logs = np.log2(whole.speedups.T)  # [k, α]: k runs up
    figure = go.Figure()
    figure.add_heatmap(
        x=ALPHAS,
        y=KS,
        z=np.round(logs, 4),
        customdata=np.round(whole.speedups.T, 4),
        hovertemplate="α = %{x:.2f}, k = %{y}: %{customdata:.2f}×<extra></extra>",
        zmin=logs.min(),
        zmax=logs.max(),
        colorscale=_colours(logs.min(), logs.max()),
        colorbar=_bar(logs.min(), logs.max()),
    )
    _line(figure, "best k", FINE, ridge(FINE, at.c, at.v), {"width": 3, "shape": "hv"})
    _line(figure, "1×", whole.even, KS, {"width": 2, "dash": "dash"})
    figure.add_scatter(
        name="you",
        x=[at.alpha],
        y=[at.k],
        mode="markers+text",
        cliponaxis=False,  # whole at a corner
        text=["you  " if at.alpha > 0.5 else "  you"],
        textposition="middle left" if at.alpha > 0.5 else "middle right",
        textfont={"color": INK, "size": 15},
        marker={"size": 15, "color": "#FFFFFF", "line": {"color": INK, "width": 3}},
        hoverinfo="skip",
    )
    figure.update_layout(
        height=460,
        margin={"l": 10, "r": 10, "t": 50, "b": 10},
        showlegend=False,
        xaxis={"title": "α, chance of being accepted", "range": [-0.01, 1.01]},
        yaxis={"title": "k, tokens drafted a round", "range": [-0.5, K_END + 0.5], "dtick": 4},
    )
    return figure


def _line(figure, name: str, x: np.ndarray, y: np.ndarray, line: dict) -> None:
    """A line with its name beside its middle: a legend would lie on the page's own ground."""
    there = np.flatnonzero(np.isfinite(x) & np.isfinite(y))
    if not there.size:
        return
    words = [""] * there.size
    words[there.size // 2] = f"{name}  "
    figure.add_scatter(
        name=name,
        x=x[there],
        y=y[there],
        mode="lines+text",
        text=words,
        textposition="top left",
        textfont={"color": INK, "size": 15},
        line={"color": INK, **line},
        hoverinfo="skip",
    )


def _colours(low: float, high: float) -> list[list]:
    """Orange below 1×, pale at it, blue above; each end as strong as it is far from 1×."""
    even = -low / (high - low)
    middle = [[even, EVEN]] if 0 < even < 1 else []
    return [[0.0, SLOW if low < 0 else EVEN], *middle, [1.0, FAST if high > 0 else EVEN]]


def _bar(low: float, high: float) -> dict:
    """A scale across the top, in speed-ups."""
    ticks = [power for power in range(-5, 6) if low - 0.01 <= power <= high + 0.01]
    return {
        "orientation": "h",
        "y": 1.01,
        "yanchor": "bottom",
        "thickness": 12,
        "len": 1.0,
        "tickvals": ticks,
        "ticktext": [f"{2.0**power:g}×" for power in ticks],
        "ticklabelposition": "outside top",
    }
