"""Drafting with heads on the target: one layer continues the features the target left behind."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np
import torch

from specdec.constraint import NothingAllowed
from specdec.drafters import Draft
from specdec.law import Sampling, draw
from specdec.uniforms import DRAFT

if TYPE_CHECKING:
    from specdec.models.heads import HeadsModel

FIRST = 256  # entries that a growing cache starts with


class Heads:
    """Reads the features of the target's last pass, then drafts k tokens on its own guesses.

    Entry i of its cache is made of token i + 1 and the target's feature at i, so n entries know
    n + 1 tokens. Entries made of a guess are never counted: the next round overwrites them.
    """

    def __init__(self, target_scorer, model: HeadsModel | None = None) -> None:
        from specdec.models.heads import heads_model

        self.scorer, self.model = target_scorer, model or heads_model(target_scorer.model)
        self.vocab_size, self.token_ids = target_scorer.vocab_size, self.model.token_ids
        self._positions: list[int] = []  # of the true entries, ascending
        self._cache = self.model.room(FIRST)

    @property
    def length(self) -> int:
        """Tokens that the true entries know."""
        return self._positions[-1] + 2 if self._positions else 0

    def prefill(self, tokens: Sequence[int]) -> None:
        """Make entries of the prompt, whose features the target has just computed."""
        self.follow(tokens)

    def follow(self, context: Sequence[int]) -> torch.Tensor | None:
        """Make entries of what the target has read since; the last guess g [1, width], or None.

        A pass of the target that nobody followed is lost: its entries are not attended to.
        """
        start, rows = self.scorer.features_from, self.scorer.features
        first = max(start, self.length - 1, 0)
        end = min(self.scorer.length, len(context) - 1)  # an entry also needs the next token
        if rows is None or first >= end:
            return None
        with torch.inference_mode():
            features = self.model.features(torch.from_numpy(rows[first - start : end - start]))
            guess = self._enter(context[first + 1 : end + 1], features, first)[-1:]
        self._positions += range(first, end)
        return guess

    def propose(
        self, context: Sequence[int], k: int, sampling: Sampling, uniforms: Callable
    ) -> Draft:
        """k tokens, each drawn from the law that its ratio will be taken with.

        Fewer where nothing that the heads know is allowed; none without the target's features.
        """
        ids, laws, passes = list(context), np.zeros((k, self.vocab_size)), 0
        guess = self.follow(ids)
        if guess is None or self.length != len(ids):
            return Draft([], laws[:0])
        with torch.inference_mode():
            for i in range(k):
                if i:
                    guess = self._enter(ids[-1:], guess, len(ids) - 2, i - 1)
                passes += 1
                logits = self.model.logits(guess)[0].float().cpu().numpy()  # [v]
                try:
                    laws[i, self.token_ids] = sampling.law(logits, ids, self.token_ids)
                except NothingAllowed:
                    break
                ids.append(draw(laws[i], uniforms(len(ids), DRAFT)))
        tokens = ids[len(context) :]
        return Draft(tokens, laws[: len(tokens)], passes=passes)

    def rollback(self, length: int) -> None:
        """Forget the entries that know more than `length` tokens."""
        while self._positions and self.length > length:
            self._positions.pop()

    def close(self) -> None:
        """Free the cache; the target's scorer is its own."""
        self._cache, self._positions = None, []

    def _enter(
        self, tokens: Sequence[int], features: torch.Tensor, first: int, beyond: int = 0
    ) -> torch.Tensor:
        """Guesses [n, width] after tokens; their entries stand `beyond` the true ones."""
        at, n = len(self._positions) + beyond, len(tokens)
        if at + n > self._cache.shape[2]:
            bigger = self.model.room(max(at + n, 2 * self._cache.shape[2]))
            bigger[:, :, :at] = self._cache[:, :, :at]
            self._cache = bigger
        ids = torch.as_tensor(list(tokens), dtype=torch.long, device=self.model.device)
        return self.model.forward(ids, features, first, self._cache, at)
