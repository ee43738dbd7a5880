"""What projects state of their speed, beside what one bench measured: page 4's last exhibit."""

from __future__ import annotations

import streamlit as st

from specdec.published import DEVICES, published
from specdec.ui.speedup_tables import MARKS

STATED, MEASURED = "#D55E00", "#0072B2"


def panel() -> None:
    """Words, chart, table, sources."""
    st.markdown(
        "Neither side lies: other tasks, other machines, other code underneath, and a headline "
        "is the best of them. **Ask of every factor: against what, on what, at which batch.**"
    )
    st.plotly_chart(
        chart(), key="headlines chart", alt=described(), config={"displayModeBar": False}
    )
    st.table(rows())
    st.markdown("\n".join(f"- **{line.method}.** {line.words}" for line in published().headlines))
    source = published().sources["spec-bench"]
    st.caption(
        f"Stated: each project's own words ({MARKS['code']}). "
        f"Measured: {source.words} ({MARKS[source.mark]})."
    )


def stated(low: float, high: float) -> str:
    """A factor, or from one to another."""
    return f"{low:g}×" if low == high else f"{low:g} to {high:g}×"


def rows() -> list[dict[str, str]]:
    """A method a row: stated, then each measurement."""
    return [
        {
            "method": line.method,
            "stated": stated(line.low, line.high),
            **{
                device: "–" if speed is None else f"{speed:.2f}×"
                for device, speed in zip(DEVICES, line.bench)
            },
        }
        for line in published().headlines
    ]


def described() -> str:
    """The chart for those who do not see it."""
    lines = (
        f"{line.method} states {stated(line.low, line.high)}, measured "
        f"{stated(min(line.measured), max(line.measured))}"
        for line in published().headlines
    )
    return f"Stated and measured speed-ups. {'; '.join(lines)}."


def chart():
    """A line from the least to the largest number of each side: stated above, measured below."""
    import plotly.graph_objects as go

    figure, lines = go.Figure(), published().headlines[::-1]  # the first one on top
    sides = {
        "stated by the project": (STATED, "diamond-open", "dot", 0.14),
        "measured by Spec-Bench": (MEASURED, "circle", "solid", -0.14),
    }
    for name, (colour, symbol, dash, lift) in sides.items():
        x, y, texts = [], [], []
        for i, line in enumerate(lines):
            stated = name.startswith("stated")
            points = sorted({line.low, line.high} if stated else set(line.measured))
            x += [*points, None]
            y += [i + lift] * len(points) + [None]
            texts += [f"{line.method}: {point:g}×" for point in points] + [""]
        figure.add_scatter(
            name=name,
            x=x,
            y=y,
            text=texts,
            hovertemplate="%{text}<extra></extra>",
            mode="lines+markers",
            line={"color": colour, "dash": dash, "width": 3},
            marker={"symbol": symbol, "size": 11, "color": colour, "line": {"width": 2}},
        )
    figure.add_vline(x=1, line={"dash": "dash", "width": 1, "color": "#808080"})
    figure.update_layout(
        height=90 + 52 * len(lines),
        margin={"l": 10, "r": 10, "t": 40, "b": 10},
        xaxis={"title": "times plain decoding", "rangemode": "tozero", "ticksuffix": "×"},
        yaxis={
            "tickvals": list(range(len(lines))),
            "ticktext": [line.method for line in lines],
            "range": [-0.5, len(lines) - 0.5],
        },
        legend={"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0},
    )
    return figure
