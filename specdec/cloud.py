"""Simulated rounds beside their closed form: lengths, their mean, and the band it should be in.

One set of rounds serves every k: a shorter draft is the beginning of a longer one.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from specdec import simulate, theory

SHARE = 0.95  # of the seeds have the closed form within their band
_REACH = NormalDist().inv_cdf((1 + SHARE) / 2)  # half the band's width, in standard errors


@dataclass(frozen=True)
class Cloud:
    """Simulated rounds at one α: at index a = 0 … k_max how many of them accepted a tokens."""

    alpha: float
    seed: int
    counts: tuple[int, ...]  # [k_max + 1]

    @property
    def n(self) -> int:
        """How many rounds there are."""
        return sum(self.counts)

    def at(self, k: int) -> tuple[int, ...]:
        """The same rounds with k drafts each: counts of accepted tokens, [k + 1]."""
        return (*self.counts[:k], sum(self.counts[k:]))

    def mean(self, k: int) -> float:
        """Tokens written a round: the accepted ones and the target's own."""
        return 1 + sum(a * count for a, count in enumerate(self.at(k))) / self.n

    def half(self, k: int) -> float:
        """Half the width of the band around the mean, from the exact variance of a round."""
        return _REACH * (variance(self.alpha, k) / self.n) ** 0.5

    def covers(self, k: int) -> bool:
        """Whether the closed form lies in the band."""
        away = abs(self.mean(k) - theory.tokens_per_pass(self.alpha, k))
        return away <= self.half(k) + 1e-12  # α = 0 or 1: no spread, only rounding


def cloud(alpha: float, n: int, seed: int, k_max: int) -> Cloud:
    """Simulate n ≥ 1 rounds of k_max drafts.

    Example:
        >>> played = cloud(0.8, 1000, seed=0, k_max=24)
        >>> sum(played.at(4)), played.covers(4)
        (1000, True)
    """
    if n < 1:
        raise ValueError(f"n must be ≥ 1, but it is {n}.")
    accepted = simulate.rounds(alpha, k_max, n, seed)
    return Cloud(float(alpha), seed, tuple(np.bincount(accepted, minlength=k_max + 1).tolist()))


def law(alpha: float, k: int) -> np.ndarray:
    """Chance that exactly a = 0 … k tokens are accepted: α^a (1 − α), and α^k for all k.

    Example:
        >>> law(0.5, 2).tolist()
        [0.5, 0.25, 0.25]
    """
    chances = float(alpha) ** np.arange(k + 1)
    return np.append(chances[:-1] * (1 - alpha), chances[-1])


def variance(alpha: float, k: int) -> float:
    """Variance of the tokens a round accepts."""
    lengths, chances = np.arange(k + 1), law(alpha, k)
    return float(chances @ (lengths - chances @ lengths) ** 2)
