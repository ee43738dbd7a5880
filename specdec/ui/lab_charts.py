"""The lab's two charts: what was written beside p, and the error falling, or not, with n."""

from __future__ import annotations

import math
from collections.abc import Sequence

import plotly.graph_objects as go

from specdec import lab
from specdec.lab.band import Band
from specdec.lab.experiment import Found
from specdec.ui.lab_words import limits

# Okabe–Ito hues that keep 3:1 on both grounds, and a symbol each: colour is never alone.
LOOKS = {
    "target": ("#767676", "circle", ""),
    "pq": ("#009E73", "square", ""),
    "match": ("#0072B2", "diamond", ""),
    "one-hot": ("#3A8FB7", "triangle-up", ""),
    "from p": ("#D55E00", "x", "/"),
    "p ≥ q": ("#B8860B", "cross", "\\"),
    "always": ("#C0569E", "star", "x"),
    "soft q": ("#A0522D", "triangle-down", "-"),
    "raw q": ("#8A6FD1", "pentagon", "|"),
    "only x": ("#C8402F", "hourglass", "+"),
    "confidence": ("#8C8C00", "bowtie", "."),
    "typical": ("#B5651D", "hexagon", "/"),
}
GREY = "#808080"
PLOT, LINE = 330, 20  # px: a chart without its legend, and a line of that


def shares(found: Found) -> go.Figure:
    """Share of each token under each rule, with p as a line over its bars."""
    figure, names = go.Figure(), list(found.asked.names)
    for name, draws in found.one.items():
        colour, _, pattern = LOOKS[name]
        figure.add_bar(
            name=_label(name),
            x=names,
            y=[count / draws.n for count in draws.counts],
            marker={
                "color": colour,
                "pattern": {"shape": pattern, "solidity": 0.3, "fillmode": "overlay"},
            },
        )
    mark_law(figure, found.asked.p)
    figure.update_layout(
        title="What was written, beside p",
        yaxis={"title": "share", "rangemode": "tozero"},
        barmode="group",
        **room(len(found.one) + 1),
    )
    return figure


def mark_law(figure: go.Figure, p: Sequence[float]) -> None:
    """A line at the height of p over the bars of each token."""
    line = {"width": 3, "color": GREY}
    for i, mass in enumerate(p):
        y = float(mass)
        figure.add_shape(type="line", x0=i - 0.42, x1=i + 0.42, y0=y, y1=y, line=line)
    figure.add_scatter(name="p", x=[None], y=[None], mode="lines", line=line)  # for the legend


def errors(found: Found) -> go.Figure:
    """Total variation against p, falling with n: the band, each rule, each wrong rule's limit."""
    figure, exact, p = go.Figure(), limits(found.asked), found.asked.laws[0]
    floor = min(found.band.mean) / 10 or 1e-6  # a log axis has no 0
    _band(figure, found.band, floor)
    for name, draws in found.one.items():
        colour, symbol, _ = LOOKS[name]
        points = [(n, error) for n, error in draws.points if error > 0]
        x, y = zip(*points) if points else ((), ())
        marker = {"symbol": symbol, "size": 7}
        figure.add_scatter(
            name=_label(name), x=x, y=y, mode="lines+markers", line_color=colour, marker=marker
        )
    biases = {name: float(lab.variation(exact[name], p)) for name in found.one}
    wrong = [name for name, bias in biases.items() if bias]
    for name in wrong:
        _line(
            figure,
            "exact limit of the same colour",
            (found.band.n[0], found.band.n[-1]),
            (biases[name],) * 2,
            {"color": LOOKS[name][0], "dash": "dash", "width": 1.5},
            showlegend=name == wrong[0],
        )
    bottom = {"range": [math.log10(floor), 0], "exponentformat": "power"}
    figure.update_layout(
        title="Error against p, by draws",
        xaxis={"type": "log", "title": "draws", "dtick": 1},
        yaxis={"type": "log", "title": "total variation", "dtick": 1, **bottom},
        **room(len(found.one) + 2 + bool(wrong)),
    )
    return figure


def _band(figure: go.Figure, band: Band, floor: float) -> None:
    low, mean, high = ([max(y, floor) for y in edge] for edge in (band.low, band.mean, band.high))
    _line(figure, "", band.n, low, {"width": 0}, showlegend=False, hoverinfo="skip")
    fill = {"fill": "tonexty", "fillcolor": "rgba(0,158,115,0.2)"}
    _line(figure, "99 % of honest draws", band.n, high, {"width": 0}, **fill)
    _line(figure, "their mean, exact", band.n, mean, {"color": GREY, "dash": "dot"})


def _line(figure: go.Figure, name: str, x, y, line: dict, **how) -> None:
    figure.add_scatter(name=name, x=x, y=y, mode="lines", line=line, **how)


def room(lines: int) -> dict:
    """Layout with a legend of so many lines under the plot, whose own height stays the same."""
    height = PLOT + LINE * lines
    return {
        "height": height,
        "margin": {"l": 10, "r": 10, "t": 50, "b": LINE * lines + 60},
        "legend": {
            "yref": "container",
            "yanchor": "bottom",
            "y": 0,
            "x": 0,
            "traceorder": "normal",
        },
    }


def _label(name: str) -> str:
    r = lab.by_name(name)
    return f"{'✓' if r.lossless else '✗'} {r.title}"
