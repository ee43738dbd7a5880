"""Is a guess accepted on its own, whatever became of the one before? The closed form assumes so."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from specdec import theory
from specdec.machine import Step


@dataclass(frozen=True)
class Position:
    """Of the rounds that judged this place of the draft, how many accepted it."""

    accepted: int
    judged: int

    @property
    def rate(self) -> float:
        """The chance given that all before were accepted."""
        return self.accepted / self.judged


@dataclass(frozen=True)
class Independence:
    """Tokens a pass by the closed form, from the rates of the places, and as it was."""

    alpha: float
    positions: tuple[Position, ...]
    lag: float | None  # None: all verdicts alike, or too few
    formula: float
    by_position: float
    observed: float

    @property
    def off(self) -> float:
        """How far the closed form is from the rates' own result: formula ÷ theirs − 1."""
        return self.formula / self.by_position - 1


def independence(steps: Sequence[Step], k: int) -> Independence | None:
    """The check for rounds of k; None if nothing was judged."""
    judged = sum(step.judged for step in steps)
    if not judged:
        return None
    alpha = sum(step.accepted for step in steps) / judged
    return Independence(
        alpha,
        positions(steps),
        lag(steps),
        theory.tokens_per_pass(alpha, k),
        tokens_by_position(steps, k),
        sum(step.written for step in steps) / len(steps),
    )


def positions(steps: Sequence[Step]) -> tuple[Position, ...]:
    """Acceptance at each place of the draft that was ever judged.

    Example:
        >>> positions([Step(2, 2, 0, 3, 2), Step(2, 0, 1, 1, 2)])
        (Position(accepted=1, judged=2), Position(accepted=1, judged=1))
    """
    deep = max((step.judged for step in steps), default=0)
    return tuple(
        Position(sum(s.accepted > i for s in steps), sum(s.judged > i for s in steps))
        for i in range(deep)
    )


def tokens_by_position(steps: Sequence[Step], k: int) -> float:
    """1 + a₁ + a₁a₂ + … up to k, with each place's own rate; α where no round got so far."""
    judged = sum(step.judged for step in steps)
    alpha = sum(step.accepted for step in steps) / judged if judged else 0.0
    rates = [place.rate for place in positions(steps)][:k]
    rates += [alpha] * (k - len(rates))
    return 1 + float(np.cumprod(rates).sum())


def verdicts(steps: Sequence[Step]) -> np.ndarray:
    """Of all judged tokens in order: 1 accepted, 0 rejected."""
    parts = [[1] * step.accepted + [0] * step.rejected for step in steps]
    return np.array([x for part in parts for x in part], dtype=float)


def lag(steps: Sequence[Step]) -> float | None:
    """Autocorrelation of the verdicts at lag 1: 0 if independent, above it if they come in runs."""
    x = verdicts(steps)
    if len(x) < 3 or not x.std():
        return None
    x = x - x.mean()
    return float((x[:-1] * x[1:]).sum() / (x * x).sum())
