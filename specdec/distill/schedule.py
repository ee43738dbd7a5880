"""The learning rate: warm up, stay, and decay before an end that may come at any time (WSD).

Hu et al. 2024 (MiniCPM): as the rate stays until the end is near, a training needs no plan of its
length, and one that was stopped can go on from before its decay.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

LEAST = 0.02  # of the rate, at the end of the decay


@dataclass(frozen=True)
class Schedule:
    """Ends and lengths; the clock's in seconds since the epoch and in seconds."""

    warm: int = 40  # steps
    steps: int | None = None  # in all; None: the clock alone ends it
    decay_steps: int = 0
    end: float = math.inf
    decay_seconds: float = 720.0

    def over(self, step: int, now: float) -> bool:
        """Whether the training ends before this step."""
        return now >= self.end or (self.steps is not None and step >= self.steps)

    def decay(self, step: int, now: float) -> float:
        """1 while the rate stays, less in the decay, LEAST at its end.

        Example:
            >>> Schedule(steps=100, decay_steps=10).decay(95, 0.0)
            0.51
        """
        left = [(self.end - now) / max(self.decay_seconds, 1e-9)]
        if self.steps is not None and self.decay_steps:
            left.append((self.steps - step) / self.decay_steps)
        return min(1.0, LEAST + (1 - LEAST) * max(0.0, min(left)))

    def warmth(self, step: int) -> float:
        """What the first steps take of the rate."""
        return min(1.0, (step + 1) / max(1, self.warm))
