"""What the overlap canvas shows: two laws over a few named tokens, exact, checked, in a link."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

from specdec.fractions_text import parse, parse_many

LEAST, MOST, LONGEST_NAME = 3, 8, 12
LONG = 120  # digits of one number that a browser or link may send; normalising makes long ones
FILE = Path(__file__).resolve().parents[2] / "assets" / "overlap_presets.toml"


@dataclass(frozen=True)
class Drop:
    """The drafted token, and the uniforms in [0, 1) of its test and of its replacement."""

    token: int = 1
    u: float = 0.5
    w: float = 0.5

    def __post_init__(self) -> None:
        for name, x in (("u", self.u), ("w", self.w)):
            if not 0 <= x < 1:
                raise ValueError(f"{name} is {x}; it must be in [0, 1).")


@dataclass(frozen=True)
class Laws:
    """p and q of one position; each is a law only if `valid`: readers may be half-way."""

    names: tuple[str, ...]
    p: tuple[Fraction, ...]
    q: tuple[Fraction, ...]
    temperature: float = 1.0
    drop: Drop = Drop()

    def __post_init__(self) -> None:
        n = len(self.names)
        if not LEAST <= n <= MOST:
            raise ValueError(f"There are {n} tokens; the canvas has {LEAST} to {MOST}.")
        if len(self.p) != n or len(self.q) != n:
            raise ValueError(f"{n} tokens, but p has {len(self.p)} numbers and q {len(self.q)}.")
        if len(set(self.names)) < n:
            raise ValueError("Two tokens have the same name.")
        for name in self.names:
            if not 0 < len(name) <= LONGEST_NAME or "," in name or "|" in name:
                raise ValueError(
                    f"A token is called {name[:20]!r}; a name has 1 to {LONGEST_NAME} letters, "
                    "without comma and bar."
                )
        for x in (*self.p, *self.q):
            if not 0 <= x <= 1:
                raise ValueError(f"{x} is no probability: it must be in [0, 1].")
        if not 0 <= self.temperature <= 2:
            raise ValueError(f"The temperature is {self.temperature}; it must be in [0, 2].")
        if not 0 <= self.drop.token < n:
            raise ValueError(f"Token {self.drop.token} is drafted; there are 0 to {n - 1}.")

    @property
    def valid(self) -> bool:
        """Whether both sum to 1, exactly."""
        return sum(self.p) == 1 and sum(self.q) == 1

    @property
    def pair(self) -> tuple[dict[str, Fraction], dict[str, Fraction]]:
        """p and q as mappings, as `specdec.rule` takes them; temperature not applied."""
        return dict(zip(self.names, self.p)), dict(zip(self.names, self.q))

    def write(self) -> str:
        """As the text of a link: names | p | q | token, u, w; `read` gives the laws back."""
        laws = [[str(x) for x in law] for law in (self.p, self.q)]
        drop = [str(self.drop.token), f"{self.drop.u:g}", f"{self.drop.w:g}"]
        return "|".join(",".join(part) for part in (self.names, *laws, drop))


@dataclass(frozen=True)
class Example:
    """A pair of laws to start from, with its title and what to notice."""

    title: str
    laws: Laws
    notice: str


def read(text: str, temperature: float = 1.0) -> Laws:
    """The laws that a link's text says; ValueError if it says none.

    Example:
        >>> read("held,cooled,shone|3/5,3/10,1/10|1/5,7/10,1/10").pair[0]["cooled"]
        Fraction(3, 10)
    """
    parts = [part.split(",") for part in text.split("|")]
    if len(parts) not in (3, 4):
        raise ValueError(f"The laws of a link have 3 or 4 parts between bars, not {len(parts)}.")
    names, p, q, *drop = parts
    return _build(names, p, q, temperature, drop[0] if drop else (1, 0.5, 0.5))


def of_link(text: str, temperature: float) -> tuple[Laws, tuple[str, ...]]:
    """The laws of a link, the first example where it has none, and what had to be mended."""
    example = replace(examples()[0].laws, temperature=temperature)
    if not text:
        return example, ()
    try:
        return read(text, temperature), ()
    except ValueError:  # its words would repeat the link's
        return example, ("prompt holds no two laws: it is the first example here.",)


def of_browser(sent: Any) -> Laws | None:
    """The laws in a browser's message; None if it holds none: the browser is not trusted."""
    try:
        drop = sent["x"], float(sent["u"]) / 1000, float(sent["w"]) / 1000
        return _build(sent["names"], sent["p"], sent["q"], float(sent["T"]), drop)
    except (KeyError, TypeError, ValueError, AttributeError):
        return None


def _build(
    names: Sequence[str], p: Sequence[str], q: Sequence[str], temperature: float, drop: Sequence
) -> Laws:
    laws = (tuple(parse(x, digits=LONG) for x in law) for law in (p, q))
    token, u, w = drop
    return Laws(
        tuple(str(name) for name in names),
        *laws,
        temperature,
        Drop(int(token), float(u), float(w)),
    )


@cache
def examples() -> tuple[Example, ...]:
    """The examples in the order of their file; the first is the article's."""
    entries = tomllib.loads(FILE.read_text(encoding="utf-8"))["preset"]
    return tuple(Example(e["title"], _laws(e), e["notice"]) for e in entries)


def _laws(entry: Mapping[str, Any]) -> Laws:
    p, q = (parse_many(entry[law]) for law in ("p", "q"))
    return Laws(tuple(entry["names"]), p, q, float(entry.get("T", 1.0)))
