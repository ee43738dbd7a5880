"""Addressed randomness: a uniform is a function of (seed, position, purpose), never of the past.

So a seed replays a run exactly, and two runs that differ in k, drafter or one setting read the
same numbers until a decision differs. Nothing global is seeded: many readers share one process.
"""

from __future__ import annotations

import numpy as np

DRAFT, TEST, REPLACE = 0, 1, 2  # purposes: draw a draft token, test it, draw what replaces it


class Uniforms:
    """The uniforms of one run; `rng` is a seed, or a numpy Generator whose first draw is the seed.

    Example:
        >>> u = Uniforms(7)
        >>> u(5, TEST) == Uniforms(7)(5, TEST) != u(6, TEST)
        True
    """

    def __init__(self, rng: int | np.random.Generator, round: int = 0) -> None:
        drawn = isinstance(rng, np.random.Generator)
        self.seed = int(rng.integers(2**63)) if drawn else int(rng)
        if not 0 <= self.seed < 2**64:
            raise ValueError(f"The seed is {self.seed}; it must be in [0, 2^64).")
        self.round = round
        self._bits = np.random.Philox(key=self.seed)
        self._start = self._bits.state  # with nothing drawn in advance

    def of_round(self, round: int) -> Uniforms:
        """Other numbers for every round, where a decision looks at later positions' uniforms."""
        return Uniforms(self.seed, round)

    def __call__(self, position: int, purpose: int, child: int = 0) -> float:
        """The uniform in [0, 1), a multiple of 2^-53, for the token at this absolute position.

        `child`: which of a tree's tokens at this position it is for.
        """
        self._start["state"]["counter"][:] = child, position, purpose, self.round
        self._bits.state = self._start  # a third of the time that a new generator takes
        return (self._bits.random_raw() >> 11) * 2.0**-53
