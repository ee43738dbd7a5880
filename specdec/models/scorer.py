"""A run's cache over a Llama: keys and values of one sequence, of which a length is valid."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from specdec import tree as trees
from specdec.models.shapes import check_shape
from specdec.models.slot import Slot

if TYPE_CHECKING:
    from specdec.models.llama import Llama

BLOCK = 256  # prompt tokens a pass: bounds the memory of a long prefill
FIRST = 256  # tokens that a growing cache starts with


class LlamaScorer:
    """A Scorer (see `specdec.models`). To forget, it only sets `length` back."""

    def __init__(self, model: Llama, rows: int | None = None, capacity: int | None = None) -> None:
        check_shape(rows, capacity)
        self.model, self.rows, self.length = model, rows, 0
        self.vocab_size, self.token_ids = model.vocab_size, model.token_ids
        self.context = model.context
        self._grows = capacity is None
        self._most = model.context + (rows or 0)  # rows of padding may stand beyond the context
        self._cache: Tensor | None = self._room(min(capacity or FIRST, self._most))
        self._hidden: Tensor | None = None
        self.features_from = 0  # the position of the first row of `features`
        self._start, self._parents = 0, np.zeros(0, int)  # the last pass: where, and its tree

    def score(self, tokens: Sequence[int], parents: Sequence[int] | None = None) -> np.ndarray:
        """Logits float32 [n, v] of what follows each of these tokens, fed after the cached ones.

        `parents` [n] makes them a tree: token i follows token parents[i] < i of this call, or
        the cached sequence (-1). After a tree that branches comes `keep` or `rollback`.
        """
        with torch.inference_mode():
            ids, positions, slot, tree = self.begin(tokens, parents)
            hidden = self.model.forward(ids, positions, slot)
            self.end(slot, tree, hidden[: len(tokens)])
            return self.model.logits(hidden)[: len(tokens)].float().cpu().numpy()

    def feed(self, tokens: Sequence[int]) -> None:
        """Cache tokens without asking what follows them: the prefill of a prompt."""
        blocks = [tokens[i : i + BLOCK] for i in range(0, len(tokens), BLOCK)]
        first, hidden = self.length, []
        with torch.inference_mode():
            for block in blocks:
                ids, positions, slot, tree = self._pass(block, None, len(block))
                hidden.append(self.model.forward(ids, positions, slot))
                self.end(slot, tree, hidden[-1])
            self._hidden = torch.cat(hidden) if hidden else None
        self.features_from = first

    def early(self, tokens: Sequence[int], layers: int, ahead: int = 0) -> np.ndarray:
        """Logits float32 [n, v] of tokens behind the cache, by the first layers and the head alone.

        `ahead` such tokens were fed before, for the same layers. None of them counts: `length`
        stays, and the next pass of the whole model writes over what they left.
        """
        ids, tree = self._checked(tokens, None, len(tokens), ahead)
        model, at = self.model.first(layers), self.length + ahead
        keys = at + len(tokens)
        self._reserve(keys)
        mask = None if len(tokens) == 1 else self._mask(at, keys, trees.mask(tree))
        positions = torch.arange(at, keys, dtype=torch.float32, device=model.device)
        with torch.inference_mode():
            cache = self._cache[:layers]
            slot = Slot(cache, at, len(tokens), keys, mask)
            hidden = model.forward(ids.to(model.device), positions, slot)
            return model.logits(hidden).float().cpu().numpy()

    @property
    def features(self) -> np.ndarray | None:
        """Hidden rows [n, width] (float32, before the last norm) of the last call's tokens.

        Where the model has taps [n, (1 + taps) width]: what those layers read stands beside them.
        """
        return None if self._hidden is None else self._hidden.float().cpu().numpy()

    def rollback(self, length: int) -> None:
        """Forget all but the first `length` tokens."""
        self._check_open()
        if not 0 <= length <= self.length:
            raise ValueError(f"Cannot roll back to {length}; it must be in [0, {self.length}].")
        kept = max(0, length - self._start)
        if not self._is_path(range(kept)):
            raise ValueError(f"The first {kept} tokens of the tree are no path; use keep().")
        self.length, self._start = length, min(self._start, length)
        self._parents = self._parents[:kept]

    def keep(self, entries: Sequence[int]) -> None:
        """Of the last call's tokens keep only these: a path of its tree, from the root down."""
        self._check_open()
        if not self._is_path(entries):
            raise ValueError(f"The entries {list(entries)} are no path of the last tree.")
        end = self._start + len(entries)
        source = torch.as_tensor(list(entries), dtype=torch.long, device=self.model.device)
        with torch.inference_mode():
            self._cache[:, :, self._start : end] = self._cache[:, :, self._start + source]
            self._hidden = self._hidden[self._start - self.features_from + source]
        self.length, self._parents = end, np.arange(len(entries)) - 1
        self.features_from = self._start

    def close(self) -> None:
        """Free the cache; the scorer cannot be used any more."""
        self._cache = self._hidden = None

    def begin(
        self, tokens: Sequence[int], parents: Sequence[int] | None
    ) -> tuple[Tensor, Tensor, Slot, np.ndarray]:
        """What a pass over these tokens reads: ids and positions [rows], its slot, its tree [n].

        Nothing changes before `end`. ValueError if the tokens do not fit.
        """
        if len(tokens) == 0:
            raise ValueError("There are no tokens to score; at least one is needed.")
        if self.rows and len(tokens) > self.rows:
            raise ValueError(f"A pass of {self.rows} rows cannot score {len(tokens)} tokens.")
        return self._pass(tokens, parents, self.rows or len(tokens), fixed=bool(self.rows))

    def end(self, slot: Slot, tree: np.ndarray, hidden: Tensor) -> None:
        """After a pass: its tokens count as cached; their hidden rows [n, width] are kept."""
        self.length, self._start, self._parents = slot.at + len(tree), slot.at, tree
        self._hidden, self.features_from = hidden, slot.at

    def _pass(
        self, tokens: Sequence[int], parents: Sequence[int] | None, rows: int, fixed: bool = False
    ) -> tuple[Tensor, Tensor, Slot, np.ndarray]:
        model, at = self.model, self.length
        ids, tree = self._checked(tokens, parents, rows)
        self._reserve(at + rows)
        keys = self._cache.shape[2] if fixed else at + rows
        sees = trees.mask(tree)  # [rows, rows] itself and its ancestors in this pass
        mask = None if rows == 1 else self._mask(at, keys, sees)
        positions = torch.from_numpy(at + sees.sum(1, dtype=np.float32) - 1)
        slot = Slot(self._cache, at, rows, keys, mask)
        return ids.to(model.device), positions.to(model.device), slot, tree[: len(tokens)]

    def _mask(self, at: int, keys: int, sees: np.ndarray) -> Tensor:
        """What is added to the scores [n G, keys]: 0 where a row sees, -inf where it does not."""
        mask = torch.full((len(sees), keys), -torch.inf, dtype=self.model.dtype)
        mask[:, :at] = 0
        mask[:, at : at + len(sees)].masked_fill_(torch.from_numpy(sees), 0)
        group = self.model.heads // self.model.kv_heads
        return mask.to(self.model.device).repeat_interleave(group, 0)

    def _checked(self, tokens, parents, rows: int, ahead: int = 0) -> tuple[Tensor, np.ndarray]:
        """Ids [rows] and parents [rows], padding included; ValueError for what does not fit."""
        self._check_open()
        n, ids = len(tokens), np.zeros(rows, np.int64)
        ids[:n] = tokens
        if ids.min() < 0 or ids.max() >= self.vocab_size:
            wrong = ids.min() if ids.min() < 0 else ids.max()
            raise ValueError(f"The id {wrong} is outside the vocabulary [0, {self.vocab_size}).")
        if self.length + ahead + n > self.context:
            at = self.length + ahead
            raise ValueError(
                f"{at} cached tokens and {n} more exceed the context of {self.context}."
            )
        if not self._is_path(range(len(self._parents))):
            raise ValueError("The last tree branches: keep() a path of it or rollback() first.")
        tree = np.arange(rows) - 1
        if parents is not None:
            tree[:n] = parents
            if ((tree[:n] < -1) | (tree[:n] >= np.arange(n))).any():
                raise ValueError(
                    f"The parents are {list(parents)}; each must be -1 or come before."
                )
        return torch.from_numpy(ids), tree

    def _is_path(self, entries: Sequence[int]) -> bool:
        """Whether each entry of the last call follows the one before it, the first the cache."""
        n = len(self._parents)
        return all(
            0 <= i < n and self._parents[i] == parent for parent, i in zip([-1, *entries], entries)
        )

    def _reserve(self, needed: int) -> None:
        capacity = self._cache.shape[2]
        if needed <= capacity:
            return
        if not self._grows:
            raise ValueError(
                f"The cache has room for {capacity} tokens; this pass needs {needed} in all."
            )
        bigger = self._room(min(self._most, max(needed, 2 * capacity)))
        bigger[:, :, :capacity] = self._cache
        self._cache = bigger

    def _room(self, capacity: int) -> Tensor:
        model = self.model
        shape = (len(model.layers), 2 * model.kv_heads, capacity, model.head_size)
        return torch.zeros(shape, dtype=model.dtype, device=model.device)

    def _check_open(self) -> None:
        if self._cache is None or self.model.embedding is None:
            raise ValueError("This scorer, or its model, is closed.")
