"""A run's cache over heads: entries made of the target's features, and guesses beyond them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from specdec import tree

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
        self._grown: Tensor | None = None  # [1 + nodes, width] the guesses behind a tree's nodes

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
            n, places = len(tokens), range(first, first + len(tokens))
            sees = np.tri(n, len(self.positions) + n, len(self.positions), dtype=bool)
            self._guess = self._enter(tokens, features, places, sees)[-1:]
        self.positions += places
        return self._logits(self._guess)[0]

    def guess(self, token: int) -> np.ndarray:
        """Logits [v] after one more token, from the guess that the last logits came from."""
        with torch.inference_mode():
            sees = np.ones((1, len(self.positions) + self._guessed + 1), bool)
            place = self.length - 1 + self._guessed
            self._guess = self._enter([token], self._guess, [place], sees)
        self._guessed += 1
        return self._logits(self._guess)[0]

    def level(self, tokens: Sequence[int], parents: Sequence[int], new: int) -> np.ndarray:
        """Logits [new, v] after the last nodes of a tree, each from the guess behind its parent.

        The nodes before them were fed by calls since the last `read`.
        """
        n, true = len(tokens), len(self.positions)
        if n == new:
            self._grown, self._guessed = self._guess, 0
        sees = np.ones((new, true + n), bool)
        sees[:, true:] = tree.mask(parents)[n - new :]
        places = [self.length - 2 + depth for depth in tree.depths(parents)[n - new :]]
        with torch.inference_mode():
            behind = self._grown[[parent + 1 for parent in parents[n - new :]]]
            grown = self._enter(tokens[n - new :], behind, places, sees)
            self._grown = torch.cat([self._grown, grown])
        self._guessed = n
        return self._logits(grown)

    def rollback(self, length: int) -> None:
        """Forget the entries that know more than `length` tokens."""
        while self.positions and self.length > length:
            self.positions.pop()

    def close(self) -> None:
        """Free the cache."""
        self._cache, self._guess, self._grown, self.positions = None, None, None, []

    def _enter(
        self, tokens: Sequence[int], features: Tensor, places: Sequence[int], sees: np.ndarray
    ) -> Tensor:
        at, n = len(self.positions) + self._guessed, len(tokens)
        self._reserve(at + n)
        ids = torch.as_tensor(list(tokens), dtype=torch.long, device=self.model.device)
        return self.model.forward(ids, features, places, self._cache, at, sees)

    def _logits(self, g: Tensor) -> np.ndarray:
        with torch.inference_mode():
            return self.model.logits(g).float().cpu().numpy()

    def _reserve(self, needed: int) -> None:
        if needed > self._cache.shape[2]:
            bigger = self.model.room(max(needed, 2 * self._cache.shape[2]))
            bigger[:, :, : self._cache.shape[2]] = self._cache
            self._cache = bigger
