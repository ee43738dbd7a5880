"""From a drafted token of a trace to a few bars: the heads of its two laws, the rest as one bar."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from specdec.trace import Drafted, Top

REST = "the rest"
SURE = 1e-9  # a rest below this is rounding: what is not in the head has no mass
SIGNS = {" ": "·", "\n": "⏎", "\t": "⇥", "\r": "␍", "\u00a0": "⍽"}


@dataclass(frozen=True)
class Heads:
    """Two laws [n] over the same bars, in floats, and the overlap of the whole laws.

    Merging tokens can only add overlap, so Σ min over the bars is at least `overlap`.
    """

    names: tuple[str, ...]
    p: tuple[float, ...]
    q: tuple[float, ...]
    drafted: int  # the bar of the drafted token
    overlap: float | None  # None where the trace does not determine it


def heads(token: Drafted, *, rule: str = "pq", most: int = 10) -> Heads:
    """The likeliest tokens of both laws with both probabilities, and one bar for all others.

    The trace holds ten entries of each law; where a token is in one head only, its other
    probability follows from the residual, max(0, p − q) / (1 − α), or it joins the rest. `rule`:
    of the round; only "pq" records that residual. ValueError for a trace without laws.
    """
    if token.p_top is None or token.q_top is None:
        raise ValueError("This trace was recorded without the heads of its laws.")
    p, q = _law(token.p_top) | {token.id: token.p}, _law(token.q_top) | {token.id: token.q}
    for law, top, other in ((p, token.p_top, q), (q, token.q_top, p)):
        if top.rest < SURE:
            law.update({x: 0.0 for x in other if x not in law})
    residual = _law(token.residual_top) if rule == "pq" else {}
    missing = _missing(p, q, residual)
    if missing is not None:
        q |= {x: max(0.0, p[x] - share * missing) for x, share in residual.items() if x in p}
    overlap = None if missing is None else 1 - missing
    return _bars(token, p, q, overlap, most)


def _law(top: Top | None) -> dict[int, float]:
    return {} if top is None else {x: mass for x, _, mass in top.entries}


def _missing(
    p: Mapping[int, float], q: Mapping[int, float], residual: Mapping[int, float]
) -> float | None:
    """1 − α, from the token of the residual with the largest share whose p and q are known."""
    known = [x for x, share in residual.items() if share > 0 and x in p and x in q]
    if not known:
        return None
    x = max(known, key=residual.__getitem__)
    return min(1.0, max(0.0, (p[x] - q[x]) / residual[x]))


def _bars(
    token: Drafted, p: dict[int, float], q: dict[int, float], overlap: float | None, most: int
) -> Heads:
    tops = (token.p_top, token.q_top, token.residual_top)
    texts = {x: text for top in tops if top for x, text, _ in top.entries} | {token.id: token.text}
    both = sorted((x for x in p if x in q), key=lambda x: (-max(p[x], q[x]), x))
    shown = both[:most]
    if token.id not in shown:
        shown[-1] = token.id
    names = [_visible(texts[x]) for x in shown]
    rows = [[law[x] for x in shown] for law in (p, q)]
    rests = [max(0.0, 1 - sum(row)) for row in rows]
    if max(rests) >= SURE:
        names.append(REST)
        rows = [[*row, rest] for row, rest in zip(rows, rests)]
    return Heads(tuple(names), *(tuple(row) for row in rows), shown.index(token.id), overlap)


def _visible(text: str) -> str:
    """A token's text with signs for white space and codes for what has no shape."""
    return (
        "".join(SIGNS.get(c) or (c if c.isprintable() else f"U+{ord(c):04X}") for c in text) or "⋯"
    )
