"""What speculation is paid with, on page 4: passes, arithmetic, memory, and a busy machine's v."""

from __future__ import annotations

import streamlit as st

from specdec import recordings, theory
from specdec.trace import Memory, Source
from specdec.ui import engine
from specdec.ui.live_curve import K_MAX, Point
from specdec.ui.speedup import Figure

BUSY = (0.0, 0.05, 0.1, 0.2, 0.3, 0.5, 1.0)  # v, from idle arithmetic to none left
CONTEXT = 1000  # tokens whose cache is priced


def panel(at: Point) -> None:
    """All of it, in numbers of the present sliders."""
    for column, figure in zip(st.columns(4), costs(at)):
        with column, st.container(border=True, height="stretch"):
            st.metric(figure.label, figure.value)
            st.caption(figure.meaning)
    st.table(bill(at))
    left, right = st.columns(2, gap="large")
    with left:
        _memory()
    with right:
        st.markdown(f"**When the machine is busy**\n\n{busy_words(at)}")
        st.table(busy(at))


def costs(at: Point) -> tuple[Figure, ...]:
    """What the speed is paid with, per 100 written tokens and in arithmetic."""
    tokens = theory.tokens_per_pass(at.alpha, at.k)
    passes, accepted = 100 / tokens, tokens - 1
    least = theory.operations_factor(at.alpha, at.k, 0.0)
    same = theory.operations_factor(at.alpha, at.k, at.c)
    return (
        Figure("target passes", f"{passes:.1f}", "for 100 tokens; plain decoding takes 100"),
        Figure(
            "drafter passes", f"{passes * at.k:.1f}", f"for 100 tokens: k = {at.k} in every round"
        ),
        Figure(
            "drafts not accepted",
            f"{passes * (at.k - accepted):.1f}",
            "for 100 tokens: rejected, or discarded behind a rejected one",
        ),
        Figure(
            "arithmetic",
            f"≥ {least:.2f}×",
            f"of plain decoding; {same:.2f}× if the drafter's share of it is c, as of the time",
        ),
    )


def bill(at: Point) -> list[dict[str, str]]:
    """The four items of the bill: as they stand, and between which ends."""
    tokens = theory.tokens_per_pass(at.alpha, at.k)
    thrown = at.k - (tokens - 1)
    return [
        {
            "what": "target passes per token",
            "now": f"{1 / tokens:.3f}",
            "in general": f"from 1 (α = 0) down to 1/(k + 1) = {1 / (at.k + 1):.3f} (α = 1)",
        },
        {
            "what": "drafter passes per round",
            "now": f"{at.k}",
            "in general": f"k, together {at.k * at.c:.3g} target passes: why c is in the divisor",
        },
        {
            "what": "cache entries rolled back per round",
            "now": f"{thrown:.2f}",
            "in general": "those of drafts not accepted, in both caches; both models stay loaded",
        },
        {
            "what": "quality of the text",
            "now": "unchanged",
            "in general": "greedy: the same tokens; sampled: exactly the target's distribution",
        },
    ]


def busy_words(at: Point) -> str:
    """From which v on nothing is gained."""
    start = (
        "One request leaves the arithmetic idle while weights are read: one more position is "
        "nearly free. Many requests at once use it, and v rises. "
    )
    most = at.alpha - at.c
    if most <= 0:
        return f"{start}Here α ≤ c: no k pays even at v = 0."
    last = f"From v = α − c = {most:.3g} on no k does."
    if at.k == 0:
        return start + last
    even = theory.break_even_v(at.alpha, at.k, at.c)
    if even <= 0:
        return f"{start}At k = {at.k} nothing is gained even at v = 0. {last}"
    return f"{start}At k = {at.k} the gain is gone at **v = {even:.3g}**. {last}"


def busy(at: Point) -> list[dict[str, str]]:
    """The speed-up as v rises, the present v among the others."""
    rows = []
    for v in sorted({*BUSY, at.v}):
        best = theory.best_k(at.alpha, at.c, v, K_MAX)
        finite = theory.has_finite_best_k(at.alpha, at.c, v)
        rows.append(
            {
                "v": f"{v:g}" + "\u00a0●\u00a0you" * (v == at.v),
                f"at k = {at.k}": f"{theory.speedup(at.alpha, at.k, at.c, v):.2f}×",
                "best k": str(best) if finite else "none",
                "with it": f"{theory.speedup(at.alpha, best, at.c, v):.2f}×" if finite else "–",
            }
        )
    return rows


def _memory() -> None:
    source = _pair()
    st.markdown("**In memory**")
    if source.memory is None:
        st.markdown(
            "Both models' weights, and a cache of keys and values for each. Of this pair no sizes "
            "are known yet: a run of the live pair brings them."
        )
        return
    st.table(sizes(source.memory))
    when = f"recorded on {source.when}" if source.kind == "recorded" else "the pair loaded now"
    st.caption(f"{source.target} with {source.drafter}, {source.dtype}: {when}.")


def _pair() -> Source:
    """The pair of this visit's live run, else that of the recordings."""
    live = engine.live().trace
    if live is not None and live.source.memory is not None:
        return live.source
    return recordings.load("chat").speculative.source


def sizes(memory: Memory) -> list[dict[str, str]]:
    """Weights and caches of both models in MB (a million bytes), and what the drafter adds."""
    target = memory.target_weights, memory.target_token * CONTEXT
    drafter = memory.drafter_weights, memory.drafter_token * CONTEXT
    rows = []
    for what, of_target, of_drafter in zip(("weights", "cache"), target, drafter):
        share = f"+{of_drafter / of_target:.0%}" if of_target else "–"
        rows.append(
            {
                "MB": what if what == "weights" else f"cache of {CONTEXT} tokens",
                "target": f"{of_target / 1e6:.1f}",
                "drafter": f"{of_drafter / 1e6:.1f}",
                "more than plain": share,
            }
        )
    return rows
