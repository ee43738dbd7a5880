"""Several ways to draft put to one prompt: what each wrote, and how long each turn of it took."""

from __future__ import annotations

import json
import statistics
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cache
from typing import Any

import numpy as np

from specdec import sense
from specdec.measure import Costs, costs_of
from specdec.presets import ASSETS
from specdec.schema import build, parse
from specdec.trace import Source, Trace
from specdec.trace import recorded as marked

SILENT = {"p_top", "q_top", "residual_top", "mended", "memory", "stop_reason"}
SCHEMA = 1  # raised whenever an old file would be read wrongly
FOLDER = ASSETS / "traces" / "ways"
PLAIN = "plain"
RECORDED = ("chat", "code", "copy")  # presets
LAWS = {"greedy": 0.0, "sampled": 1.0}  # name of the recordings → temperature


@dataclass(frozen=True)
class Entry:
    """One way: the run of its middle turn, and the seconds of all its turns, prefills left out."""

    name: str  # of `contest_run.ENTRANTS`, or "plain"
    trace: Trace
    seconds: tuple[float, ...]

    def __post_init__(self) -> None:
        if not self.seconds or not all(s > 0 for s in self.seconds):
            raise ValueError(f"{self.name}: every turn takes some time.")
        if not self.trace.token_ids:
            raise ValueError(f"{self.name}: nothing was written.")


@dataclass(frozen=True)
class Foresight:
    """A drafter asked at every place of the greedy text, without anything being drafted for it.

    agree[i]: how many tokens of its draft for place i are the text's own; sure[i]: how certain it
    was of the first of them, at temperature 1, or None where it drafted nothing.
    """

    name: str  # of a drafter
    most: int  # tokens asked for at a place
    agree: tuple[int, ...]
    sure: tuple[float | None, ...]

    def __post_init__(self) -> None:
        if len(self.agree) != len(self.sure) or not all(0 <= a <= self.most for a in self.agree):
            raise ValueError(f"{self.name}: counts and certainties do not fit.")
        if not all(s is None or 0 <= s <= 1 for s in self.sure):
            raise ValueError(f"{self.name}: a certainty outside [0, 1].")


@dataclass(frozen=True)
class Contest:
    """Entries for one prompt, plain decoding first; turn i of all was made before turn i + 1."""

    prompt: str  # name of the preset
    entries: tuple[Entry, ...]
    foresights: tuple[Foresight, ...] = ()  # none if the texts are sampled
    schema: int = field(default=SCHEMA)

    def __post_init__(self) -> None:
        names = [entry.name for entry in self.entries]
        if names[:1] != [PLAIN] or self.plain.trace.settings.k or len(set(names)) < len(names):
            raise ValueError("Plain decoding comes first, and every way once.")
        if len({len(entry.seconds) for entry in self.entries}) > 1:
            raise ValueError("All ways have as many turns.")

    @property
    def plain(self) -> Entry:
        """Plain decoding of the prompt."""
        return self.entries[0]

    @property
    def names(self) -> tuple[str, ...]:
        """The ways, plain decoding left out."""
        return tuple(entry.name for entry in self.entries[1:])

    @property
    def source(self) -> Source:
        """Where it comes from: all entries ran on one machine, in turn."""
        return self.plain.trace.source

    @property
    def greedy(self) -> bool:
        """Whether the texts are greedy: then all of them are to be the same."""
        return self.plain.trace.settings.sampling.greedy

    def entry(self, name: str) -> Entry:
        """The entry of this name; KeyError if it has none."""
        for entry in self.entries:
            if entry.name == name:
                return entry
        raise KeyError(name)

    def speedups(self, name: str) -> tuple[float, float, float]:
        """(least, median, most) over the turns: plain seconds a token ÷ the way's, turn by turn."""
        way, plain = self.entry(name), self.plain
        tokens = len(way.trace.token_ids) / len(plain.trace.token_ids)
        found = [tokens * slow / fast for slow, fast in zip(plain.seconds, way.seconds)]
        return min(found), statistics.median(found), max(found)

    def costs(self, name: str) -> Costs | None:
        """c and v as the way's run shows them beside plain decoding."""
        return costs_of(self.entry(name).trace, self.plain.trace)

    def foresight(self, name: str) -> Foresight | None:
        """What a drafter would have said everywhere; None if it was not asked."""
        return next((f for f in self.foresights if f.name == name), None)

    def to_json(self) -> str:
        """As JSON text; `from_json` gives back an equal contest.

        The prompt that all entries share stands there once, and what is None is left out.
        """
        data = _told(asdict(self))
        for entry in data["entries"][1:]:
            if entry["trace"]["prompt"] == data["entries"][0]["trace"]["prompt"]:
                entry["trace"]["prompt"] = []
        plain = {"ensure_ascii": False, "separators": (",", ":"), "default": np.generic.item}
        return json.dumps(data, **plain)

    @classmethod
    def from_json(cls, text: str | bytes) -> Contest:
        """Read and check a contest; ValueError says which field is wrong and why."""
        data = parse(text)
        if not isinstance(data, dict) or data.get("schema") != SCHEMA:
            raise ValueError(f"This is not a contest of schema {SCHEMA}.")
        found = build(cls, data, "contest")
        prompt, (plain, *others) = found.plain.trace.prompt, found.entries
        whole = [
            replace(e, trace=replace(e.trace, prompt=prompt)) if not e.trace.prompt else e
            for e in others
        ]
        for entry in (plain, *whole):
            sense.check(entry.trace)
        return replace(found, entries=(plain, *whole))


def _told(data: Any) -> Any:
    """Without the fields that are None and would be None if nothing were said of them."""
    if isinstance(data, list | tuple):
        return [_told(item) for item in data]
    if not isinstance(data, dict):
        return data
    return {key: _told(x) for key, x in data.items() if x is not None or key not in SILENT}


def recorded(contest: Contest, when: str) -> Contest:
    """The same, every run marked as recorded on this day."""
    entries = tuple(replace(e, trace=marked(e.trace, when)) for e in contest.entries)
    return replace(contest, entries=entries)


def middle(seconds: Sequence[float]) -> int:
    """Which turn is the middle one: of an even number of turns the faster of the two.

    Example:
        >>> middle([3.0, 1.0, 2.0]), middle([4.0, 1.0, 3.0, 2.0])
        (2, 3)
    """
    order = sorted(range(len(seconds)), key=lambda i: seconds[i])
    return order[(len(seconds) - 1) // 2]


@cache
def load(preset: str, law: str = "greedy") -> Contest:
    """A recorded contest; FileNotFoundError where there is none."""
    return Contest.from_json((FOLDER / f"{preset}.{law}.json").read_bytes())
