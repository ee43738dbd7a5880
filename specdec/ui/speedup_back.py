"""From a measured speed-up back to α: the formula of page 4, read from right to left."""

from __future__ import annotations

from dataclasses import dataclass, replace

import streamlit as st

from specdec import theory
from specdec.ui import query, speedup_at
from specdec.ui.speedup_at import At

SLACK = 1e-9  # of rounding: a speed-up computed from α = 1 must come back as one


@dataclass(frozen=True)
class Back:
    """What a measured speed-up says: tokens a pass, and α, or why there is none."""

    tokens: float
    alpha: float | None
    words: str


def back(speed: float, k: int, c: float, v: float) -> Back:
    """Tokens a pass = speed-up × cost of a round; then α from them."""
    cost = 1 + k * (c + v)
    tokens = speed * cost
    sum_ = f"{speed:g} × {cost:.4g} = {tokens:.3f} tokens a pass"
    if k == 0:
        return Back(tokens, None, "**k = 0 drafts nothing:** no speed-up says anything about α.")
    if tokens > k + 1 + SLACK:
        return Back(
            tokens,
            None,
            f"**✗ Impossible:** {sum_}, but a pass writes at most k + 1 = {k + 1}. Faster than "
            f"{(k + 1) / cost:.2f}× cannot be at this k, c and v: c or v is smaller than set, "
            "or plain decoding was timed too slow.",
        )
    if tokens < 1 - SLACK:
        return Back(
            tokens,
            None,
            f"**✗ No α does that:** {sum_}, but every pass writes at least 1. Even α = 0 gives "
            f"{1 / cost:.2f}×, so time is lost where the formula does not look: c or v is larger "
            "than set, or there is a cost outside both models.",
        )
    alpha = theory.alpha_from_tokens_per_pass(min(max(tokens, 1.0), k + 1.0), k)
    return Back(tokens, alpha, f"**α = {alpha:.3f}**, from {sum_}.")


def panel(at: At) -> None:
    """The measured number, the answer, and the way to the curve."""
    p = at.point
    st.markdown(
        "You measured a speed-up and know k, c and v. Which α would explain it? Set k, c and v "
        "above; the curve's own α plays no part."
    )
    key, limits = "speedup speed", query.KEYS["speed"]
    st.session_state[key] = float(at.speed)
    st.number_input(
        "Measured speed-up",
        limits.low,
        limits.high,
        key=key,
        step=0.05,
        format="%.3f",
        on_change=speedup_at.entered,
        args=("speed",),
        width=220,
    )
    found = back(at.speed, p.k, p.c, p.v)
    st.markdown(found.words)
    st.caption(f"With k = {p.k}, c = {p.c:g}, v = {p.v:g} of the sliders.")
    if found.alpha is not None:
        point = replace(p, alpha=round(found.alpha, 6))
        st.button("Put it on the curve", on_click=speedup_at.go, args=(point,))
