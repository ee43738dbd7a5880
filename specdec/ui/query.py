"""The keys of a link: read, checked and written in one place, so a link never breaks a page.

A value that is out of range is moved to the nearest end, nonsense becomes the default, and the
reader is told in a sentence that never repeats the link's own text.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

VERSION = "1"  # of the meaning of the keys, sent as link=1


@dataclass(frozen=True)
class Number:
    """A number in [low, high]."""

    default: float
    low: float
    high: float
    whole: bool = False

    def parse(self, text: str) -> tuple[float, str]:
        """The value, and what had to be mended ("" if nothing)."""
        span = f"from {_exact(self.low)} to {_exact(self.high)}"
        try:
            value = int(text) if self.whole else float(text)
        except ValueError:
            value = math.nan
        if value != value or abs(value) == math.inf:
            kind = "a whole number" if self.whole else "a number"
            return self.default, f"must be {kind} {span}: it is {_exact(self.default)} here."
        inside = min(max(value, self.low), self.high) + 0  # + 0: no minus zero
        return inside, "" if inside == value else f"goes {span}: it is {_exact(inside)} here."


@dataclass(frozen=True)
class Choice:
    """One of a few words."""

    default: str
    options: tuple[str, ...]

    def parse(self, text: str) -> tuple[str, str]:
        """The value, and what had to be mended ("" if nothing)."""
        if text in self.options:
            return text, ""
        return self.default, f"is one of {', '.join(self.options)}: it is {self.default} here."


@dataclass(frozen=True)
class Text:
    """Free text, at most `longest` characters."""

    default: str = ""
    longest: int = 2000

    def parse(self, text: str) -> tuple[str, str]:
        """The value, and what had to be mended ("" if nothing)."""
        if len(text) <= self.longest:
            return text, ""
        return text[: self.longest], f"has at most {self.longest} characters: the rest is cut."


Key = Number | Choice | Text

KEYS: dict[str, Key] = {
    "k": Number(4, 0, 24, whole=True),
    "alpha": Number(0.8, 0.0, 1.0),
    "c": Number(0.05, 0.0, 1.0),
    "v": Number(0.0, 0.0, 0.5),
    "seed": Number(0, 0, 2**32 - 1, whole=True),
    "T": Number(0.0, 0.0, 2.0),
    "top_k": Number(0, 0, 1000, whole=True),
    "top_p": Number(1.0, 0.01, 1.0),
    "n": Number(64, 1, 256, whole=True),
    "drafter": Choice("model", ("model", "lookup", "heads", "combined")),
    "prompt": Text(),
    "chat": Choice("1", ("0", "1")),
    "rule": Choice("pq", ("pq", "match", "block")),
    "dtype": Choice("auto", ("auto", "bf16", "fp32")),
    "device": Choice("auto", ("auto", "cpu")),
    "panel": Choice(
        "rates", ("rates", "race", "compare", "what-if", "memory", "files", "recordings")
    ),
    "batch": Number(1, 1, 64, whole=True),
    "station": Choice(
        "tokenizer",
        ("tokenizer", "long", "batch", "settings", "ties", "ends", "caches", "endings"),
    ),
    "part": Choice(
        "questions",
        ("questions", "walkthrough", "minute", "cards", "sheet", "predict", "numbers", "code"),
    ),
    "topic": Choice(
        "all", ("all", "idea", "rule", "same", "speed", "cache", "drafters", "serving")
    ),
    "depth": Choice("line", ("line", "middle", "senior")),
    "find": Text("", 100),
    "ask": Text("", 200),
    "pins": Text("", 300),
    "open": Text("", 100),
    "speed": Number(2.0, 0.01, 100.0),
    "round": Number(0, 0, 9999, whole=True),
    "step": Number(0, 0, 99999, whole=True),
    "hint": Choice("text", ("text", "laws")),
    "pick": Number(0, 0, 9, whole=True),
    "present": Choice("0", ("0", "1")),
    "seen": Text("", 200),
}


@dataclass(frozen=True)
class Link:
    """What a link says: a value for every key asked for, and sentences about what was mended."""

    values: Mapping[str, Any]
    notes: tuple[str, ...]


def read(params: Mapping[str, Any], *names: str, **changed: Key) -> Link:
    """These keys of a link, all in range; `changed` gives a page's own default or limits for a key.

    Example:
        >>> read({"k": "999", "alpha": "much"}, "k", "alpha").values
        {'k': 24, 'alpha': 0.8}
        >>> read({"k": "999"}, "k").notes
        ('k goes from 0 to 24: it is 24 here.',)
    """
    values, notes = {}, []
    for name in dict.fromkeys((*names, *changed)):
        key = changed.get(name, KEYS[name])
        values[name], mended = key.parse(str(params[name])) if name in params else (key.default, "")
        if mended:
            notes.append(f"{name} {mended}")
    if str(params.get("link", VERSION)) != VERSION:
        notes.append("This link was made by another version of these pages; look at the settings.")
    return Link(values, tuple(notes))


def write(**values: Any) -> dict[str, str]:
    """The keys of a link to exactly these values; numbers keep every digit.

    Defaults are written out too: a link must not change its meaning when a default does.

    Example:
        >>> write(k=4, alpha=0.8)
        {'k': '4', 'alpha': '0.8', 'link': '1'}
    """
    unknown = sorted(set(values) - set(KEYS))
    if unknown:
        raise ValueError(f"A link has no key {unknown[0]!r}; its keys are {', '.join(KEYS)}.")
    return {name: _exact(value) for name, value in values.items()} | {"link": VERSION}


def _exact(value: Any) -> str:
    whole = isinstance(value, float) and value.is_integer()
    return str(int(value) if whole else value)
