"""Laws of the lab: arrays [V] of Fractions, so that a limit is p or it is not."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from specdec.law import Sampling

MOST = 64  # tokens


def exact_law(masses: Sequence[Any], name: str = "The law") -> np.ndarray:
    """Fractions [V] that sum to 1 exactly; floats are taken as they are and renormalised.

    ValueError if a mass is negative or not finite, or if they do not sum to 1 (floats: to 1e-9).

    Example:
        >>> exact_law([0.5, 0.5]).tolist()
        [Fraction(1, 2), Fraction(1, 2)]
    """
    if not 1 <= len(masses) <= MOST:
        raise ValueError(f"{name} has {len(masses)} tokens; the lab takes 1 to {MOST}.")
    if not all(abs(float(x)) < np.inf and x >= 0 for x in masses):
        raise ValueError(f"{name} has a mass that is negative or no number.")
    law = [Fraction(x) for x in masses]
    total = sum(law)
    rounded = any(isinstance(x, float) for x in masses)
    if total != 1 and not (rounded and abs(total - 1) <= 1e-9):
        raise ValueError(f"{name} sums to {float(total):g}, not to 1.")
    return np.array([x / total for x in law], dtype=object)


def at_temperature(law: np.ndarray, temperature: float) -> np.ndarray:
    """The law [V] when its logits are divided by `temperature`: untouched at 1, one-hot at 0.

    Example:
        >>> at_temperature(exact_law([Fraction(1, 3), Fraction(2, 3)]), 0.0).tolist()
        [Fraction(0, 1), Fraction(1, 1)]
    """
    if temperature == 1:
        return law
    with np.errstate(divide="ignore"):
        logits = np.log(law.astype(float))
    return exact_law(Sampling(temperature=temperature).law(logits).tolist())


def variation(a: np.ndarray, b: np.ndarray) -> Any:
    """Total variation ½ Σ |a − b| of two laws [V]: the largest error in any event's chance.

    Example:
        >>> float(variation(np.array([0.5, 0.5]), np.array([0.75, 0.25])))
        0.25
    """
    return abs(a - b).sum() / 2
