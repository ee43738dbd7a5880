"""From one measured drafter to another: what speculation would bring on the way."""

from __future__ import annotations

from dataclasses import dataclass

from specdec import theory
from specdec.arms import Arm


@dataclass(frozen=True)
class Drafter:
    """What the closed forms need of a drafter."""

    alpha: float
    c: float
    v: float

    @classmethod
    def of(cls, arm: Arm) -> Drafter:
        """As its run showed it."""
        return cls(arm.alpha, arm.costs.c, arm.costs.v)

    def speedup(self, k: int) -> float:
        """Against plain decoding."""
        return theory.speedup(self.alpha, k, self.c, self.v)

    def best(self, k_max: int) -> tuple[int, float]:
        """The best k up to k_max, and its speed-up."""
        k = theory.best_k(self.alpha, self.c, self.v, k_max=k_max)
        return k, self.speedup(k)

    def break_even(self, k: int) -> float | None:
        """The smallest α that pays at this cost and k; None if even α = 1 is too slow."""
        return theory.break_even_alpha(k, self.c, self.v)


def between(one: Drafter, other: Drafter, share: float) -> Drafter:
    """A drafter on the straight line from one (share 0) to the other (share 1).

    Example:
        >>> between(Drafter(0.25, 0.0, 0.0), Drafter(0.75, 1.0, 0.0), 0.5)
        Drafter(alpha=0.5, c=0.5, v=0.0)
    """
    pairs = zip((one.alpha, one.c, one.v), (other.alpha, other.c, other.v))
    return Drafter(*((1 - share) * a + share * b for a, b in pairs))
