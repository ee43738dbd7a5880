"""The rule tried on random pairs of laws, in fractions: is what is written p, to the last digit?"""

from __future__ import annotations

import random
from dataclasses import dataclass
from fractions import Fraction

from specdec import rule

Pair = tuple[dict[str, Fraction], dict[str, Fraction]]


@dataclass(frozen=True)
class Trials:
    """How it went: pairs tried, pairs whose output was exactly p, pairs with a zero in p or q."""

    seed: int
    n: int
    equal: int
    with_zero: int


def trials(n: int, seed: int) -> Trials:
    """Enumerate the output of the rule for n random pairs. ValueError if n < 1.

    Example:
        >>> trials(20, seed=29).equal
        20
    """
    if n < 1:
        raise ValueError(f"n is {n}; it must be 1 or more.")
    rng = random.Random(seed)
    pairs = [random_pair(rng) for _ in range(n)]
    equal = sum(rule.output_distribution(p, q) == p for p, q in pairs)
    return Trials(seed, n, equal, sum(0 in (*p.values(), *q.values()) for p, q in pairs))


def random_pair(rng: random.Random, least: int = 2, most: int = 5) -> Pair:
    """p and q over 2 to 5 tokens, of whole weights from 0 to 9; zeros happen in both."""
    tokens = "abcdefgh"[: rng.randint(least, most)]
    return _law(rng, tokens), _law(rng, tokens)


def _law(rng: random.Random, tokens: str) -> dict[str, Fraction]:
    weights = [rng.randint(0, 9) for _ in tokens]
    weights[rng.randrange(len(weights))] += 1  # a law has some mass
    return {x: Fraction(w, sum(weights)) for x, w in zip(tokens, weights)}
