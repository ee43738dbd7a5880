"""A drafter that always says the same: for tests, and to see that any draft is lossless."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from specdec.drafters import Draft
from specdec.law import Sampling


class FixedDrafter:
    """Proposes the first k of `tokens` in every round, with certainty (one-hot q)."""

    def __init__(self, tokens: Sequence[int]) -> None:
        self.tokens = list(tokens)

    def propose(
        self, context: Sequence[int], k: int, sampling: Sampling, uniforms: Callable
    ) -> Draft:
        """The same tokens, whatever the context."""
        return Draft(self.tokens[:k])
