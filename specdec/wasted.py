"""Drafted tokens by their end: what was kept, what failed, and what came after it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from specdec import simulate, theory
from specdec.machine import Step


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
    discarded = np.maximum(k - accepted - rejected, 0)  # rounding leaves a hair below 0
    if np.ndim(discarded) == 0:
        return Ends(accepted, float(rejected), float(discarded))
    return Ends(accepted, rejected, discarded)


def counted(steps: Sequence[Step]) -> Ends:
    """Counts of a run's rounds."""
    accepted = sum(step.accepted for step in steps)
    rejected = sum(step.rejected for step in steps)
    drafted = sum(step.drafted for step in steps)
    return Ends(accepted, rejected, drafted - accepted - rejected)


def simulated(alpha: float, k: int, n: int, seed: int) -> tuple[Step, ...]:
    """n rounds of k by chance α alone, nothing cut at the end."""
    kept = simulate.rounds(alpha, k, n, seed).tolist()
    return tuple(Step(k, a, int(a < k), a + 1, k) for a in kept)


def share_of_time(ends: Ends, rounds: float, c: float, v: float = 0.0) -> float:
    """Share of a run's time that went into drafting and checking tokens that were not written.

    Each drafted token costs c + v target passes, each round one more. A rejected token's check
    is counted as waste too, though it is what gave the correction its place.

    Example:
        >>> share_of_time(expected(0.0, 4), 1, 0.25)
        0.5
    """
    drafted = ends.accepted + ends.wasted
    return float((c + v) * ends.wasted / (rounds + (c + v) * drafted))


def cells(steps: Sequence[Step], k: int) -> np.ndarray:
    """What became of each place of each draft, [k, rounds]: 0 none drafted, else 1 accepted,
    2 rejected, 3 discarded."""
    found = np.zeros((k, len(steps)), dtype=int)
    for column, step in zip(found.T, steps):
        column[: step.drafted] = 3
        column[: step.accepted] = 1
        if step.rejected:
            column[step.accepted] = 2
    return found
