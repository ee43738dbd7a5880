"""The acceptance rule of speculative decoding for one position, and for a round of them.

p is the target's law, q the drafter's (Leviathan et al. 2023; Chen et al. swap the letters).
Laws are mappings token → number (a missing key is 0) or arrays [V]; ints and Fractions stay exact.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from numbers import Rational
from typing import Any

import numpy as np

Law = Mapping[Any, Any] | np.ndarray


def acceptance(p: Law, q: Law, x: Any) -> Any:
    """Chance that x, drawn from q, is kept: min(1, p(x) / q(x)); 0 wherever p(x) = 0."""
    p_x, q_x = _at(p, x), _at(q, x)
    if p_x <= 0:
        return 0
    return 1 if q_x <= p_x else _divide(p_x, q_x)


def residual(p: Law, q: Law) -> Law:
    """What replaces a rejected token: max(0, p − q), renormalised; p itself where that is all zero.

    All zero means p = q, where nothing is rejected; rounding can still ask.
    """
    if not isinstance(p, Mapping):
        p, q = _exact(p), _exact(q)
        left = np.maximum(p - q, 0)
        total = left.sum()
        return _array_divide(left, total) if total > 0 else p
    left = {x: max(p[x] - _at(q, x), 0) for x in p}
    total = sum(left.values())
    return {x: _divide(mass, total) for x, mass in left.items()} if total > 0 else p


def overlap(p: Law, q: Law) -> Any:
    """Σ min(p, q): the chance that a token drawn from q is kept = 1 − total variation."""
    if not isinstance(p, Mapping):
        return np.minimum(p, q).sum()
    return sum(min(p[x], _at(q, x)) for x in p)


def output_distribution(p: Law, q: Law) -> Law:
    """The law of the written token, by enumeration of what the drafter may propose; equals p."""
    written = dict.fromkeys((x for x, _ in _items(p)), 0)
    for x, chance in _items(q):
        for probability, accepted, law in outcomes([p, p], [q], [x]):
            kept = {x: 1} if accepted else law  # the bonus after x is another position's
            for y, mass in _items(kept):
                written[y] = written.get(y, 0) + chance * probability * mass
    if not isinstance(p, Mapping):
        return np.array(list(written.values()))
    return {x: mass for x, mass in written.items() if mass or x in p}


def outcomes(
    p_rows: Sequence[Law],
    q_rows: Sequence[Law] | None,
    draft: Sequence[Any],
    rule: str = "pq",
    uniforms: Sequence[float] | None = None,
) -> list[tuple[Any, int, Law]]:
    """All outcomes of a round: [(probability, drafted tokens accepted, law of the next token)].

    p_rows has len(draft) + 1 laws, q_rows len(draft), or None: the drafter was sure (one-hot).
    With `uniforms` (one per test) every test is settled and the one outcome they pick is left.
    """
    if rule != "pq":
        raise ValueError(f"There is no rule {rule!r}; there is 'pq'.")
    if q_rows is None:
        q_rows = [one_hot(p_row, x) for p_row, x in zip(p_rows, draft)]
    result, reached = [], 1
    for i, x in enumerate(draft):
        chance = acceptance(p_rows[i], q_rows[i], x)
        if uniforms is not None:
            chance = int(uniforms[i] < chance)
        if uniforms is None or not chance:
            result.append((reached * (1 - chance), i, residual(p_rows[i], q_rows[i])))
        if uniforms is not None and not chance:
            return result
        reached = reached * chance
    return [*result, (reached, len(draft), p_rows[len(draft)])]


def one_hot(like: Law, x: Any) -> Law:
    """The law of a drafter that is sure of x, of the kind of `like`."""
    if isinstance(like, Mapping):
        return {x: 1}
    law = np.zeros_like(like)
    law[x] = 1
    return law


def _at(law: Law, x: Any) -> Any:
    return law.get(x, 0) if isinstance(law, Mapping) else law[x]


def _items(law: Law) -> Iterable[tuple[Any, Any]]:
    return law.items() if isinstance(law, Mapping) else enumerate(law)


def _divide(a: Any, b: Any) -> Any:
    exact = isinstance(a, Rational) and isinstance(b, Rational)
    return Fraction(a) / Fraction(b) if exact else a / b


def _exact(law: np.ndarray) -> np.ndarray:
    return np.asarray(law).astype(object) if np.asarray(law).dtype.kind in "iu" else np.asarray(law)


def _array_divide(a: np.ndarray, b: Any) -> np.ndarray:
    return np.array([_divide(x, b) for x in a], dtype=object) if a.dtype == object else a / b
