"""Published speeds of the same families beside ours: stated, benched by others, measured here."""

from __future__ import annotations

import streamlit as st

from specdec.contest import Contest
from specdec.published import published
from specdec.ui import speedup_headlines
from specdec.ui.drafters import WORDS

FAMILIES = {  # our way → the published methods of its kind
    "heads": ("EAGLE",),
    "tree": ("EAGLE-2", "EAGLE-3", "Medusa"),
    "lookup": ("Prompt lookup",),
}


def panel(contest: Contest, ways: tuple[str, ...]) -> None:
    """Our numbers by family, then the published table as it is."""
    st.markdown(
        "**Published** numbers are others' work: larger targets, GPUs, other texts and other code. "
        "They say what a family can do, not what yours will. Ours are small and slow, and "
        "measured: a target of 135 million weights is cheap to run plainly, so a drafter has less "
        "to save, and c is larger than beside a model of 13 billion."
    )
    st.table(rows(contest, ways))
    st.markdown("**Headline against one independent bench**")
    speedup_headlines.panel()


def rows(contest: Contest, ways: tuple[str, ...]) -> list[dict[str, str]]:
    """A row for each published method, with our way of its kind where it ran."""
    lines = {line.method: line for line in published().headlines}
    kind = contest.source.kind
    found = []
    for way, methods in FAMILIES.items():
        for method in methods:
            line, ours = lines[method], "not run"
            if way in contest.names and way in ways:
                ours = f"{contest.speedups(way)[1]:.2f}× ({kind})"
            found.append(
                {
                    "our way": WORDS[way],
                    "ours": ours,
                    "published method": method,
                    "published: stated": speedup_headlines.stated(line.low, line.high),
                    "published: Spec-Bench": _bench(line.measured),
                }
            )
    return found


def _bench(measured: tuple[float, ...]) -> str:
    low, high = min(measured), max(measured)
    return f"{low:.2f}×" if low == high else f"{low:.2f} to {high:.2f}×"
