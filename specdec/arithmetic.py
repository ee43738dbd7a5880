"""Arithmetic on laws, mappings or arrays alike, that keeps ints and Fractions exact."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from numbers import Rational
from typing import Any

import numpy as np

Law = Mapping[Any, Any] | np.ndarray  # token → number, a missing key is 0; or an array [V]


def at(law: Law, x: Any) -> Any:
    """The mass of x."""
    return law.get(x, 0) if isinstance(law, Mapping) else law[x]


def items(law: Law) -> Iterable[tuple[Any, Any]]:
    """Pairs (token, mass) in id order."""
    return law.items() if isinstance(law, Mapping) else enumerate(law)


def divide(a: Any, b: Any) -> Any:
    """a / b, a Fraction where both are exact."""
    exact = isinstance(a, Rational) and isinstance(b, Rational)
    return Fraction(a) / Fraction(b) if exact else a / b


def cut_ratio(a: Any, b: Any) -> Any:
    """min(1, a / b); 0 wherever a = 0 (also 0/0), 1 where only b = 0."""
    if a <= 0:
        return 0
    return 1 if b <= a else divide(a, b)


def excess(p: Law, q: Law, scale: Any = 1) -> tuple[Law, Any]:
    """max(0, scale · p − q), token by token, and its sum."""
    if isinstance(p, Mapping):
        left = {x: max(scale * mass - at(q, x), 0) for x, mass in p.items()}
        return left, sum(left.values())
    left = np.maximum(scale * _exact(p) - _exact(q), 0)
    return left, left.sum()


def normalised(left: Law, total: Any) -> Law:
    """Masses ÷ their sum."""
    if isinstance(left, Mapping):
        return {x: divide(mass, total) for x, mass in left.items()}
    exact = left.dtype == object
    return np.array([divide(x, total) for x in left], dtype=object) if exact else left / total


def one_hot(like: Law, x: Any) -> Law:
    """The law that is sure of x, of the kind of `like`."""
    if isinstance(like, Mapping):
        return {x: 1}
    law = np.zeros_like(like)
    law[x] = 1
    return law


def _exact(law: np.ndarray) -> np.ndarray:
    return np.asarray(law).astype(object) if np.asarray(law).dtype.kind in "iu" else np.asarray(law)
