"""A number that a text states, with the closed form or the rule that gives it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any, Literal

import numpy as np

from specdec import lab, rule, theory
from specdec.published import Printed

Laws = tuple[float, ...]


@dataclass(frozen=True)
class Stated:
    """`value` as printed, of the form `f` at the arguments that are given."""

    f: Literal[
        "speedup",
        "tokens_per_pass",
        "best_k",
        "break_even_alpha",
        "operations_factor",
        "alpha_from_tokens_per_pass",
        "draft_yield",
        "round_cost",
        "overlap",
        "residual",
        "agreement",
        "written_by",
        "kept_in_row",
        "length_of",
        "mean_of",
        "given_kept",
        "ratio",
    ]
    value: str
    alpha: float | None = None
    k: int | None = None
    c: float | None = None
    v: float | None = None
    c_ops: float | None = None
    tokens: float | None = None
    speed: float | None = None
    p: Laws | None = None
    q: Laws | None = None
    x: int | None = None
    by: str | None = None  # a rule of the lab
    rates: tuple[float, ...] | None = None
    a: float | None = None
    b: float | None = None

    @property
    def arguments(self) -> dict[str, Any]:
        """What is given, by name."""
        every = {field.name: getattr(self, field.name) for field in fields(self)[2:]}
        return {name: value for name, value in every.items() if value is not None}

    def result(self) -> float:
        """The number itself.

        Example:
            >>> round(Stated("speedup", "2.80", alpha=0.8, k=4, c=0.05).result(), 4)
            2.8013
        """
        return float(_FORMS[self.f](**self.arguments))

    def holds(self) -> bool:
        """Whether the result rounds to what is printed; % counts in hundredths."""
        scale = 100 if self.value.endswith("%") else 1
        printed = Printed(self.value.removesuffix("%").strip())
        return printed.stands_for(scale * self.result())


def _draft_yield(alpha: float, k: int) -> float:
    """Accepted ÷ drafted: of a round all tokens but the target's own."""
    return (theory.tokens_per_pass(alpha, k) - 1) / k


def _round_cost(alpha: float, k: int, speed: float) -> float:
    """What a round must have cost, in target passes, to be this fast."""
    return theory.tokens_per_pass(alpha, k) / speed


def _written_by(by: str, p: Laws, q: Laws, x: int) -> float:
    return lab.limit(lab.by_name(by), np.array(p), np.array(q))[x]


def _given_kept(rates: tuple[float, ...], x: int) -> float:
    """A place's acceptance given that the places before it were accepted."""
    return rates[x] / (rates[x - 1] if x else 1.0)


_FORMS: dict[str, Callable[..., Any]] = {
    **{
        name: getattr(theory, name)
        for name in (
            *("speedup", "tokens_per_pass", "best_k", "break_even_alpha"),
            *("operations_factor", "alpha_from_tokens_per_pass"),
        )
    },
    "draft_yield": _draft_yield,
    "round_cost": _round_cost,
    "overlap": lambda p, q: rule.overlap(np.array(p), np.array(q)),
    "residual": lambda p, q, x: rule.residual(np.array(p), np.array(q))[x],
    "agreement": lambda p, q: np.dot(p, q),
    "written_by": _written_by,
    "kept_in_row": lambda alpha, k: alpha**k,
    "length_of": lambda rates: 1 + sum(rates),
    "mean_of": lambda rates: sum(rates) / len(rates),
    "given_kept": _given_kept,
    "ratio": lambda a, b: a / b,
}
