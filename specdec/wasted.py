"""Drafted tokens by their end, a round of k: what was kept, what failed, and what came after it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from specdec import theory


@dataclass(frozen=True)
class Ends:
    """Draft passes by what became of their token: a round's means, or a run's counts."""

    accepted: float | np.ndarray
    rejected: float | np.ndarray
    discarded: float | np.ndarray

    @property
    def wasted(self) -> float | np.ndarray:
        """Passes whose token was not written."""
        return self.rejected + self.discarded


def expected(alpha: ArrayLike, k: ArrayLike) -> Ends:
    """Means of a round of k if each judged token is accepted with chance α, on its own.

    Accepted: α + … + α^k. Rejected: 1 − α^k, one unless all pass. Discarded: what is left of k.

    Example:
        >>> expected(0.5, 2)
        Ends(accepted=0.75, rejected=0.75, discarded=0.5)
    """
    accepted = theory.tokens_per_pass(alpha, k) - 1
    rejected = 1 - np.power(np.asarray(alpha, dtype=float), k)
    discarded = np.maximum(k - accepted - rejected, 0)  # - 0: rounding
    if np.ndim(discarded) == 0:
        return Ends(accepted, float(rejected), float(discarded))
    return Ends(accepted, rejected, discarded)
