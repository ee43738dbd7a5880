"""The charts of station 8: the way between two drafters, and all of them by cost and α."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from specdec import theory
from specdec.arms import Arm, Arms
from specdec.between import Drafter, between
from specdec.ui.machine_charts import blank

MOST_K = 16


@dataclass(frozen=True)
class Way:
    """From one recorded drafter to another, and how far along."""

    one: Arm
    other: Arm
    share: float
    k: int

    @property
    def drafter(self) -> Drafter:
        """Where the reader is."""
        return between(Drafter.of(self.one), Drafter.of(self.other), self.share)


def key_of(arm: Arm) -> str:
    """A drafter in a link.

    Example:
        >>> from specdec.arms import Asked
        >>> key_of(Arm(Asked("early-exit", 4, 10), (), None, 1.0))
        'exit-10'
    """
    asked = arm.asked
    return f"exit-{asked.layers}" if asked.name == "early-exit" else asked.name


def along(way: Way) -> Any:
    """The speed-up from one drafter to the other."""
    shares = np.linspace(0, 1, 41)
    points = [between(Drafter.of(way.one), Drafter.of(way.other), share) for share in shares]
    figure = blank("along the way, %", "speed-up")
    at_k, at_best = [p.speedup(way.k) for p in points], [p.best(MOST_K)[1] for p in points]
    figure.add_scatter(x=100 * shares, y=at_k, name=f"k = {way.k}", mode="lines")
    dash = {"dash": "dash"}
    figure.add_scatter(x=100 * shares, y=at_best, name="the best k", mode="lines", line=dash)
    ends = [arm for arm in (way.one, way.other) if arm.asked.k == way.k]
    figure.add_scatter(
        x=[100 * (arm is way.other) for arm in ends],
        y=[arm.speedup for arm in ends],
        name="measured",
        mode="markers",
        marker={"size": 12, "symbol": "diamond"},
    )
    here = [100 * way.share], [way.drafter.speedup(way.k)]
    dot = {"size": 13, "symbol": "circle-open", "line": {"width": 3}}
    figure.add_scatter(x=here[0], y=here[1], name="here", mode="markers", marker=dot)
    figure.add_hline(y=1, line={"dash": "dot", "width": 1, "color": "#888888"})
    return figure


def plane(found: Arms, way: Way) -> Any:
    """All recorded drafters, and the line above which one pays."""
    figure = blank("c, a drafter pass ÷ a target pass", "α", height=430)
    v, most = way.drafter.v, 1.2
    cs = np.linspace(0, most, 121)
    line = theory.break_even_alpha(way.k, cs, v)
    figure.add_scatter(x=cs, y=line, name=f"break-even, k = {way.k}", mode="lines")
    figure.add_scatter(
        x=[arm.costs.c for arm in found.arms],
        y=[arm.alpha for arm in found.arms],
        text=[key_of(arm) for arm in found.arms],
        name="recorded drafters",
        mode="markers+text",
        textposition="bottom center",
        marker={"size": 10, "symbol": "diamond"},
    )
    ends = [Drafter.of(way.one), Drafter.of(way.other)]
    figure.add_scatter(
        x=[end.c for end in ends],
        y=[end.alpha for end in ends],
        name="the way",
        mode="lines",
        line={"dash": "dot"},
    )
    dot = {"size": 14, "symbol": "circle-open", "line": {"width": 3}}
    here = way.drafter
    figure.add_scatter(x=[here.c], y=[here.alpha], name="here", mode="markers", marker=dot)
    figure.update_yaxes(range=[-0.08, 1.08])
    figure.update_xaxes(range=[-0.05, most])
    return figure
