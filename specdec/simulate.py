"""Rounds without models: every drafted token is accepted with the same chance, on its own.

It is what the closed forms of `theory` assume, played out; the pages draw it around their curves.
"""

from __future__ import annotations

import operator

import numpy as np

from specdec.theory import in_range, whole


def rounds(alpha: float, k: int, n: int, seed: int) -> np.ndarray:
    """Drafted tokens accepted in each of n rounds of k, int [n].

    The numbers come from the seed alone: another α meets the same uniforms, and a longer draft
    goes on where the shorter one ended. ValueError for α outside [0, 1], k or n below 0.

    Example:
        >>> rounds(1.0, 4, 3, seed=0).tolist()
        [4, 4, 4]
        >>> bool(abs(rounds(0.8, 4, 40_000, seed=0).mean() + 1 - 3.3616) < 0.05)
        True
    """
    alpha, k, n = in_range("alpha", alpha, 0.0, 1.0), int(whole("k", k)), int(whole("n", n))
    rng = np.random.default_rng(operator.index(seed))
    accepted, unbroken = np.zeros(n, dtype=int), np.ones(n, dtype=bool)
    for _ in range(k):
        unbroken &= rng.random(n) < alpha
        accepted += unbroken
    return accepted
