"""One experiment of the lab: some rules, the same two laws, n draws each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from specdec import rule
from specdec.lab.band import Band, band
from specdec.lab.draws import Draws, check, points_to, simulate
from specdec.lab.play import OnePosition, TwoPositions
from specdec.lab.rules import by_name


@dataclass(frozen=True)
class Asked:
    """What a reader asked for; p, q: laws [V]."""

    rules: tuple[str, ...]
    names: tuple[str, ...]
    p: tuple
    q: tuple
    n: int
    seed: int

    def __post_init__(self) -> None:
        check(self.n, self.seed)
        for name in self.rules:
            by_name(name)

    @property
    def laws(self) -> tuple[np.ndarray, np.ndarray]:
        """p and q as arrays [V]."""
        return np.array(self.p, dtype=object), np.array(self.q, dtype=object)


@dataclass(frozen=True)
class Found:
    """What was drawn, by rule; complete unless the reader cancelled."""

    asked: Asked
    band: Band  # of one token
    pair_band: Band  # of two tokens, at n alone
    one: dict[str, Draws] = field(default_factory=dict)
    two: dict[str, Draws] = field(default_factory=dict)  # by the engine's rules


def run(asked: Asked, say: Callable[[float, str], None], cancelled: Callable[[], bool]) -> Found:
    """All draws; `say(share done, words)` is told after every chunk, `cancelled()` is asked."""
    p, q = asked.laws
    found = Found(asked, band(p, points_to(asked.n)), band(np.outer(p, p).ravel(), [asked.n]))
    jobs = [(by_name(name).title, found.one, name, OnePosition) for name in asked.rules]
    jobs += [(f"two positions, {which}", found.two, which, TwoPositions) for which in rule.RULES]
    for i, (title, results, name, table) in enumerate(jobs):
        first = by_name(name) if table is OnePosition else name
        for draws in simulate(table(first, p, q), asked.n, asked.seed):
            results[name] = draws
            say((i + draws.n / asked.n) / len(jobs), title)
            if cancelled():
                return found
    return found
