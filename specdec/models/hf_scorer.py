"""A run's cache over a model of transformers, taken back by the library's own means or rebuilt."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor

from specdec.models.hf_checks import counting

if TYPE_CHECKING:
    from specdec.models.hf import HFModel

BLOCK = 256  # prompt tokens a pass: bounds the memory of a long prefill
SPARE = 256  # tokens that a window keeps beyond its size, to go back to
COPIES = 32  # copies of a running state, one a pass, to go back to


class HFScorer:
    """A Scorer (see `specdec.models`) over the library's cache, whose length is never assumed.

    To forget, full attention drops its last entries, and so does a window, which must record
    what it leaves behind. A running state cannot be undone: it is copied before each pass.
    Where neither reaches, the prefix is fed again.
    """

    def __init__(self, model: HFModel, rows: int | None = None, capacity: int | None = None):
        self.model, self.rows, self.capacity = model, rows, capacity
        self.vocab_size, self.context, self.token_ids = model.vocab_size, model.context, None
        self._ids: list[int] = []  # the cached tokens
        self._cache: Any = self._empty()
        self._reach = 0  # the shortest length that the windows can still go back to
        self._copies: list[tuple[int, Any]] = []  # (length, cache), ascending

    @property
    def length(self) -> int:
        """Cached tokens."""
        return len(self._ids)

    def score(self, tokens: Sequence[int], parents: Sequence[int] | None = None) -> np.ndarray:
        """Logits float32 [n, V] of what follows each of these tokens, fed after the cached ones.

        `parents` may only say what is so without it: each token follows the one before.
        """
        n = len(tokens)
        if n == 0:
            raise ValueError("There are no tokens to score; at least one is needed.")
        if parents is not None and list(parents) != list(range(-1, n - 1)):
            raise ValueError(f"{self.model.name} scores chains only; the parents make a tree.")
        if self.rows and n > self.rows:
            raise ValueError(f"A pass of {self.rows} rows cannot score {n} tokens.")
        return self._pass(tokens, self.rows or n)[:n].float().cpu().numpy()

    def feed(self, tokens: Sequence[int]) -> None:
        """Cache tokens without asking what follows them: the prefill of a prompt."""
        for i in range(0, len(tokens), BLOCK):
            self._pass(tokens[i : i + BLOCK], logits=1)

    def rollback(self, length: int) -> None:
        """Forget all but the first `length` tokens."""
        self._check_open()
        if not 0 <= length <= self.length:
            raise ValueError(f"Cannot roll back to {length}; it must be in [0, {self.length}].")
        if length == self.length:
            return
        if self.model.running or length < self._reach or not length:
            self._rebuild(length)
        else:
            with torch.inference_mode():
                self._cache.crop(length - self.length)  # minus the number to drop
            del self._ids[length:]
            self._reach = length if self.model.windows else 0
        self._verify()

    @property
    def cache_bytes(self) -> int:
        """Bytes of the cached keys and values."""
        return sum(layer.keys.nbytes + layer.values.nbytes for layer in counting(self._cache))

    def close(self) -> None:
        """Free the cache; the scorer cannot be used any more."""
        self._cache, self._copies = None, []

    def _pass(self, tokens: Sequence[int], rows: int = 0, logits: int = 0) -> Tensor:
        """The last `logits` rows (0: all) of a pass over the tokens, padded to `rows`."""
        ids = [int(token) for token in tokens]
        padding = [0] * (rows - len(ids))
        self._check(ids, len(padding))
        with torch.inference_mode():
            self._prepare()
            out = self._forward(ids + padding, logits)
            self._ids += ids + padding
            if getattr(out, "cache", None) is not self._cache:
                raise ValueError("it does not keep its state in the cache that it is given.")
            self._verify()
            if padding:
                self.rollback(self.length - len(padding))
            return out.logits[0]

    def _forward(self, ids: list[int], logits: int) -> Any:
        model, options = self.model, {}
        if logits and model.keeps:
            options["logits_to_keep"] = logits
        if self.rows and model.positioned:  # padding may stand beyond the learned positions
            places = torch.arange(self.length, self.length + len(ids), device=model.device)
            options["position_ids"] = places.clamp(max=self.context - 1)[None]
        inputs = torch.tensor([ids], device=model.device)
        return model.network(input_ids=inputs, cache=self._cache, use_cache=True, **options)

    def _prepare(self) -> None:
        """Before a pass: copy a running state; drop what windows hold in vain."""
        if self.model.running:
            self._copies.append((self.length, copy.deepcopy(self._cache)))
            del self._copies[:-COPIES]
        elif self.model.windows and self.length - self._reach > SPARE:
            self._cache.crop(0)
            self._reach = self.length

    def _rebuild(self, length: int) -> None:
        """Go back to the latest copy, or to nothing, and feed what is missing once more."""
        ids = self._ids[:length]
        while self._copies and self._copies[-1][0] > length:
            self._copies.pop()
        at, self._cache = self._copies.pop() if self._copies else (0, self._empty())
        self._ids, self._reach = ids[:at], 0
        self.feed(ids[at:])

    def _empty(self) -> Any:
        from transformers import DynamicCache, StaticCache

        config = self.model.config
        if self.rows:
            return StaticCache(config=config, max_cache_len=self.capacity)
        cache = DynamicCache(config=config)
        if not self.model.running:
            cache.activate_past_recording()
        return cache

    def _verify(self) -> None:
        """ValueError unless every layer that counts its tokens has counted ours."""
        held = {int(layer.get_seq_length()) for layer in counting(self._cache)}
        expected = {self.length} if held or not self.model.running else set()
        if self.length and held != expected:
            raise ValueError(
                f"A cache of {self.model.kind!r} holds {sorted(held)} tokens instead of "
                f"{self.length}: it cannot be relied upon."
            )

    def _check(self, ids: list[int], padding: int) -> None:
        self._check_open()
        wrong = [i for i in ids if not 0 <= i < self.vocab_size]
        if wrong:
            raise ValueError(f"The id {wrong[0]} is outside the vocabulary [0, {self.vocab_size}).")
        needed = self.length + len(ids)
        if self.context and needed > self.context:
            raise ValueError(
                f"{self.length} cached tokens and {len(ids)} more exceed the context of "
                f"{self.context}."
            )
        if self.rows and needed + padding > self.capacity:
            raise ValueError(
                f"The cache has room for {self.capacity} tokens; this pass needs "
                f"{needed + padding} in all."
            )

    def _check_open(self) -> None:
        if self._cache is None or self.model.network is None:
            raise ValueError("This scorer, or its model, is closed.")
