"""Drafting across two vocabularies: what travels between target and drafter is text.

Universal assisted decoding, or string-level exact match (Timor et al. 2025, arXiv 2502.05202).
Whatever is drafted, the rule judges tokens of the target, so the
target's text does not change.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import takewhile

import numpy as np

from specdec.drafters import Draft
from specdec.law import Sampling
from specdec.text import UNFINISHED, Texts

WINDOW = 16  # tokens of the target whose split is made again together with a draft
ROOM = 4  # passes at most for each token of the target, and one more of these


class Bridged:
    """A model that drafts greedily in its own tokens, read again as the target's.

    `own` is the drafter's tokenizer, `ours` the target's. A draft is a function of the text alone,
    so its q is one-hot, at every temperature. Only whole characters cross.
    """

    def __init__(self, scorer, own, ours, stop_ids: Sequence[int] = ()) -> None:
        self.scorer, self.own, self.ours = scorer, own, ours
        self.stop_ids = frozenset(stop_ids)  # the drafter's
        self.context = getattr(scorer, "context", None) or np.inf
        self._own_texts, self._texts = Texts(own), Texts(ours)
        self._cached: list[int] = []  # the drafter's tokens in its cache

    def propose(
        self, context: Sequence[int], k: int, sampling: Sampling, uniforms: Callable
    ) -> Draft:
        """The target's tokens of a text that the drafter continues; at most k, fewer at its end."""
        text = self._texts.decode(context)
        if not text or text.endswith(UNFINISHED):
            return Draft([])  # half a character is no text
        tail = list(context[-WINDOW:])
        before, passes, tokens = self._texts.decode(tail), 0, []
        for written in self._continued(text, most=ROOM * (k + 1)):
            passes += 1
            if not written.endswith(UNFINISHED):
                tokens = self._split(tail, before, written)
            if len(tokens) > k:  # with one behind it a token seldom grows
                break
        return Draft(tokens[:k], passes=passes)

    def _continued(self, text: str, most: int) -> Iterator[str]:
        """The drafter's continuation, a token longer every time."""
        ids = self.own.encode(text, add_special_tokens=False)
        before, written = self._own_texts.decode(ids[-WINDOW:]), []
        while len(written) < most and len(ids) + len(written) < self.context:
            token = self._next(ids + written)
            if token in self.stop_ids:
                return
            written.append(token)
            yield self._own_texts.decode(ids[-WINDOW:] + written)[len(before) :]

    def _next(self, ids: list[int]) -> int:
        """The drafter's favourite after these tokens; its cache keeps what they share with it."""
        same = sum(1 for _ in takewhile(lambda two: two[0] == two[1], zip(self._cached, ids)))
        same = min(same, len(ids) - 1)  # at least one row is to be scored
        if same < self.scorer.length:
            self.scorer.rollback(same)
        row = self.scorer.score(ids[same:])[-1]
        self._cached = list(ids)
        known = getattr(self.scorer, "token_ids", None)  # where it has a part of its own vocabulary
        return int(np.argmax(row) if known is None else known[np.argmax(row)])

    def _split(self, tail: list[int], before: str, written: str) -> list[int]:
        """The target's tokens of what is written after `tail`, split together with it if it may."""
        whole = self.ours.encode(before + written, add_special_tokens=False)
        if whole[: len(tail)] == tail:
            return whole[len(tail) :]
        return self.ours.encode(written, add_special_tokens=False)

    def close(self) -> None:
        """Free the cache."""
        self._cached = []
        if hasattr(self.scorer, "close"):
            self.scorer.close()
