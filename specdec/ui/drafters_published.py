"""Published speeds of the same families beside ours: stated, benched by others, measured here."""

from __future__ import annotations

import streamlit as st

from specdec.contest import RECORDED, Contest, load
from specdec.presets import presets
from specdec.published import published
from specdec.ui import speedup_headlines
from specdec.ui.drafters import WORDS

FAMILIES = {  # our way → the published methods of its kind
    "model": ("Small model",),
    "lookup": ("Prompt lookup",),
    "heads": ("EAGLE",),
    "tree": ("EAGLE-2", "EAGLE-3", "Medusa"),
}


def panel() -> None:
    """Ours by prompt, the bench by kind of text, then headline against bench."""
    st.markdown(
        "**Published** numbers are others' work: larger targets, GPUs, other texts and other code. "
        "They say what a family can do, not what yours will. A target of 135 million weights is "
        "cheap to run plainly, so a drafter has less to save here, and its c is larger, than "
        "beside one of 13 billion."
    )
    st.markdown("**Ours, recorded**: speed-up, and tokens a target pass, by prompt")
    st.table(ours())
    bench = published().bench
    st.markdown(f"**Published: Spec-Bench**, {bench.device}, by kind of text")
    st.table(benched())
    st.caption(
        "Look along the rows: copying pays where the answer repeats the prompt (our “Copying”, "
        "their summaries), and hardly elsewhere; a trained drafter helps with every kind."
    )
    st.markdown("**Published: headline against that one independent bench**")
    speedup_headlines.panel()


def ours() -> list[dict[str, str]]:
    """A row for each of our ways that a published method is akin to."""
    titles, found = {p.name: p.title for p in presets()}, []
    for way in FAMILIES:
        row = {"our way": WORDS[way]}
        for name in RECORDED:
            contest = load(name)
            row[titles[name]] = _said(contest, way) if way in contest.names else "not recorded"
        found.append(row | {"akin to": ", ".join(FAMILIES[way])})
    return found


def _said(contest: Contest, way: str) -> str:
    trace = contest.entry(way).trace
    return f"{contest.speedups(way)[1]:.2f}× · {trace.tokens_per_pass:.2f}"


def benched() -> list[dict[str, str]]:
    """The bench's rows as printed."""
    bench = published().bench
    return [
        {"published method": row.method}
        | {kind: f"{x.text}×" for kind, x in zip(bench.kinds, row.speed)}
        | {"over all": f"{row.overall.text}× · {row.tokens.text}"}
        for row in bench.rows
    ]
