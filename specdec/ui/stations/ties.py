"""Station 5: a near-tie, which low precision rounds one way in a pass over one row, and the other
way in a pass over several."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import streamlit as st

from specdec import ties
from specdec.presets import presets
from specdec.ties import Best, Searched, Text, Ties, Two
from specdec.trace import Token
from specdec.ui import engine, query
from specdec.ui.job import Job
from specdec.ui.shown import source
from specdec.ui.stations.marked import around, shown
from specdec.ui.stations.parts import part, question
from specdec.ui.watch import watched

TITLES = {p.name: p.title for p in presets()}
LIMITS = {"open": query.Choice("chat", tuple(TITLES))}
GUESSES = ("In none: the weights are the same", "In some", "In all")
BANDS = (0, 1, 2, 8)  # upper ends, in units


def draw(link: Mapping[str, Any]) -> dict[str, Any]:
    """Draw the station; returns its state for a link."""
    _question(ties.recorded())
    part(
        "do",
        "Decode a prompt twice, greedily, with the same weights in bf16: the target alone, and "
        "with a draft of 4. The rule writes exactly p, so the two texts have to be the same.",
    )
    name = st.radio(
        "Prompt",
        list(TITLES),
        list(TITLES).index(link["open"]),
        key="ties prompt",
        format_func=TITLES.get,
        horizontal=True,
    )
    watched(
        "ties job",
        "Decode this prompt on this machine",
        lambda job: _search(job, name),
        lambda found: _parts(_of(found, name) or ties.recorded(), name),
        engine.progress,
    )
    return {"open": name}


def _search(job: Job, name: str) -> Ties:
    low, high = engine.load("bf16"), engine.load("fp32")
    chosen = [p for p in presets() if p.name == name]
    for share, found in ties.search(low, high, chosen, turn=lambda: engine.GATE.turn(job)):
        job.say(share, "Decoding in bf16, in bf16 at one shape, and in fp32")
        job.result = found
        if job.cancelled:
            break
    return job.result


def _of(found: Ties | None, name: str) -> Ties | None:
    """What was searched in this visit, if it was this prompt."""
    return found if found and found.found and found.found[0].preset == name else None


def _question(found: Ties) -> None:
    n, parted = len(found.found), sum(s.natural.first is not None for s in found.found)
    question(
        "ties",
        f"{n} prompts, up to 96 greedy tokens each, in bf16: in how many do speculative and plain "
        "decoding write different texts?",
        GUESSES,
        GUESSES[0 if not parted else 2 if parted == n else 1],
        f"In {parted} of {n}, as recorded. Neither text is wrong: both follow the same weights, "
        "rounded in another order.",
    )


def _parts(found: Ties, name: str) -> None:
    [searched] = [s for s in found.found if s.preset == name]
    st.caption(source(found))
    part("symptom", symptom(searched.natural))
    if searched.natural.first is not None:
        for label, text in _both(searched.natural):
            st.markdown(f"**{label}:** {around(text.tokens, searched.natural.first)}")
    part("cause", cause(searched))
    if rows := _rows(searched):
        st.table(rows)
    st.markdown(_near(searched.units))
    st.table([_bands(searched.units)])
    part(
        "cure",
        "Where the texts must be equal, run every target pass at **one shape** (`rows=8`: fewer "
        "rows are padded), or in fp32. Where they need not be, know that *lossless* is about the "
        "law: do not call a text that parts at a near-tie a fault of the rule, and do not compare "
        "bf16 texts token by token as a test of one.",
    )
    st.table([_outcome(two) for two in (searched.natural, searched.fixed, searched.high)])


def symptom(two: Two) -> str:
    """Whether the texts part, and where."""
    if two.first is None:
        return (
            f"None this time: both wrote the same {len(two.plain.tokens)} tokens. Luck, not a "
            "promise: look at the gaps below, and at another prompt."
        )
    return (
        f"The same {two.first} tokens, then two texts. Token {two.first + 1} differs, and all "
        "that follows hangs on it."
    )


def cause(searched: Searched) -> str:
    """Why, in the numbers of the two passes that decided the token."""
    at = searched.natural.plain.at
    if at is None:
        return (
            "A pass over one row and one over five add the same products in another order, and "
            "bf16 keeps 8 significant bits of every sum. Here no gap was small enough to turn."
        )
    return (
        f"There the target hardly cares: its two best logits are {at.gap:.3g} apart, "
        f"**{at.units:.3g} unit{'s' * (at.units != 1)}** of bf16 at that size (a unit is "
        f"{ties.spacing(at.logits[0]):g}). A pass over one row and one over five add the same "
        "products in another order and round each sum to 8 significant bits; that moves a logit "
        "by a unit or so, and greedy decoding takes the larger one, or the lower id of two equal."
    )


def _both(two: Two) -> list[tuple[str, Text]]:
    return [("Plain", two.plain), ("Speculative, k = 4", two.speculative)]


def _rows(searched: Searched) -> list[dict[str, str]]:
    """The two best logits in each run that had the same text until there."""
    return [
        {"run": f"{_conditions(two)}, {label.lower()}"} | _best(text.at)
        for two in (searched.natural, searched.fixed, searched.high)
        for label, text in _both(two)
        if text.at
    ]


def _best(best: Best) -> dict[str, str]:
    def said(token: Token, logit: float) -> str:
        return f"“{shown(token.text)}” {logit:.7g}"

    return {
        "best": said(best.tokens[0], best.logits[0]),
        "second": said(best.tokens[1], best.logits[1]),
        "gap": f"{best.gap:.4g}",
        "in units of bf16": f"{best.units:.3g}",
    }


def _near(units: tuple[float, ...]) -> str:
    zero, near = sum(u == 0 for u in units), sum(u <= 1 for u in units)
    return (
        f"Such places are not rare: of the {len(units)} tokens that plain decoding wrote here, "
        f"**{zero}** had a gap of exactly 0 and **{near}** one of at most a unit."
    )


def _bands(units: tuple[float, ...]) -> dict[str, str]:
    edges = (-1, *BANDS, float("inf"))
    names = ("0", "up to 1", "up to 2", "up to 8", "more than 8 units")
    counts = [sum(low < u <= high for u in units) for low, high in pairwise(edges)]
    return {"gap": "tokens"} | dict(zip(names, map(str, counts)))


def _conditions(two: Two) -> str:
    dtype = {"bfloat16": "bf16", "float32": "fp32"}.get(two.dtype, two.dtype)
    return dtype + (f", every pass {two.rows} rows" if two.rows else ", passes as they come")


def _outcome(two: Two) -> dict[str, str]:
    equal = f"✓ the same {len(two.plain.tokens)} tokens"
    words = equal if two.first is None else f"✗ they part at token {two.first + 1}"
    return {"target passes": _conditions(two), "plain and speculative": words}
