"""What was measured on one machine: pass times and short runs, with JSON both ways."""

from __future__ import annotations

import json
import statistics
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from typing import Literal

import numpy as np

from specdec.measure import PassTimes
from specdec.schema import build, parse
from specdec.trace import Round, Source

SCHEMA = 1  # raised whenever an old file would be read wrongly
MOST_RUNS, MOST_ROUNDS, MOST_REPEATS, MOST_K, MOST_SECONDS = 64, 4096, 64, 64, 1e4
Drafter = Literal["none", "model", "lookup"]


@dataclass(frozen=True)
class Step:
    """What a round did, without its tokens."""

    drafted: int
    accepted: int
    rejected: int  # 1 if a drafted token failed its test, else 0
    written: int
    passes: int  # of the drafting model

    def __post_init__(self) -> None:
        _need(0 <= self.accepted <= self.drafted <= MOST_K, "accepted and drafted do not fit")
        _need(0 <= self.rejected <= self.drafted - self.accepted, "a rejected token too many")
        _need(self.rejected <= 1, "a round rejects one token at most")
        _need(self.accepted <= self.written <= self.accepted + 1, "written does not fit accepted")
        _need(self.written >= 1, "a round writes a token at least")
        _need(0 <= self.passes <= MOST_K, "a number of passes that cannot be")

    @property
    def judged(self) -> int:
        """Drafted tokens that met the test."""
        return self.accepted + self.rejected


@dataclass(frozen=True)
class TimedRun:
    """One run, repeated: the same rounds each time, other seconds."""

    drafter: Drafter
    k: int
    steps: tuple[Step, ...]
    seconds: tuple[tuple[float, ...], ...]  # [repeats, steps], prefill left out
    bare: tuple[float, ...]  # [repeats] of the same passes with nothing between them

    def __post_init__(self) -> None:
        _need(0 < len(self.steps) <= MOST_ROUNDS, "a run has rounds, but not thousands")
        _need(0 < len(self.seconds) <= MOST_REPEATS, "a run was repeated once at least")
        _need(len(self.bare) == len(self.seconds), "the bare passes of a repeat are missing")
        _need(all(len(row) == len(self.steps) for row in self.seconds), "a round without seconds")
        _times((*(s for row in self.seconds for s in row), *self.bare))
        _need(0 <= self.k <= MOST_K, f"k goes from 0 to {MOST_K}")
        _need((self.k == 0) == (self.drafter == "none"), "plain decoding, and only it, has k = 0")
        _need(all(step.drafted <= self.k for step in self.steps), "it drafted more than k")

    @property
    def tokens(self) -> int:
        """Written tokens."""
        return sum(step.written for step in self.steps)

    @property
    def alpha(self) -> float | None:
        """accepted ÷ judged; None if nothing was judged."""
        judged = sum(step.judged for step in self.steps)
        return sum(step.accepted for step in self.steps) / judged if judged else None

    @property
    def per_token(self) -> tuple[float, ...]:
        """Seconds per written token, of each repeat."""
        return tuple(sum(row) / self.tokens for row in self.seconds)

    @property
    def own(self) -> float:
        """Seconds a round of the loop itself: all but the passes; not below 0."""
        own = statistics.median(sum(row) - bare for row, bare in zip(self.seconds, self.bare))
        return max(0.0, own) / len(self.steps)


@dataclass(frozen=True)
class Machine:
    """A measurement of one pair on one machine; the first run is plain decoding."""

    source: Source
    prompt: str  # name of the preset that the runs continued
    target: PassTimes
    draft: PassTimes
    runs: tuple[TimedRun, ...]
    schema: int = field(default=SCHEMA)

    def __post_init__(self) -> None:
        for times in (self.target, self.draft):
            counts = times.tokens
            _need(len(counts) == len(times.seconds) > 1, "a pass time for every number of tokens")
            _need(counts[0] == 1 and list(counts) == sorted(set(counts)), "1, then more, tokens")
            _need(counts[-1] <= 4096, "a pass over more than 4096 tokens")
            _times(times.seconds)
        _need(0 < len(self.runs) <= MOST_RUNS and self.runs[0].k == 0, "plain decoding comes first")
        _need(len(self.runs) > 1, "a run with a drafter is missing")
        asked = [(run.drafter, run.k) for run in self.runs]
        _need(len(set(asked)) == len(asked), "a drafter's k stands there twice")
        _need(all(run.k < self.target.tokens[-1] for run in self.runs), "a k beyond the passes")

    @property
    def plain(self) -> TimedRun:
        """Plain decoding."""
        return self.runs[0]

    @property
    def k_most(self) -> int:
        """The largest k whose verify pass was timed."""
        return self.target.tokens[-1] - 1

    def of(self, drafter: str) -> tuple[TimedRun, ...]:
        """The runs of one drafter, by k."""
        return tuple(sorted((r for r in self.runs if r.drafter == drafter), key=lambda r: r.k))

    def to_json(self) -> str:
        """As JSON text; `from_json` gives back an equal measurement."""
        return json.dumps(asdict(self), ensure_ascii=False, indent=1)

    @classmethod
    def from_json(cls, text: str | bytes) -> Machine:
        """Read and check a measurement; ValueError says which field is wrong and why."""
        data = parse(text)
        if not isinstance(data, dict) or data.get("schema") != SCHEMA:
            raise ValueError(f"This is not a machine's measurement of schema {SCHEMA}.")
        return build(cls, data, "machine")


def step_of(r: Round) -> Step:
    """A round of a trace without its tokens; drafts that the end of the text cut away are gone.

    A round that wrote fewer tokens than it accepted cannot be: the cut takes them from both.
    """
    return Step(len(r.drafted), r.accepted, r.rejected, len(r.written), r.draft_passes)


def seconds_of(times: PassTimes, n: float | np.ndarray) -> float | np.ndarray:
    """Seconds of a pass over n tokens, on straight lines between those timed; NaN beyond them.

    Example:
        >>> seconds_of(PassTimes((1, 3), (2.0, 3.0), 8, 1), 2)
        2.5
    """
    found = np.interp(n, times.tokens, times.seconds, left=np.nan, right=np.nan)
    return float(found) if np.ndim(found) == 0 else found


def v_between(times: PassTimes) -> tuple[float, ...]:
    """v on each stretch between two timed passes: what one more token costs ÷ a pass over one.

    Example:
        >>> v_between(PassTimes((1, 3, 5), (2.0, 2.5, 4.5), 8, 1))
        (0.125, 0.5)
    """
    gained = np.diff(times.seconds) / np.diff(times.tokens) / times.seconds[0]
    return tuple(float(x) for x in gained)


def _times(seconds: Iterable[float]) -> None:
    _need(all(0 < s <= MOST_SECONDS for s in seconds), "seconds that no pass can take")


def _need(holds: bool, wrong: str) -> None:
    if not holds:
        raise ValueError(f"{wrong}.")
