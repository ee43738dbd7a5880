"""The code drill: a line for a blank of a program, run for real on small cases, exactly.

Only the lines of `specdec.lab.listings` are ever run; a reader picks one of them by its name.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any, Literal

from specdec.arithmetic import normalised
from specdec.lab import cases
from specdec.lab.cases import CASES, Case, Law, Words
from specdec.lab.listings import LISTINGS, Line, Listing
from specdec.lab.unfold import Draws, law_of

MOST_PASSES = 40  # of a case: no right program needs nearly as many
Error = Literal["", "index", "zero", "stuck"]


class StuckError(Exception):
    """A program that goes on without writing anything."""


class Counted:
    """A target that counts its passes; one called by itself takes one, too."""

    def __init__(self, model: Callable) -> None:
        self.model, self.passes = model, 0

    def __call__(self, prefix: Sequence[str]) -> Any:
        return self.rows([prefix])[0]

    def rows(self, prefixes: Sequence[Sequence[str]]) -> list[Any]:
        """What follows each prefix, from one pass."""
        self.passes += 1
        if self.passes > MOST_PASSES:
            raise StuckError
        return [self.model(prefix) for prefix in prefixes]


@dataclass(frozen=True)
class Outcome:
    """What came of a case: the law of the written words beside the target's own, and the passes."""

    case: Case
    wanted: Mapping[Words, Fraction]
    got: Mapping[Words, Fraction]  # empty where the program stopped with an error
    needed: Fraction  # target passes that the right program takes, on average
    passes: Fraction
    error: Error = ""

    @property
    def bias(self) -> Fraction:
        """Total variation between what is written and what the target alone writes."""
        every = {*self.wanted, *self.got}
        return (
            sum((abs(self.wanted.get(x, 0) - self.got.get(x, 0)) for x in every), Fraction(0)) / 2
        )

    @property
    def ok(self) -> bool:
        """The target's own law, in no more passes than it takes."""
        return not self.error and not self.bias and self.passes <= self.needed


@dataclass(frozen=True)
class Blank:
    """A blank to fill: its program, its name, and its lines in the order on the screen."""

    listing: Listing
    name: str
    lines: tuple[Line, ...]


COUNT = sum(len(listing.blanks) for listing in LISTINGS)


def blank(seed: int, step: int) -> Blank:
    """The blank at this step, from 0, in the order of the programs; the seed shuffles its lines.

    Example:
        >>> blank(0, 0).listing.name, blank(0, 0).name, len(blank(0, 0).lines)
        ('greedy', 'draft', 4)
    """
    places = [(listing, name) for listing in LISTINGS for name in listing.blanks]
    listing, name = places[step % COUNT]
    lines = list(listing.blanks[name])
    random.Random(f"{seed}|{listing.name}|{name}").shuffle(lines)
    return Blank(listing, name, tuple(lines))


@cache
def outcomes(listing: str, name: str, line: str) -> tuple[Outcome, ...]:
    """All cases of a program with this line in this blank and the right lines elsewhere."""
    found = next(each for each in LISTINGS if each.name == listing)
    source = found.code({name: line})
    return tuple(_run(source, case) for case in CASES[listing])


def case_of(line: Line, found: Sequence[Outcome]) -> Outcome:
    """The case that a wrong line names, the first one of a right line."""
    return next((each for each in found if each.case.name == line.fails), found[0])


def _run(source: str, case: Case) -> Outcome:
    target, names = Counted(case.target), dict(_HELP)

    def program(draws: Draws) -> tuple[Words, int]:
        target.passes = 0
        names.update(draw=draws.draw, chance=draws.chance)
        text = names["generate"](target, case.drafter, case.n, case.k)
        return tuple(text), target.passes

    exec(compile(source, "<listing>", "exec"), names)  # our own lines and no others
    right, needed = cases.wanted(case), cases.needed(case)
    try:
        both = law_of(program)
    except tuple(ERRORS) as error:
        return Outcome(case, right, {}, needed, Fraction(target.passes), ERRORS[type(error)])
    got: dict[Words, Fraction] = {}
    for (text, _), mass in both.items():
        got[text] = got.get(text, Fraction(0)) + mass
    mean = sum((count * mass for (_, count), mass in both.items()), Fraction(0))
    return Outcome(case, right, got, needed, mean)


def _one_pass(model: Callable, prefixes: Sequence[Sequence[str]]) -> list[Any]:
    return model.rows(prefixes) if isinstance(model, Counted) else [model(x) for x in prefixes]


def _likeliest(law: Law) -> Any:
    return max(law, key=law.__getitem__)


def _normalised(left: Law) -> Law:
    return normalised(left, sum(left.values()))


ERRORS: dict[type, Error] = {
    IndexError: "index",
    ZeroDivisionError: "zero",
    StuckError: "stuck",
}
_HELP = {"one_pass": _one_pass, "likeliest": _likeliest, "normalised": _normalised}
