"""Two positions drafted at once: what each lossless rule writes and keeps, exactly."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import product

import numpy as np

from specdec import rule
from specdec.arithmetic import one_hot


@dataclass(frozen=True)
class Two:
    """One round of two drafts; both positions have the same laws, whatever stands before."""

    expected: Fraction | float  # accepted drafts, of 2
    law: np.ndarray  # [V, V] of the first two written tokens


def two(which: str, p: np.ndarray, q: np.ndarray) -> Two:
    """By enumeration of all drafts; p, q: laws [V], of Fractions for exact results.

    Example:
        >>> p, q = (np.array([Fraction(n, 3) for n in law]) for law in ((1, 2), (2, 1)))
        >>> [str(two(which, p, q).expected) for which in ("pq", "block")]
        ['10/9', '11/9']
    """
    expected, law = 0, np.outer(p, p) * 0
    for draft in product(range(len(p)), repeat=2):
        for probability, accepted, next_law in rule.outcomes([p, p, p], [q, q], draft, which):
            chance = q[draft[0]] * q[draft[1]] * probability
            expected += chance * accepted
            first = one_hot(p, draft[0]) if accepted else next_law
            second = (p, next_law, one_hot(p, draft[1]))[accepted]
            law = law + chance * np.outer(first, second)
    return Two(expected, law)
