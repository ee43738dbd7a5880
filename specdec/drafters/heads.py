"""Drafting with heads on the target: one layer continues the features the target left behind."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from specdec.drafters import Draft
from specdec.drafters.steps import one_by_one
from specdec.law import Sampling
from specdec.scores import check

if TYPE_CHECKING:
    from specdec.models.heads import HeadsModel


class Heads:
    """Reads the features of the target's last pass, then drafts k tokens on its own guesses.

    `target_scorer` is the run's own; without a `model` the bundled heads are loaded. A draft ends
    with the first token at which they were less certain than `confidence`; that token is judged.
    """

    def __init__(
        self, target_scorer, model: HeadsModel | None = None, confidence: float = 0.0
    ) -> None:
        from specdec.models.heads import heads_model
        from specdec.models.heads_cache import HeadsCache

        check("confidence", confidence, 0 <= confidence <= 1, "in [0, 1]")
        self.confidence = confidence
        model = model or heads_model(target_scorer.model)
        self.scorer, self.cache = target_scorer, HeadsCache(model)
        self.vocab_size, self.token_ids = target_scorer.vocab_size, model.token_ids

    @property
    def length(self) -> int:
        """Tokens known by entries that were made of the target's features."""
        return self.cache.length

    def prefill(self, tokens: Sequence[int]) -> None:
        """Make entries of the prompt, whose features the target has just computed."""
        self.follow(tokens)

    def follow(self, context: Sequence[int]) -> np.ndarray | None:
        """Read what the target has read since; logits [v] after the context, None if it is old.

        A pass of the target that nobody followed is lost: its entries are not attended to.
        """
        start, rows = self.scorer.features_from, self.scorer.features
        first = max(start, self.length - 1)
        end = min(self.scorer.length, len(context) - 1)  # an entry also needs the next token
        if rows is None or first >= end:
            return None
        return self.cache.read(
            context[first + 1 : end + 1], rows[first - start : end - start], first
        )

    def propose(
        self, context: Sequence[int], k: int, sampling: Sampling, uniforms: Callable
    ) -> Draft:
        """k tokens, each drawn from the law that its ratio will be taken with.

        Fewer where the heads are not confident, or where nothing that they know is allowed; none
        without new features.
        """
        logits = self.first(context)
        if logits is None:
            return Draft([], np.zeros((0, self.vocab_size)))
        return one_by_one(
            lambda ids: self.cache.guess(ids[-1]) if len(ids) > len(context) else logits,
            *(context, k, sampling, uniforms),
            vocab_size=self.vocab_size,
            token_ids=self.token_ids,
            confidence=self.confidence,
        )

    def first(self, context: Sequence[int]) -> np.ndarray | None:
        """Logits [v] of what follows the context: where a tree begins; None as `follow` says."""
        logits = self.follow(context)
        return logits if self.length == len(context) else None

    def level(self, tokens: Sequence[int], parents: Sequence[int], new: int) -> np.ndarray:
        """Logits [new, v] after the last nodes of a tree [n] behind the context of `first`."""
        return self.cache.level(tokens, parents, new)

    def rollback(self, length: int) -> None:
        """Forget the entries that know more than `length` tokens."""
        self.cache.rollback(length)

    def close(self) -> None:
        """Free the cache; the target's scorer is the run's."""
        self.cache.close()
