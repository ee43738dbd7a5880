"""Drafting by the first who has something to say: a copy where the text repeats, else a model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from specdec.drafters import Draft
from specdec.law import Sampling


class Combined:
    """Asks its drafters in turn; the first that proposes anything has the round.

    Each keeps a cache of its own: one that was not asked feeds what it lacks when it is asked next.
    Drafters that read the target's features, which only the last pass left, follow every round.
    """

    def __init__(self, *drafters) -> None:
        if not drafters:
            raise ValueError("There is no drafter to combine.")
        self.drafters = drafters
        self.branches = any(getattr(d, "branches", False) for d in drafters)
        known = {d.vocab_size for d in drafters if hasattr(d, "vocab_size")}
        if len(known) > 1:
            raise ValueError(
                f"The drafters know {sorted(known)} tokens: their vocabularies differ."
            )
        if known:
            (self.vocab_size,) = known
        self._cached = [d for d in drafters if hasattr(d, "length")]

    @property
    def length(self) -> int:
        """Tokens in the longest of the caches."""
        return max((d.length for d in self._cached), default=0)

    def prefill(self, tokens: Sequence[int]) -> None:
        """Cache the prompt, each."""
        for d in self.drafters:
            if hasattr(d, "prefill"):
                d.prefill(tokens)

    def propose(
        self, context: Sequence[int], k: int, sampling: Sampling, uniforms: Callable
    ) -> Draft:
        """The first draft that is not empty, with the passes of all who were asked."""
        passes, draft = 0, Draft([])
        for i, d in enumerate(self.drafters):
            draft = d.propose(context, k, sampling, uniforms)
            passes += draft.passes
            if len(draft.tokens):
                passes += sum(_follow(other, context) for other in self.drafters[i + 1 :])
                break
        return replace(draft, passes=passes)

    def rollback(self, length: int) -> None:
        """Shorten every cache that is longer."""
        for d in self._cached:
            if d.length > length:
                d.rollback(length)

    def close(self) -> None:
        """Free every cache."""
        for d in self.drafters:
            if hasattr(d, "close"):
                d.close()


def _follow(drafter, context: Sequence[int]) -> int:
    """Let it read the target's features while they are there; the passes that took."""
    return int(hasattr(drafter, "follow") and drafter.follow(context) is not None)
