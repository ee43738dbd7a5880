"""Exercises on one position: small laws p and q in, exact fractions out."""

from __future__ import annotations

import random
from collections.abc import Mapping
from fractions import Fraction

import numpy as np

from specdec import lab, rule
from specdec.drill_exercise import EXACT, Exercise, exercise, fraction

NAMES = "abc"
PARTS = (8, 10, 12)
Law = dict[str, Fraction]


def overlap(rng: random.Random) -> Exercise:
    """Two laws in, the chance that a guess is kept out."""
    p, q = _pair(rng)
    found = rule.overlap(p, q)
    steps = (_sum_of([min(p[x], q[x]) for x in NAMES], r"\sum \min(p, q)", found),)
    slips = {"variation": 1 - found, "agreement": sum(p[x] * q[x] for x in NAMES)}
    return exercise("overlap", _given(p, q), found, EXACT, steps, **slips)


def keep(rng: random.Random) -> Exercise:
    """Two laws and a drafted token in, the chance to keep it out."""
    p, q = _pair(rng)
    x = rng.choice([x for x in NAMES if q[x]])
    found = rule.acceptance(p, q, x)
    ratio = p[x] / q[x]
    steps = (
        rf"\min\left(1, \frac{{p({x})}}{{q({x})}}\right)"
        rf" = \min\left(1, \frac{{{fraction(p[x])}}}{{{fraction(q[x])}}}\right)"
        rf" = {fraction(found)}",
    )
    slips = {"unclipped": ratio, "only_p": p[x]} | ({"upside": q[x] / p[x]} if p[x] else {})
    return exercise("keep", _given(p, q) | {"x": x}, found, EXACT, steps, **slips)


def residual(rng: random.Random) -> Exercise:
    """Two laws and a token in, the chance that it replaces a rejected one out."""
    p, q = _pair(rng)
    x = rng.choice([x for x in NAMES if p[x] > q[x]])
    found, left = rule.residual(p, q)[x], [max(p[y] - q[y], 0) for y in NAMES]
    steps = (
        _sum_of(left, r"\sum \max(0, p - q)", sum(left)),
        rf"\frac{{{fraction(p[x])} - {fraction(q[x])}}}{{{fraction(sum(left))}}}"
        rf" = {fraction(found)}",
    )
    slips = {"unscaled": p[x] - q[x], "from_p": p[x]}
    return exercise("residual", _given(p, q) | {"x": x}, found, EXACT, steps, **slips)


def written(rng: random.Random) -> Exercise:
    """Two laws and a token in, the chance that it is written out: p, whatever q is."""
    p, q = _pair(rng)
    x = rng.choice(NAMES)
    left = rule.residual(p, q)[x]
    kept, lost = min(p[x], q[x]), 1 - rule.overlap(p, q)
    steps = (
        rf"\min(p, q) + \left(1 - {fraction(1 - lost)}\right) \cdot {fraction(left)}"
        rf" = {fraction(kept)} + {fraction(lost * left)} = {fraction(p[x])} = p({x})",
    )
    laws = [np.array(list(law.values()), dtype=object) for law in (p, q)]
    from_p = lab.limit(lab.by_name("from p"), *laws)[NAMES.index(x)]
    slips = {"kept_only": kept, "of_q": q[x], "from_p": from_p}
    return exercise("written", _given(p, q) | {"x": x}, p[x], EXACT, steps, **slips)


def _pair(rng: random.Random) -> tuple[Law, Law]:
    """Two different laws of the same parts."""
    n = rng.choice(PARTS)
    p = _law(rng, n)
    q = _law(rng, n)
    return (p, q) if p != q else _pair(rng)


def _law(rng: random.Random, n: int) -> Law:
    cuts = sorted(rng.randint(0, n) for _ in NAMES[1:])
    return {x: Fraction(b - a, n) for x, a, b in zip(NAMES, (0, *cuts), (*cuts, n))}


def _given(p: Mapping[str, Fraction], q: Mapping[str, Fraction]) -> dict[str, str]:
    laws = {"p": p, "q": q}
    return {name: ", ".join(f"{x} {law[x]}" for x in NAMES) for name, law in laws.items()}


def _sum_of(terms: list[Fraction], what: str, total: Fraction) -> str:
    return rf"{what} = {' + '.join(map(fraction, terms))} = {fraction(total)}"
