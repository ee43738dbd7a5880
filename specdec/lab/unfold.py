"""The exact law of what a program with draws gives back: run once for every way they can fall."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from fractions import Fraction
from typing import Any

NOTHING = "∅"  # what a draw gives where the masses end below 1
MOST = 20_000  # ways


class Draws:
    """The two ways to be random that a program has; each call is one branching of its law."""

    def __init__(self) -> None:
        self.path: list[int] = []  # which branch was taken, call by call
        self.open: list[int] = []  # branches there were
        self.at, self.weight = 0, Fraction(1)

    def draw(self, law: Mapping[Any, Any]) -> Any:
        """A token by its mass, in order, as one u in [0, 1) picks it: all beyond 1 is cut off."""
        branches, total = [], Fraction(0)
        for x, mass in law.items():
            share = min(Fraction(mass), 1 - total)
            if share > 0:
                branches.append((x, share))
                total += share
        if total < 1:
            branches.append((NOTHING, 1 - total))
        return self._take(branches)

    def chance(self, h: Any) -> bool:
        """True with the chance h, as u < h is."""
        h = min(max(Fraction(h), Fraction(0)), Fraction(1))
        return self._take([(x, mass) for x, mass in ((True, h), (False, 1 - h)) if mass])

    def _take(self, branches: list[tuple[Any, Fraction]]) -> Any:
        if self.at == len(self.path):
            self.path.append(0)
            self.open.append(len(branches))
        value, share = branches[self.path[self.at]]
        self.at += 1
        self.weight *= share
        return value

    def _next(self) -> bool:
        """Turn to the next way; False after the last."""
        while self.path and self.path[-1] + 1 == self.open[-1]:
            self.path.pop()
            self.open.pop()
        if self.path:
            self.path[-1] += 1
        self.at, self.weight = 0, Fraction(1)
        return bool(self.path)


def law_of(program: Callable[[Draws], Hashable]) -> dict[Hashable, Fraction]:
    """What the program gives back, with chances that sum to 1; ValueError beyond MOST ways.

    Example:
        >>> two = law_of(lambda d: d.chance(Fraction(1, 3)) or d.chance(Fraction(1, 2)))
        >>> {result: str(mass) for result, mass in two.items()}
        {True: '2/3', False: '1/3'}
    """
    draws, law = Draws(), {}
    for _ in range(MOST):
        result = program(draws)
        law[result] = law.get(result, Fraction(0)) + draws.weight
        if not draws._next():
            return law
    raise ValueError(f"The program has more than {MOST} ways.")
