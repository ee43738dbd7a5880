"""The overlap canvas on a real position: any drafted token of a trace, to look at."""

from __future__ import annotations

import re

import streamlit as st

from specdec import tree, tree_rounds
from specdec.trace import Round, Trace
from specdec.ui.overlap import overlap
from specdec.ui.overlap_heads import Heads, heads
from specdec.ui.overlap_laws import Drop
from specdec.ui.stage import Position

Place = tuple[Round, int]  # the i-th drafted token of a round


def places(trace: Trace) -> list[Place]:
    """All drafted tokens of a trace whose laws it holds, in order."""
    return [
        (r, i)
        for r in trace.rounds
        for i, token in enumerate(r.drafted)
        if token.p_top is not None and token.q_top is not None
    ]


def first_shown(found: list[Place], asked: Position) -> int:
    """The index of the asked place; else of the first rejected token, else 0."""
    at = [(r.index + 1, i + 1) for r, i in found]
    if (asked.round, asked.step) in at:
        return at.index((asked.round, asked.step))
    rejected = [n for n, (r, i) in enumerate(found) if r.drafted[i].verdict == "rejected"]
    return rejected[0] if rejected else 0


def panel(trace: Trace, *, key: str, start: Position) -> Position:
    """Choose a drafted token of the trace and show its two laws; returns (round, token from 1)."""
    found = places(trace)
    if not found:
        st.info("This run has no drafted token with its laws: plain decoding has no q.")
        return start
    first = first_shown(found, start)
    if len(found) == 1:
        n = 0
    else:
        n = st.slider("Drafted token", 1, len(found), first + 1, key=f"{key} token") - 1
    r, i = found[n]
    token, seen = r.drafted[i], heads(r.drafted[i], rule=r.rule)
    st.markdown(f"Round {r.index + 1}, drafted token {i + 1} of {len(r.drafted)}: {fate(r, i)}")
    drop = Drop(seen.drafted, 0.5 if token.u is None else token.u)
    overlap(seen.p, seen.q, seen.names, key=key, exact=False, drop=drop)
    st.caption(merged(seen))
    return Position(r.index + 1, i + 1)


def fate(r: Round, i: int) -> str:
    """What became of a drafted token, in a sentence (Markdown; its text as code)."""
    token = r.drafted[i]
    laws = f"{code(token.text)}, p = {token.p:.3g}, q = {token.q:.3g}"
    if token.verdict == "discarded":
        return f"{laws}: **discarded**, it came after the end of what was kept."
    test = ""
    if token.u is not None:  # only under pq does u alone decide against the token's own threshold
        test = f" with u = {token.u:.3g}"
        test += f" against {token.threshold:.3g}" if r.rule == "pq" else f", by the rule {r.rule!r}"
    if token.verdict == "rejected":
        instead = r.written[tree.depths(tree_rounds.parents(r))[i] - 1].text
        return f"{laws}: **rejected**{test}; {code(instead)} was written instead."
    return f"{laws}: **accepted**{test}."


def merged(seen: Heads) -> str:
    """What merging the rest into one bar does to the overlap."""
    bars = sum(map(min, seen.p, seen.q))
    if seen.overlap is None:
        return (
            f"Over these bars α = {bars:.3f}. One bar for all the rest can only add overlap, and "
            "this trace does not hold enough to say how much."
        )
    if bars - seen.overlap < 5e-4:
        return f"Over these bars, and over the whole vocabulary, α = {bars:.3f}."
    return (
        f"Over these bars α = {bars:.3f}; over the whole vocabulary it is {seen.overlap:.3f}. One "
        "bar for all the rest hides where the two laws part inside it, so it can only add overlap."
    )


def code(text: str) -> str:
    """A token's text as Markdown code that no text can break out of."""
    plain = text.replace("\n", "⏎").replace("\r", "␍").replace("\t", "⇥").replace(" ", "·")
    fence = "`" * (1 + max(map(len, re.findall("`+", plain)), default=0))
    return f"{fence} {plain or '⋯'} {fence}"
