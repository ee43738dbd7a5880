"""Drafting by copying: what followed the last words the first time they were written."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from specdec.drafters import Draft
from specdec.law import Sampling
from specdec.scores import check


class PromptLookup:
    """Prompt lookup decoding: the longest n-gram that ends the context and stood there before.

    Its first occurrence is taken (with `recent` its last), and the copy may run on into its own
    draft. Costs no pass. Two options end a copy early where it is less to be trusted, as suffix
    decoding does (Oliaro et al. 2024, arXiv 2411.04975): with `factor` a draft has at most
    factor × the tokens over which both places agree, backwards; with `confidence` it ends before
    the first token that a smaller share of all occurrences would have copied.
    """

    def __init__(
        self,
        max_ngram: int = 3,
        *,
        min_ngram: int = 1,
        recent: bool = False,
        factor: float = np.inf,
        confidence: float = 0.0,
    ) -> None:
        if max_ngram < 1:
            raise ValueError(f"max_ngram is {max_ngram}; it must be 1 or more.")
        check("min_ngram", min_ngram, 1 <= min_ngram <= max_ngram, f"in [1, {max_ngram}]")
        check("factor", factor, factor > 0, "more than 0")
        check("confidence", confidence, 0 <= confidence <= 1, "in [0, 1]")
        self.max_ngram, self.min_ngram, self.recent = max_ngram, min_ngram, recent
        self.factor, self.confidence = factor, confidence

    def propose(
        self, context: Sequence[int], k: int, sampling: Sampling, uniforms: Callable
    ) -> Draft:
        """Up to k copied tokens; none where nothing matches."""
        ids = np.asarray(context)
        for n in range(min(self.max_ngram, len(ids) - 1), self.min_ngram - 1, -1):
            windows = np.lib.stride_tricks.sliding_window_view(ids[:-1], n)  # [len - n, n]
            matches = np.flatnonzero((windows == ids[-n:]).all(axis=1))
            if len(matches):
                ends = matches + n  # [m] where a copy would begin
                start = int(ends[-1 if self.recent else 0])
                if np.isfinite(self.factor):
                    k = min(k, max(1, int(self.factor * held(ids, start))))
                return Draft(_copy(list(context), start, k, ends, self.confidence))
        return Draft([])


def held(ids: np.ndarray, start: int) -> int:
    """How many tokens before `start` are those that end the text, counted backwards.

    Example:
        >>> held(np.array([9, 1, 2, 3, 7, 1, 2, 3]), 4)
        3
    """
    differs = np.flatnonzero(ids[:start][::-1] != ids[::-1][:start])
    return int(differs[0]) if len(differs) else start


def _copy(ids: list[int], start: int, k: int, ends: np.ndarray, confidence: float) -> list[int]:
    """k tokens from `start` on, but none that too few of the copies from all `ends` [m] share."""
    first, agree = len(ids), ends
    for i in range(k):
        token = ids[start + i]
        if confidence:
            agree = [end for end in agree if ids[end + i] == token]
            if len(agree) < confidence * len(ends):
                break
        ids.append(token)
    return ids[first:]
