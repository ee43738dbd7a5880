"""How far from p the shares of n honest draws lie: the band that a right rule stays in."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

OUTSIDE = 0.01  # experiments that leave the band at one n, half of them on each side
WORLDS = 4000


@dataclass(frozen=True)
class Band:
    """Total variation against p of n draws from p itself, at each n."""

    n: tuple[int, ...]
    low: tuple[float, ...]
    mean: tuple[float, ...]
    high: tuple[float, ...]


def band(p: np.ndarray, points: Sequence[int]) -> Band:
    """The band of the shares of n draws from p [V], for every n of `points`.

    Edges: quantiles of 4000 multinomial experiments at each point (own seed). Mean: exact.
    It holds at each n by itself: a right curve that is looked at 50 times may leave it once.
    """
    law = p.astype(float)
    law = law / law.sum()
    rng, edges = np.random.default_rng(0), []
    for n in points:
        counts = rng.multinomial(n, law, size=WORLDS)  # [WORLDS, V]
        errors = np.abs(counts / n - law).sum(axis=1) / 2
        edges.append(np.quantile(errors, [OUTSIDE / 2, 1 - OUTSIDE / 2]).tolist())
    low, high = zip(*edges)
    return Band(tuple(points), low, tuple(expected_variation(law, n) for n in points), high)


def expected_variation(p: np.ndarray, n: int) -> float:
    """Expected total variation between p [V] and the shares of n draws from it, in closed form.

    Half the sum of the mean absolute deviations of binomials (de Moivre 1730).

    Example:
        >>> expected_variation(np.array([0.5, 0.5]), 1)
        0.5
    """
    return sum(_deviation(float(x), n) for x in p) / (2 * n)


def _deviation(p: float, n: int) -> float:
    """E |X − n p| of a binomial: 2 m C(n, m) p^m (1 − p)^(n − m + 1), m = ⌊n p⌋ + 1."""
    if not 0 < p < 1:
        return 0.0
    m = math.floor(n * p) + 1
    choose = math.lgamma(n + 1) - math.lgamma(m + 1) - math.lgamma(n - m + 1)
    return 2 * m * math.exp(choose + m * math.log(p) + (n - m + 1) * math.log1p(-p))
