"""Drafting by copying: what followed the last words the first time they were written."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from specdec.drafters import Draft
from specdec.law import Sampling


class PromptLookup:
    """Prompt lookup decoding: the longest n-gram that ends the context and stood there before.

    Its first occurrence is taken, and the copy may run on into its own draft. Costs no pass.
    """

    def __init__(self, max_ngram: int = 3) -> None:
        if max_ngram < 1:
            raise ValueError(f"max_ngram is {max_ngram}; it must be 1 or more.")
        self.max_ngram = max_ngram

    def propose(
        self, context: Sequence[int], k: int, sampling: Sampling, uniforms: Callable
    ) -> Draft:
        """Up to k copied tokens; none where nothing matches."""
        ids = np.asarray(context)
        for n in range(min(self.max_ngram, len(ids) - 1), 0, -1):
            windows = np.lib.stride_tricks.sliding_window_view(ids[:-1], n)  # [len - n, n]
            matches = np.flatnonzero((windows == ids[-n:]).all(axis=1))
            if len(matches):
                return Draft(_copy(list(context), int(matches[0]) + n, k))
        return Draft([])


def _copy(ids: list[int], start: int, k: int) -> list[int]:
    first = len(ids)
    for i in range(start, start + k):
        ids.append(ids[i])
    return ids[first:]
