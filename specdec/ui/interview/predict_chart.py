"""How good the reader's predictions were: numbers, the reliability plot, and its table."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from specdec.language import text
from specdec.predict_score import Answer, Score, score
from specdec.ui.machine_charts import blank

IDEAL, YOU = "#808080", "#0072B2"


def panel(answers: Sequence[Answer]) -> None:
    """The score so far; nothing before the first answer."""
    found, words = score(answers), text("predict")["score"]
    if found is None:
        return
    st.subheader(words["title"])
    st.markdown(sentence(found))
    st.plotly_chart(
        chart(found), key="predict chart", alt=described(found), config={"displayModeBar": False}
    )
    st.caption(words["few"])
    st.table(rows(found))


def sentence(found: Score) -> str:
    """The score in words."""
    words = text("predict")["score"]
    over = found.sure - found.rate
    said = "over" if over > 0.05 else "under" if over < -0.05 else "even"
    line = words["line"].format(
        right=found.right,
        n=found.n,
        sure=f"{found.sure:.0%}",
        brier=f"{found.brier:.3f}",
        streak=found.streak,
        longest=found.longest,
    )
    told = words["chances"].format(told=found.told, score=f"{found.chances or 0:.3f}")
    return " ".join([line, words[said], *([told] if found.told else [])])


def chart(found: Score):
    """The share that was right against the confidence, bin by bin, with 95 % intervals."""
    words, full = text("predict")["score"], [b for b in found.bins if b.count]
    figure = blank(words["x"], words["y"])
    figure.add_scatter(
        x=[0, 1], y=[0, 1], name=words["ideal"], mode="lines", line={"dash": "dash", "color": IDEAL}
    )
    figure.add_scatter(
        x=[b.sure for b in full],
        y=[b.rate for b in full],
        name=words["you"],
        mode="markers+text",
        text=[f"{b.right}/{b.count}" for b in full],
        textposition="middle right",
        cliponaxis=False,
        error_y={
            "array": [b.interval[1] - b.rate for b in full],
            "arrayminus": [b.rate - b.interval[0] for b in full],
            "width": 6,
        },
        marker={"size": 13, "symbol": "square", "color": YOU},
    )
    figure.update_xaxes(range=[-0.02, 1.08], tickformat=".0%")
    figure.update_yaxes(range=[-0.02, 1.05], tickformat=".0%")
    return figure


def described(found: Score) -> str:
    """The chart for those who do not see it."""
    words = text("predict")["score"]
    bins = "; ".join(
        words["bin"].format(count=b.count, sure=f"{b.sure:.0%}", rate=f"{b.rate:.0%}")
        for b in found.bins
        if b.count
    )
    return words["alt"].format(bins=bins)


def rows(found: Score) -> list[dict[str, str]]:
    """The bins as a table."""
    words = text("predict")["score"]
    return [
        {
            words["band"]: f"{b.low:.0%} – {b.high:.0%}",
            words["count"]: str(b.count),
            words["hits"]: str(b.right),
            words["x"]: f"{b.sure:.0%}",
            words["y"]: f"{b.rate:.0%}",
        }
        for b in found.bins
        if b.count
    ]
