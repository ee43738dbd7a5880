"""Published tables of speculative decoding, and how each cell compares with the closed forms.

A printed number stands for all numbers that round to it: a cell agrees if the formula's value is
one of them, and it is explained if the formula gives one for some α and c that round to theirs.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from typing import Literal

from specdec import theory
from specdec.presets import ASSETS

Agreement = Literal["agrees", "explained", "differs"]
DEVICES = ("3090, 7B", "A100, 7B", "A100, 13B", "A100, 33B")  # the columns of `Headline.bench`


@dataclass(frozen=True)
class Printed:
    """A number as printed: its digits say how far it was rounded."""

    text: str

    @property
    def value(self) -> float:
        """The number itself."""
        return float(self.text)

    @property
    def ends(self) -> tuple[float, float]:
        """The least and the largest number that rounds to it."""
        half = 0.5 * 10.0 ** -len(self.text.partition(".")[2])
        return self.value - half, self.value + half

    def stands_for(self, low: float, high: float | None = None) -> bool:
        """Whether the number, or some number from low to high, rounds to what is printed.

        Example:
            >>> Printed("2.46").stands_for(14.1 / 5.73), Printed("1.92").stands_for(14.1 / 7.52)
            (True, False)
        """
        least, most = self.ends
        return low <= most + 1e-12 and (low if high is None else high) >= least - 1e-12


@dataclass(frozen=True)
class Source:
    """Where numbers were read: "paper", "code" or "reported" at second hand."""

    name: str
    mark: Literal["paper", "code", "reported"]
    words: str


@dataclass(frozen=True)
class Ops:
    """A row of Leviathan's Table 1: free drafts."""

    alpha: Printed
    k: int
    ops: Printed
    speed: Printed

    def values(self) -> tuple[float, float]:
        """(arithmetic, speed-up) by the closed forms."""
        alpha = self.alpha.value
        return theory.operations_factor(alpha, self.k, 0.0), theory.speedup(alpha, self.k, 0.0)


@dataclass(frozen=True)
class Run:
    """A row of Leviathan's Tables 2 and 4: expected by the formula, measured by the clock."""

    task: str
    drafter: str
    temperature: float
    k: int
    alpha: Printed
    c: Printed
    expected: Printed
    measured: Printed

    def formula(self) -> float:
        """The speed-up by the closed form."""
        return theory.speedup(self.alpha.value, self.k, self.c.value)

    def agreement(self) -> Agreement:
        """How the printed expectation stands to the formula, which grows with α, falls with c."""
        if self.expected.stands_for(self.formula()):
            return "agrees"
        (least, most), (cheap, dear) = self.alpha.ends, self.c.ends
        low, high = theory.speedup(least, self.k, dear), theory.speedup(most, self.k, cheap)
        return "explained" if self.expected.stands_for(low, high) else "differs"

    def surprise(self) -> float:
        """Measured ÷ formula − 1."""
        return self.measured.value / self.formula() - 1

    def best(self) -> tuple[int, float]:
        """The best k for this row's α and c, and its speed-up."""
        k = theory.best_k(self.alpha.value, self.c.value)
        return k, theory.speedup(self.alpha.value, k, self.c.value)


@dataclass(frozen=True)
class Timing:
    """A row of Chen's table: milliseconds a token, plain and speculative."""

    task: str
    k: int
    target: Printed
    drafter: Printed
    speculative: Printed
    speed: Printed

    def ratio(self) -> float:
        """Plain time ÷ speculative time."""
        return self.target.value / self.speculative.value

    def agreement(self) -> Agreement:
        """How the printed speed-up stands to the printed times."""
        if self.speed.stands_for(self.ratio()):
            return "agrees"
        (least, most), (fast, slow) = self.target.ends, self.speculative.ends
        return "explained" if self.speed.stands_for(least / slow, most / fast) else "differs"

    def alpha(self) -> float:
        """The α behind these times, if the formula with c = drafter ÷ target explains them."""
        c = self.drafter.value / self.target.value
        return theory.alpha_from_tokens_per_pass(self.ratio() * (1 + self.k * c), self.k)


@dataclass(frozen=True)
class Headline:
    """What a project states of itself, and what one bench measured overall on DEVICES."""

    method: str
    low: float
    high: float
    words: str
    bench: tuple[float | None, ...]

    @property
    def measured(self) -> tuple[float, ...]:
        """The measurements that there are."""
        return tuple(x for x in self.bench if x is not None)


@dataclass(frozen=True)
class Benched:
    """A row of Spec-Bench: the speed-up by kind of text, over all, and the tokens a target pass."""

    method: str
    speed: tuple[Printed, ...]
    tokens: Printed
    overall: Printed


@dataclass(frozen=True)
class Bench:
    """Spec-Bench on one device: its rows, the best over all first, and their kinds of text."""

    device: str  # of DEVICES
    kinds: tuple[str, ...]
    rows: tuple[Benched, ...]


@dataclass(frozen=True)
class Published:
    """All tables."""

    sources: dict[str, Source]
    ops: tuple[Ops, ...]
    runs: tuple[Run, ...]
    timings: tuple[Timing, ...]
    headlines: tuple[Headline, ...]
    bench: Bench


@cache
def published() -> Published:
    """The tables of assets/text/published.toml."""
    data = tomllib.loads((ASSETS / "text" / "published.toml").read_text(encoding="utf-8"))
    chinchilla = data["chinchilla"]
    shared = {"k": chinchilla["k"], "target": chinchilla["target"]}
    shared["drafter"] = chinchilla["drafter"]
    return Published(
        {source["name"]: Source(**source) for source in data["source"]},
        tuple(Ops(**_printed(row, "alpha", "ops", "speed")) for row in data["ops"]),
        tuple(Run(**_printed(row, "alpha", "c", "expected", "measured")) for row in data["run"]),
        tuple(
            Timing(**_printed(shared | row, "target", "drafter", "speculative", "speed"))
            for row in chinchilla["row"]
        ),
        tuple(_headline(row) for row in data["headline"]),
        _bench(**data["bench"]),
    )


def _printed(row: dict, *names: str) -> dict:
    return row | {name: Printed(row[name]) for name in names}


def _headline(row: dict) -> Headline:
    bench = tuple(float(text) if text else None for text in row["bench"])
    return Headline(row["method"], float(row["from"]), float(row["to"]), row["words"], bench)


def _bench(device: str, kinds: list[str], row: list[dict]) -> Bench:
    rows = (_printed(r, "tokens", "overall") for r in row)
    made = tuple(Benched(**r | {"speed": tuple(map(Printed, r["speed"]))}) for r in rows)
    return Bench(device, tuple(kinds), made)
