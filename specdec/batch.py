"""Many sequences in one pass: where the room that speculation uses is taken already."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache

import numpy as np

from specdec import theory
from specdec.machine import Machine, TimedRun, seconds_of
from specdec.presets import ASSETS
from specdec.waterfall import share

BATCHES = (1, 2, 4, 8, 16, 32, 64)


@dataclass(frozen=True)
class Series:
    """A published speed-up at each batch size."""

    name: str
    batch: tuple[int, ...]
    speedup: tuple[float, ...]


@dataclass(frozen=True)
class Batches:
    """Published series that share their conditions, in the words of their source."""

    words: str
    mark: str  # as in `published.Source`
    series: tuple[Series, ...]


def speedup(machine: Machine, run: TimedRun, batch: int, ks: np.ndarray) -> np.ndarray:
    """At each k: a pass over B tokens ÷ a round of B sequences, per token, at the run's α.

    A round is one pass over B·(k + 1) tokens and k drafter passes over B. NaN where that is more
    than was timed; k = 0 is 1. The loop's own work is left out.
    """
    drafts, alpha = share(run), run.alpha or 0.0
    tokens = drafts * theory.tokens_per_pass(alpha, ks) + 1 - drafts
    seconds = seconds_of(machine.target, batch * (1 + drafts * ks))
    if run.drafter == "model":
        seconds = seconds + ks * seconds_of(machine.draft, batch)
    return np.where(ks == 0, 1.0, tokens * seconds_of(machine.target, batch) / seconds)


def best(machine: Machine, run: TimedRun, batch: int, most: int = 16) -> tuple[int, float, int]:
    """The best k at this batch, its speed-up, and the largest k that the timed passes reach."""
    speeds = speedup(machine, run, batch, np.arange(most + 1))
    reach = int(np.flatnonzero(np.isfinite(speeds))[-1])
    k = int(np.nanargmax(speeds))
    return k, float(speeds[k]), reach


def ridge(machine: Machine, slack: float = 0.25) -> int:
    """The most tokens of a timed pass that cost at most 1 + slack of a pass over one."""
    one = machine.target.seconds[0]
    within = [
        n for n, s in zip(machine.target.tokens, machine.target.seconds) if s <= one * (1 + slack)
    ]
    return max(within)


@cache
def published() -> Batches:
    """The series of assets/text/batches.toml."""
    data = tomllib.loads((ASSETS / "text" / "batches.toml").read_text(encoding="utf-8"))
    series = (
        Series(row["name"], tuple(data["batch"]), tuple(row["speedup"])) for row in data["series"]
    )
    return Batches(data["words"], data["mark"], tuple(series))
