"""Drafting with a small model: k passes, one token each."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from specdec.drafters import Draft
from specdec.drafters.steps import one_by_one
from specdec.law import Sampling
from specdec.models import feed
from specdec.scores import check


class ModelDrafter:
    """A scorer that drafts. Its columns may be a part of the target's vocabulary
    (`scorer.token_ids`, ascending): every other token then has q = 0, which stays lossless.

    A draft ends with the first token at which the model was less certain of its favourite than
    `confidence` (0: never). That token is kept and judged: to drop it would bend the law.
    """

    def __init__(self, scorer, vocab_size: int | None = None, confidence: float = 0.0) -> None:
        check("confidence", confidence, 0 <= confidence <= 1, "in [0, 1]")
        self.scorer, self.confidence = scorer, confidence
        self.token_ids = getattr(scorer, "token_ids", None)
        self.vocab_size = vocab_size or scorer.vocab_size  # of the target
        self.context = getattr(scorer, "context", None) or np.inf
        if self.token_ids is None and scorer.vocab_size != self.vocab_size:
            raise ValueError(
                f"The drafter knows {scorer.vocab_size} tokens and the target {self.vocab_size}: "
                "the two vocabularies differ."
            )
        if self.token_ids is not None and np.max(self.token_ids) >= self.vocab_size:
            raise ValueError(
                f"The drafter's id {np.max(self.token_ids)} is outside the target's vocabulary "
                f"[0, {self.vocab_size})."
            )

    @property
    def length(self) -> int:
        """Cached tokens."""
        return self.scorer.length

    def prefill(self, tokens: Sequence[int]) -> None:
        """Cache the prompt, so that the first draft is not charged for it."""
        if len(tokens) <= self.context:
            feed(self.scorer, tokens)

    def rollback(self, length: int) -> None:
        """Forget what the target did not keep."""
        self.scorer.rollback(length)

    def propose(
        self, context: Sequence[int], k: int, sampling: Sampling, uniforms: Callable
    ) -> Draft:
        """k tokens, each drawn from the law that its ratio will be taken with.

        Fewer, and at last none, where the drafter's own context ends, where it is not confident,
        or where nothing that it knows is allowed.
        """
        k = int(max(0, min(k, self.context + 1 - len(context))))
        return one_by_one(
            lambda ids: self.scorer.score(ids[self.scorer.length :])[-1],
            *(context, k, sampling, uniforms),
            vocab_size=self.vocab_size,
            token_ids=self.token_ids,
            confidence=self.confidence,
        )

    def first(self, context: Sequence[int]) -> np.ndarray:
        """Logits [v] of what follows the context: where a tree begins."""
        return self.scorer.score(context[self.scorer.length :])[-1]

    def level(self, tokens: Sequence[int], parents: Sequence[int], new: int) -> np.ndarray:
        """Logits [new, v] after the last nodes of a tree [n] behind the context of `first`."""
        length = self.scorer.length
        rows = self.scorer.score(tokens, parents)[-new:]
        self.scorer.rollback(length)
        return rows

    def close(self) -> None:
        """Free the cache."""
        if hasattr(self.scorer, "close"):
            self.scorer.close()
