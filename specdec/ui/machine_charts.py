"""The charts of page 7; every one has its table beside it."""

from __future__ import annotations

import numpy as np

from specdec import batch, theory
from specdec.machine import Machine, TimedRun
from specdec.ui.machine import WORDS
from specdec.waterfall import Waterfall, c_of, curve, measured

UP, DOWN, WHOLE = "#009E73", "#D55E00", "#0072B2"
MOST_K = 16


def speedups(machine: Machine, run: TimedRun):
    """The article's curve, this machine's, and the measured runs with their spread."""
    ks = np.arange(min(MOST_K, machine.k_most) + 1)
    figure = blank("k, tokens drafted a round", "speed-up")
    ideal = theory.speedup(run.alpha or 0.0, ks, c_of(machine, run))
    name = "the article's, v = 0"
    figure.add_scatter(x=ks, y=ideal, name=name, mode="lines", line={"dash": "dash", "width": 2})
    here = curve(machine, run, ks)
    figure.add_scatter(x=ks, y=here, name="this machine predicts", mode="lines", line={"width": 3})
    figure.add_hline(y=1, line={"dash": "dot", "width": 1, "color": "#888888"})
    for other in machine.of(run.drafter):
        least, middle, most = measured(machine, other)
        mine = other is run
        figure.add_scatter(
            x=[other.k],
            y=[middle],
            name="measured: the dot" if mine else f"measured, k = {other.k}",
            showlegend=mine,
            mode="markers",
            error_y={"array": [most - middle], "arrayminus": [middle - least], "width": 6},
            marker={"size": 15 if mine else 9, "symbol": "circle" if mine else "circle-open",
                    "color": DOWN, "line": {"width": 2}},
        )  # fmt: skip
    return figure


def fall(found: Waterfall):
    """The waterfall from the ideal to the measurement, downwards."""
    figure = blank("speed-up", "", height=430)
    names = ["ideal", *(bar.name for bar in found.bars), "measured"]
    changes = [bar.change for bar in found.bars]
    figure.add_waterfall(
        orientation="h",
        y=[name.replace(", ", ",<br>").replace("not ", "<br>not ") for name in names],
        x=[found.start, *changes, 0],
        measure=["absolute", *["relative"] * len(changes), "total"],
        text=[f"{found.start:.2f}×", *map(_signed, changes), f"{found.measured:.2f}×"],
        textposition="outside",
        cliponaxis=False,
        increasing={"marker": {"color": UP}},
        decreasing={"marker": {"color": DOWN}},
        totals={"marker": {"color": WHOLE}},
        connector={"line": {"width": 1, "dash": "dot", "color": "#888888"}},
        hoverinfo="skip",
    )
    figure.add_vline(x=1, line={"dash": "dot", "width": 1, "color": "#888888"})
    tops = [found.start, *(bar.after for bar in found.bars)]
    figure.update_xaxes(range=[0, 1.2 * max(tops)])
    figure.update_yaxes(autorange="reversed", automargin=True)
    figure.update_layout(showlegend=False)
    return figure


def passes(machine: Machine, size: int, run: TimedRun):
    """Milliseconds of a pass against its tokens, and where the reader's batch stands."""
    figure = blank("tokens in one pass", "milliseconds", rangemode="tozero")
    for name, times, dash in (
        ("target", machine.target, "solid"),
        ("drafter", machine.draft, "dash"),
    ):
        figure.add_scatter(
            x=times.tokens,
            y=np.array(times.seconds) * 1e3,
            name=name,
            mode="lines+markers",
            line={"dash": dash},
        )
    for n, words in (
        (size, f"B = {size}"),
        (size * (run.k + 1), f"B·(k + 1) = {size * (run.k + 1)}"),
    ):
        if n <= machine.target.tokens[-1]:
            figure.add_vline(x=n, line={"dash": "dot", "width": 1, "color": "#888888"})
            figure.add_annotation(x=np.log10(n), y=1, yref="paper", text=words, showarrow=False,
                                  xanchor="left", yanchor="bottom")  # fmt: skip
    ticks = list(machine.target.tokens)
    figure.update_xaxes(type="log", tickvals=ticks, ticktext=[str(n) for n in ticks])
    return figure


def batches(machine: Machine, run: TimedRun):
    """Speed-up against the batch size here, and the published series."""
    figure = blank("sequences in one pass, B", "speed-up")
    reach = min(machine.draft.tokens[-1], machine.target.tokens[-1])
    sizes = [size for size in batch.BATCHES if size <= reach]
    top = [batch.best(machine, run, size)[1] for size in sizes]
    own = [float(batch.speedup(machine, run, size, np.array([run.k]))[0]) for size in sizes]
    figure.add_scatter(x=sizes, y=top, name="here, the best k", mode="lines+markers")
    figure.add_scatter(x=sizes, y=own, name=f"here, k = {run.k}", mode="lines+markers")
    for series, mark in zip(batch.published().series, ("diamond-open", "square-open")):
        figure.add_scatter(
            x=series.batch,
            y=series.speedup,
            name=f"published: {series.name}",
            mode="lines+markers",
            line={"dash": "dot"},
            marker={"symbol": mark, "size": 9},
        )
    figure.add_hline(y=1, line={"dash": "dot", "width": 1, "color": "#888888"})
    figure.update_xaxes(
        type="log", tickvals=batch.BATCHES, ticktext=[str(size) for size in batch.BATCHES]
    )
    return figure


def described(machine: Machine, run: TimedRun) -> str:
    """The first chart for those who do not see it."""
    least, middle, most = measured(machine, run)
    return (
        f"Curves of the speed-up against k for the {WORDS[run.drafter]}: the article's with v = 0 "
        f"and the one that this machine predicts; the measured run at k = {run.k} is a dot at "
        f"{middle:.2f}×, from {least:.2f}× to {most:.2f}× over its repeats."
    )


def _signed(change: float) -> str:
    if abs(change) < 0.005:
        return "= 0"
    return f"{'▲' if change > 0 else '▼'} {change:+.2f}"


def blank(x: str, y: str, height: int = 380, rangemode: str = "tozero"):
    """An empty chart with these titles of its axes."""
    import plotly.graph_objects as go

    figure = go.Figure()
    figure.update_layout(
        height=height,
        margin={"l": 10, "r": 10, "t": 30, "b": 10},
        xaxis={"title": x},
        yaxis={"title": y, "rangemode": rangemode},
        # below the axis title, however large a projector's type makes it
        legend={"orientation": "h", "yref": "container", "y": 0, "yanchor": "bottom"},
    )
    return figure
