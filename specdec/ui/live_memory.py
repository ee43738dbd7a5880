"""What the loaded pair weighs: weights and caches of both models, in MB."""

from __future__ import annotations

import streamlit as st

from specdec.trace import Memory, Trace
from specdec.ui.literal import literal
from specdec.ui.shown import Shown

MB = 1e6  # bytes


def memory(run: Shown) -> None:
    """A table, and what it says about the drafter's price."""
    trace = run.trace
    if trace.source.memory is None:
        st.markdown("This run did not record what its models weigh.")
        return
    rows = table(trace.source.memory, trace)
    st.table(rows, border="horizontal")
    st.markdown(words(trace.source.memory, trace))


def cached(trace: Trace) -> tuple[int, int]:
    """The most tokens that each cache held at once: at the end of the longest verify pass."""
    target = max((r.start + len(r.drafted) for r in trace.rounds), default=0)
    drafting = [r for r in trace.rounds if r.lengths.drafter is not None and r.drafted]
    return target, max((r.start + len(r.drafted) - 1 for r in drafting), default=0)


def table(memory: Memory, trace: Trace) -> list[dict[str, str]]:
    """Rows: the two models; columns: weights, a cached token, the cache at its fullest."""
    target, drafter = cached(trace)
    models = [
        (f"target · {trace.source.target}", memory.target_weights, memory.target_token, target),
        (
            f"drafter · {trace.source.drafter}",
            memory.drafter_weights,
            memory.drafter_token,
            drafter,
        ),
    ]
    return [
        {
            "model": literal(name),
            "weights": f"{weights / MB:.1f} MB",
            "cache, a token": f"{token / 1e3:.1f} kB",
            "cache at its fullest": f"{token * most / MB:.2f} MB ({most} tokens)",
        }
        for name, weights, token, most in models
    ]


def words(memory: Memory, trace: Trace) -> str:
    """What the drafter adds, relative to the target."""
    if not memory.drafter_weights:
        return "Nothing is added to the target: this run drafts without a second model."
    target, drafter = cached(trace)
    weights = memory.drafter_weights / memory.target_weights
    caches = memory.drafter_token * drafter / (memory.target_token * target)
    return (
        f"The drafter adds {weights:.0%} to the weights and {caches:.0%} to the cache of plain "
        "decoding. Its table of embeddings is the target's own and is not counted twice. Entries "
        "of rejected and discarded tokens are rolled back in both caches after every round."
    )
