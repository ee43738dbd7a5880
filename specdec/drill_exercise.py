"""An exercise of the numbers drill, and how its numbers are written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

HUNDREDTH = Fraction(1, 100)  # what a decimal answer may be away
EXACT = Fraction(0)


@dataclass(frozen=True)
class Exercise:
    """What is given, the exact answer, how far one may be away, and the way there.

    `given` fills the words of the language file; `steps` are LaTeX; `slips` are what well-known
    mistakes give, by name, none of them within the tolerance of the answer or of another.
    """

    kind: str
    given: Mapping[str, str]
    answer: Fraction
    tolerance: Fraction
    steps: tuple[str, ...]
    slips: Mapping[str, Fraction]


def exercise(
    kind: str,
    given: Mapping[str, object],
    answer: Fraction | int,
    tolerance: Fraction,
    steps: tuple[str, ...],
    **slips: Fraction | int,
) -> Exercise:
    """An exercise without the slips that its numbers cannot tell from the answer or each other."""
    told: dict[str, Fraction] = {}
    for name, slip in slips.items():
        if all(abs(slip - other) > 2 * tolerance for other in (answer, *told.values())):
            told[name] = Fraction(slip)
    words = {name: x if isinstance(x, str) else show(x) for name, x in given.items()}
    return Exercise(kind, words, Fraction(answer), tolerance, steps, told)


def show(x: Fraction | int) -> str:
    """A number as people write it: a decimal where four places are enough, else a fraction.

    Example:
        >>> show(Fraction(7, 10)), show(Fraction(1, 3)), show(Fraction(4))
        ('0.7', '1/3', '4')
    """
    x = Fraction(x)
    return f"{float(x):.6g}" if (x * 10000).denominator == 1 else str(x)


def tex(x: Fraction | int) -> str:
    r"""The same in LaTeX.

    Example:
        >>> print(tex(Fraction(1, 3)))
        \tfrac{1}{3}
    """
    return fraction(x) if "/" in show(x) else show(x)


def fraction(x: Fraction | int) -> str:
    r"""In LaTeX as a fraction, whole numbers apart.

    Example:
        >>> print(fraction(Fraction(1, 2)), fraction(1))
        \tfrac{1}{2} 1
    """
    x = Fraction(x)
    return str(x) if x.denominator == 1 else rf"\tfrac{{{x.numerator}}}{{{x.denominator}}}"


def about(x: Fraction | int) -> str:
    r"""A result in LaTeX with its sign: = where the decimals are all there, ≈ where they are cut.

    Example:
        >>> about(Fraction(5, 2)), about(Fraction(1, 3))
        ('= 2.5', '\\approx 0.3333')
    """
    x = Fraction(x)
    return f"= {tex(x)}" if "/" not in show(x) else rf"\approx {float(x):.4f}"
