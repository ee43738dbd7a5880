"""The charts of station 2: what became of every draft pass, round by round and k by k."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from specdec import wasted
from specdec.machine import Step
from specdec.ui.machine_charts import blank

MOST_K = 24
ROUNDS = 24  # on the map; what is simulated has as many
KINDS = {1: ("✓", "accepted"), 2: ("✗", "rejected"), 3: ("–", "discarded")}
TINTS = ["rgba(0,0,0,0)", "rgba(0,158,115,.55)", "rgba(213,94,0,.6)", "rgba(128,128,128,.35)"]


@dataclass(frozen=True)
class Shown:
    """The rounds on the page and what their passes cost; `measured` is a recorded speed-up."""

    steps: tuple[Step, ...]
    k: int
    alpha: float
    c: float
    v: float = 0.0
    measured: float | None = None


def map_of(shown: Shown) -> Any:
    """Every drafted token of the first rounds: a cell, a glyph, a colour."""
    cells = wasted.cells(shown.steps[:ROUNDS], shown.k)
    figure = blank("round", "place in the draft", height=130 + 22 * shown.k)
    glyphs = np.vectorize(lambda z: KINDS[z][0] if z else "")(cells)
    words = np.vectorize(lambda z: KINDS[z][1] if z else "not drafted")(cells)
    figure.add_heatmap(
        z=cells,
        x=np.arange(1, cells.shape[1] + 1),
        y=np.arange(1, shown.k + 1),
        text=glyphs,
        customdata=words,
        texttemplate="%{text}",
        hovertemplate="round %{x}, place %{y}: %{customdata}<extra></extra>",
        colorscale=[[i / 3, tint] for i, tint in enumerate(TINTS)],
        zmin=0,
        zmax=3,
        xgap=2,
        ygap=2,
        showscale=False,
    )
    figure.update_yaxes(autorange="reversed", dtick=1 if shown.k <= 8 else 4, tick0=1)
    figure.update_xaxes(showgrid=False, zeroline=False)
    return figure


def areas(shown: Shown) -> Any:
    """A round's draft passes by their end, against k, by the closed form."""
    ks = np.arange(MOST_K + 1)
    ends = wasted.expected(shown.alpha, ks)
    figure = blank("k, drafted tokens a round", "draft passes a round")
    for (glyph, word), tint, pattern in zip(KINDS.values(), TINTS[1:], ("", "/", ".")):
        figure.add_scatter(
            x=ks,
            y=getattr(ends, word),
            name=f"{glyph} {word}",
            stackgroup="passes",
            mode="lines",
            line={"width": 1.5, "color": tint},
            fillcolor=tint,
            fillpattern={"shape": pattern, "solidity": 0.2},
        )
    figure.add_vline(x=shown.k, line={"dash": "dot", "width": 1, "color": "#888888"})
    figure.add_annotation(x=shown.k, y=1, yref="paper", text=f"k = {shown.k}", showarrow=False,
                          xanchor="right", yanchor="bottom")  # fmt: skip
    return figure
