"""Numbers to work out: exercises with exact answers, drawn by a seed, and what an answer is worth.

Nothing is rounded: an exercise holds Fractions, so the tolerance is the only slack there is.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from specdec import drill_laws, drill_speed
from specdec.drill_exercise import Exercise
from specdec.fractions_text import number

NEAR = Fraction(1, 200)  # a decimal this close to an exact answer was rounded
KINDS: dict[str, Callable[[random.Random], Exercise]] = {
    maker.__name__: maker
    for maker in (
        drill_speed.tokens,
        drill_laws.keep,
        drill_speed.speedup,
        drill_laws.overlap,
        drill_speed.log_alpha,
        drill_laws.residual,
        drill_speed.best_k,
        drill_speed.draft_yield,
        drill_laws.written,
        drill_speed.break_even,
        drill_speed.log_tokens,
        drill_speed.alpha_back,
        drill_speed.passes,
        drill_speed.log_yield,
        drill_speed.operations,
    )
}


@dataclass(frozen=True)
class Checked:
    """Whether an answer is right; if not, whether only rounding is at fault, or which slip."""

    right: bool
    near: bool = False
    slip: str | None = None


def exercise(seed: int, step: int) -> Exercise:
    """The exercise at this step, from 0: every kind in turn, its numbers drawn by (seed, step).

    Example:
        >>> exercise(0, 0).kind, exercise(0, 0) == exercise(0, 0)
        ('tokens', True)
    """
    names = list(KINDS)
    name = names[step % len(names)]
    return KINDS[name](random.Random(f"{seed}|{step}|{name}"))


def read(text: str) -> Fraction:
    """A typed answer, as a fraction, a decimal or per cent, "×" allowed; ValueError says why not.

    Example:
        >>> str(read("2.8×")), str(read("7/3"))
        ('14/5', '7/3')
    """
    value = number(text.strip().rstrip("×x").rstrip())
    if value < 0:
        raise ValueError("No answer here is below 0.")
    return value


def check(asked: Exercise, value: Fraction) -> Checked:
    """Compare an answer with the exact one, within the tolerance that the exercise states."""
    away = abs(value - asked.answer)
    if away <= asked.tolerance:
        return Checked(True)
    slips = {name: abs(value - slip) for name, slip in asked.slips.items()}
    found = [name for name, far in slips.items() if far <= asked.tolerance]
    return Checked(False, not asked.tolerance and away <= NEAR, found[0] if found else None)
