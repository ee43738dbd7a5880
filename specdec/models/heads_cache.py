"""A run's cache over heads: entries made of the target's features, and guesses beyond them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

if TYPE_CHECKING:
    from specdec.models.heads import HeadsModel

FIRST = 256  # entries that a growing cache starts with


class HeadsCache:
    """Entry i is made of token i + 1 and the target's feature at i; `positions` are those read.

    Entries made of a guess stand after them, are never counted, and are overwritten by the next.
    """

    def __init__(self, model: HeadsModel) -> None:
        self.model, self.positions = model, []
        self._cache, self._guess, self._guessed = model.room(FIRST), None, 0

    @property
    def length(self) -> int:
        """Tokens that the true entries know: one more than they are."""
        return self.positions[-1] + 2 if self.positions else 0

    def read(self, tokens: Sequence[int], hidden: np.ndarray, first: int) -> np.ndarray:
        """Logits [v] after the last of `tokens` [n], whose features are of the token before each.

        `hidden` are the target's rows [n, (1 + taps) width] at positions `first`, first + 1, …
        """
        self._guessed = 0
        with torch.inference_mode():
            features = self.model.features(torch.from_numpy(hidden))
            logits = self._enter(tokens, features, first)
        self.positions += range(first, first + len(tokens))
        return logits

    def guess(self, token: int) -> np.ndarray:
        """Logits [v] after one more token, from the guess that the last logits came from."""
        with torch.inference_mode():
            logits = self._enter([token], self._guess, self.length - 1 + self._guessed)
        self._guessed += 1
        return logits

    def rollback(self, length: int) -> None:
        """Forget the entries that know more than `length` tokens."""
        while self.positions and self.length > length:
            self.positions.pop()

    def close(self) -> None:
        """Free the cache."""
        self._cache, self._guess, self.positions = None, None, []

    def _enter(self, tokens: Sequence[int], features: Tensor, first: int) -> np.ndarray:
        at, n = len(self.positions) + self._guessed, len(tokens)
        self._reserve(at + n)
        ids = torch.as_tensor(list(tokens), dtype=torch.long, device=self.model.device)
        self._guess = self.model.forward(ids, features, first, self._cache, at)[-1:]
        return self.model.logits(self._guess)[0].float().cpu().numpy()

    def _reserve(self, needed: int) -> None:
        if needed > self._cache.shape[2]:
            bigger = self.model.room(max(needed, 2 * self._cache.shape[2]))
            bigger[:, :, : self._cache.shape[2]] = self._cache
            self._cache = bigger
