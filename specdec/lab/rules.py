"""Rules for one position, right and wrong: what is drafted, kept, and put in a lost token's place.

A lossless one is made of the functions of `specdec.rule`, so what is proved here is what runs.
Laws are arrays [V], of Fractions for exact results.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from specdec import rule
from specdec.arithmetic import normalised, one_hot

TOP_K = 2  # tokens the drafter really draws from, in "raw q"
CONFIDENT = Fraction(1, 2)  # a draft below this q is dropped, in "confidence stop"
EPSILON, DELTA = 0.09, 0.3  # Medusa's defaults: a hard and an entropy-dependent bound; δ = √ε

Array = np.ndarray


@dataclass(frozen=True)
class Rule:
    """One way to write a token; the last three fields are functions of the two laws [V]."""

    name: str
    title: str
    lossless: bool
    drafts: (
        Callable[[Array, Array], Array] | None
    )  # law the draft is really drawn from; None: no draft
    acceptance: Callable[[Array, Array], Array]  # chance to keep each token [V]
    replacement: Callable[[Array, Array, int], Array]  # law of what replaces a lost x [V]


def limit(r: Rule, p: Array, q: Array) -> Array:
    """The exact law [V] of the written token: Σ over drafts x of d(x) [a(x) δx + (1 − a(x)) rx].

    Example:
        >>> p, q = (np.array([Fraction(n, 10) for n in law]) for law in ((5, 3, 2), (2, 3, 5)))
        >>> [str(x) for x in limit(by_name("from p"), p, q)]
        ['7/20', '39/100', '13/50']
    """
    if r.drafts is None:
        return r.replacement(p, q, -1)
    drafts = r.drafts(p, q)
    kept = drafts * r.acceptance(p, q)
    written = kept
    for x, lost in enumerate(drafts - kept):
        if lost:
            written = written + lost * r.replacement(p, q, x)
    return written


def accepted(r: Rule, p: Array, q: Array) -> Any:
    """Chance that the draft is kept; None where nothing is drafted."""
    return None if r.drafts is None else (r.drafts(p, q) * r.acceptance(p, q)).sum()


def by_name(name: str) -> Rule:
    """The rule of this name; ValueError if there is none."""
    for r in RULES:
        if r.name == name:
            return r
    raise ValueError(f"The lab has no rule {name!r}; it has {', '.join(r.name for r in RULES)}.")


# ---- what is drafted -------------------------------------------------------------------------


def _from_q(p: Array, q: Array) -> Array:
    return q


def _likeliest(p: Array, q: Array) -> Array:
    return one_hot(q, int(np.argmax(q)))  # the lowest id among equals


def _from_top_k(p: Array, q: Array) -> Array:
    largest = np.argsort(-q, kind="stable")[:TOP_K]
    kept = q * 0
    kept[largest] = q[largest]
    return normalised(kept, kept.sum())


# ---- what is kept ----------------------------------------------------------------------------


def _ratio(p: Array, q: Array) -> Array:
    return _each(lambda x: rule.acceptance(p, q, x), p)


def _chance_under_p(p: Array, q: Array) -> Array:
    return _each(lambda x: rule.acceptance(p, one_hot(p, x), x), p)


def _where_p_is_no_less(p: Array, q: Array) -> Array:
    return _each(lambda x: int(p[x] >= q[x]), p)


def _everything(p: Array, q: Array) -> Array:
    return _each(lambda x: 1, p)


def _if_confident(p: Array, q: Array) -> Array:
    return _each(lambda x: rule.acceptance(p, q, x) if q[x] >= CONFIDENT else 0, p)


def _typical(p: Array, q: Array) -> Array:
    masses = p.astype(float)
    entropy = -sum(x * np.log(x) for x in masses if x > 0)  # nats
    bound = min(EPSILON, DELTA * np.exp(-entropy))
    return _each(lambda x: int(masses[x] > bound), p)


def _each(chance: Callable[[int], Any], p: Array) -> Array:
    return np.array([chance(x) for x in range(len(p))], dtype=p.dtype)


# ---- what replaces a lost x ------------------------------------------------------------------


def _residual(p: Array, q: Array, x: int) -> Array:
    return rule.residual(p, q)


def _without_x(p: Array, q: Array, x: int) -> Array:
    return rule.residual(p, one_hot(p, x))


def _p(p: Array, q: Array, x: int) -> Array:
    return p


def _p_if_dropped(p: Array, q: Array, x: int) -> Array:
    return rule.residual(p, q) if q[x] >= CONFIDENT else p


def _likeliest_of_p(p: Array, q: Array, x: int) -> Array:
    return one_hot(p, int(np.argmax(p)))


RIGHT, WRONG = True, False
RULES = (
    Rule("target", "The target alone", RIGHT, None, _everything, _p),
    Rule("pq", "min(1, p/q), else the residual", RIGHT, _from_q, _ratio, _residual),
    Rule("match", "Sampler-match", RIGHT, _from_q, _chance_under_p, _without_x),
    Rule("one-hot", "Greedy draft, one-hot q", RIGHT, _likeliest, _chance_under_p, _without_x),
    Rule("from p", "Replace from p", WRONG, _from_q, _ratio, _p),
    Rule("p ≥ q", "Accept iff p ≥ q", WRONG, _from_q, _where_p_is_no_less, _residual),
    Rule("always", "Accept always", WRONG, _from_q, _everything, _p),
    Rule("soft q", "Greedy draft, soft q", WRONG, _likeliest, _ratio, _residual),
    Rule("raw q", "Top-k draft, raw q", WRONG, _from_top_k, _ratio, _residual),
    Rule("only x", "Remove only the rejected token", WRONG, _from_q, _ratio, _without_x),
    Rule(
        "confidence", "Drop what the drafter doubts", WRONG, _from_q, _if_confident, _p_if_dropped
    ),
    Rule("typical", "Typical acceptance", WRONG, _from_q, _typical, _likeliest_of_p),
)
