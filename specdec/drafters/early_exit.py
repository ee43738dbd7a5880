"""Drafting with the target itself, cut short: its first layers, then its own head."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from specdec.drafters import Draft
from specdec.drafters.steps import one_by_one
from specdec.law import Sampling
from specdec.scores import check


class EarlyExit:
    """The target's first n layers guess, all of them verify (Elhoushi et al. 2024, "LayerSkip").

    Needs no weights and no cache of its own: its passes write into the run's cache, behind the
    tokens that count there, and the verify pass writes over them. A model that was not trained to
    say early what it thinks is a poor drafter until n is near all of its layers.
    """

    def __init__(self, target_scorer, n: int, confidence: float = 0.0) -> None:
        if not hasattr(target_scorer, "early"):
            raise ValueError(
                f"{type(target_scorer).__name__} cannot be left early: that needs a target of the "
                "Llama family."
            )
        layers = len(target_scorer.model.layers)
        check("n", n, 1 <= n <= layers and n % 1 == 0, f"a whole number of layers, 1 to {layers}")
        check("confidence", confidence, 0 <= confidence <= 1, "in [0, 1]")
        self.scorer, self.n, self.confidence = target_scorer, int(n), confidence
        self.vocab_size = target_scorer.vocab_size

    def propose(
        self, context: Sequence[int], k: int, sampling: Sampling, uniforms: Callable
    ) -> Draft:
        """k tokens, each drawn from the law that its ratio will be taken with."""
        read = self.scorer.length

        def after(ids: list[int]):
            nonlocal read
            ahead, read = read - self.scorer.length, len(ids)
            return self.scorer.early(ids[self.scorer.length + ahead :], self.n, ahead)[-1]

        return one_by_one(
            after,
            *(context, k, sampling, uniforms),
            vocab_size=self.vocab_size,
            token_ids=getattr(self.scorer, "token_ids", None),
            confidence=self.confidence,
        )
