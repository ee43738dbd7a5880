"""From logits to the one law that drafter, test, residual and bonus all use."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

GREEDY_BELOW = 1e-5  # temperatures under this mean greedy: logits / T would overflow the softmax


@dataclass(frozen=True)
class Sampling:
    """Settings applied in this order: ÷ temperature, top-k, top-p, min-p, renormalise.

    temperature ≥ 0 (below 1e-5: greedy) · top_k ≥ 0 (0: off) · 0 < top_p ≤ 1 · 0 ≤ min_p ≤ 1.
    """

    temperature: float = 0.0
    top_k: int = 0
    top_p: float = 1.0
    min_p: float = 0.0

    def __post_init__(self) -> None:
        _check("temperature", self.temperature, 0 <= self.temperature < np.inf, "0 or more")
        whole = self.top_k >= 0 and self.top_k % 1 == 0  # neither is true of NaN or infinity
        _check("top_k", self.top_k, whole, "a whole number, 0 (off) or more")
        _check("top_p", self.top_p, 0 < self.top_p <= 1, "in (0, 1]")
        _check("min_p", self.min_p, 0 <= self.min_p <= 1, "in [0, 1]")

    @property
    def greedy(self) -> bool:
        """Whether every law is one-hot."""
        return self.temperature < GREEDY_BELOW

    def law(self, logits: np.ndarray, history: Sequence[int] = ()) -> np.ndarray:
        """The law [V] (float64, sums to 1) of the token after `history`, from its logits [V].

        Ties go to the lower id. ValueError if a logit is NaN or +inf, or all are -inf.

        Example:
            >>> law = Sampling(temperature=1.0, top_k=2).law(np.log([0.5, 0.1, 0.3, 0.1]))
            >>> law.round(3).tolist()
            [0.625, 0.0, 0.375, 0.0]
        """
        logits = np.asarray(logits)
        best = int(np.argmax(logits))  # the lowest id among the maxima; a NaN, if there is one
        if not np.isfinite(logits[best]):
            raise ValueError(f"The logits have no finite maximum (id {best}: {logits[best]}).")
        law = np.zeros(len(logits))
        if self.greedy or self.top_k == 1:
            law[best] = 1.0
            return law
        ids = _largest(logits, int(self.top_k)) if self.top_k else slice(None)
        scaled = (logits[ids].astype(np.float64) - float(logits[best])) / self.temperature
        law[ids] = np.exp(scaled)
        law /= law.sum()
        if self.top_p < 1:
            law = _nucleus(law, self.top_p)
        if self.min_p > 0:
            law[law < self.min_p * law.max()] = 0.0
        return law / law.sum()


def draw(law: np.ndarray, u: float) -> int:
    """The id that the uniform u in [0, 1) draws from law [V]: inverse CDF in id order.

    Example:
        >>> draw(np.array([0.5, 0.0, 0.5]), 0.5)
        2
    """
    ids = np.flatnonzero(law)
    cdf = np.cumsum(law[ids])
    at = int(np.searchsorted(cdf, u * cdf[-1], side="right"))
    return int(ids[min(at, len(ids) - 1)])  # rounding may put u · mass on the mass itself


def _largest(logits: np.ndarray, k: int) -> np.ndarray:
    """Ids of the k largest logits, ascending; among equals at the edge the lower ids."""
    if k >= len(logits):
        return np.arange(len(logits))
    edge = np.partition(logits, len(logits) - k)[len(logits) - k]
    above, equal = np.flatnonzero(logits > edge), np.flatnonzero(logits == edge)
    return np.sort(np.concatenate([above, equal[: k - len(above)]]))


def _nucleus(law: np.ndarray, top_p: float) -> np.ndarray:
    """The smallest set of likeliest tokens with mass ≥ top_p, the rest zeroed; not renormalised.

    Only the head is sorted: tokens above a floor, lowered until their mass suffices.
    """
    floor = 1e-3
    while True:
        ids = np.flatnonzero(law > floor)
        if floor == 0 or law[ids].sum() >= top_p:
            break
        floor = floor / 30 if floor > 1e-12 else 0.0
    ids = ids[np.argsort(-law[ids], kind="stable")]
    kept = ids[: int(np.searchsorted(np.cumsum(law[ids]), top_p)) + 1]
    cut = np.zeros_like(law)
    cut[kept] = law[kept]
    return cut


def _check(name: str, value: float, fits: bool, allowed: str) -> None:
    if not fits:
        raise ValueError(f"{name} is {value}; it must be {allowed}.")
