"""The acceptance rule of speculative decoding for one position, and for a round of them.

p is the target's law, q the drafter's (Leviathan et al. 2023; Chen et al. swap the letters).
Laws are mappings token → number (a missing key is 0) or arrays [V]; ints and Fractions stay exact.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from specdec.arithmetic import Law, at, cut_ratio, excess, items, normalised, one_hot
from specdec.block import block_tests, last_pass
from specdec.match import match_round

RULES = ("pq", "match", "block")  # all of them write exactly p


def acceptance(p: Law, q: Law, x: Any) -> Any:
    """Chance that x, drawn from q, is kept: min(1, p(x) / q(x)); 0 wherever p(x) = 0."""
    return cut_ratio(at(p, x), at(q, x))


def residual(p: Law, q: Law) -> Law:
    """What replaces a rejected token: max(0, p − q), renormalised; p itself where that is all zero.

    All zero means p = q, where nothing is rejected; rounding can still ask.
    """
    left, total = excess(p, q)
    return normalised(left, total) if total > 0 else p


def overlap(p: Law, q: Law) -> Any:
    """Σ min(p, q): the chance that a token drawn from q is kept = 1 − total variation."""
    if not isinstance(p, Mapping):
        return np.minimum(p, q).sum()
    return sum(min(p[x], at(q, x)) for x in p)


def output_distribution(p: Law, q: Law) -> Law:
    """The law of the written token, by enumeration of what the drafter may propose; equals p."""
    written = dict.fromkeys((x for x, _ in items(p)), 0)
    for x, chance in items(q):
        for probability, accepted, law in outcomes([p, p], [q], [x]):
            kept = {x: 1} if accepted else law  # the bonus after x is another position's
            for y, mass in items(kept):
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
    if rule == "match" and uniforms is not None:
        return [(1, *match_round(p_rows, draft, uniforms))]
    thresholds, next_law = weigh(p_rows, q_rows, draft, rule)
    if uniforms is not None:
        thresholds = [int(u < h) for u, h in zip(uniforms, thresholds)]
    chances = last_pass(thresholds) if rule == "block" else _first_failure(thresholds)
    found = enumerate(chances)
    return [(chance, a, next_law(a)) for a, chance in found if chance or uniforms is None]


def weigh(
    p_rows: Sequence[Law], q_rows: Sequence[Law] | None, draft: Sequence[Any], rule: str = "pq"
) -> tuple[list[Any], Callable[[int], Law]]:
    """Chance to pass each test [n], and: tokens accepted → law of the next token."""
    check(rule)
    if q_rows is None or rule == "match":
        q_rows = [one_hot(p, x) for p, x in zip(p_rows, draft)]
    if rule == "block":
        return block_tests(p_rows, q_rows, draft)

    def next_law(accepted: int) -> Law:
        if accepted == len(draft):
            return p_rows[accepted]
        return residual(p_rows[accepted], q_rows[accepted])

    return [acceptance(p, q, x) for p, q, x in zip(p_rows, q_rows, draft)], next_law


def check(rule: str) -> None:
    """ValueError if there is no such rule."""
    if rule not in RULES:
        raise ValueError(f"There is no rule {rule!r}; there are {', '.join(map(repr, RULES))}.")


def _first_failure(thresholds: Sequence[Any]) -> list[Any]:
    """Chances [n + 1] that 0, 1, … n tests are passed before one is failed."""
    chances, reached = [], 1
    for h in thresholds:
        chances.append(reached * (1 - h))
        reached = reached * h
    return [*chances, reached]
