"""From the ideal speed-up to the measured one, a cause at a time; and what this machine predicts.

All of it comes from a `Machine`: its pass times, its loop's own seconds, and a run's own rounds.
"""

from __future__ import annotations

import statistics
from dataclasses import dataclass

import numpy as np

from specdec import theory
from specdec.independence import tokens_by_position
from specdec.machine import Machine, TimedRun, seconds_of


@dataclass(frozen=True)
class Bar:
    """One cause: the speed-up without and with it."""

    name: str
    before: float
    after: float

    @property
    def change(self) -> float:
        """What the cause adds; below 0 it takes away."""
        return self.after - self.before


@dataclass(frozen=True)
class Waterfall:
    """`start`: free drafts, free checks, independent guesses; the last bar ends at `measured`."""

    start: float
    bars: tuple[Bar, ...]
    measured: float


NAMES = (
    "drafting",
    "verifying",
    "guesses not independent",
    "short drafts, cut at the end",
    "passes inside a run",
    "the loop's own work",
)


def waterfall(machine: Machine, run: TimedRun) -> Waterfall | None:
    """The chain of speed-ups for a run; None if nothing was judged.

    Each link changes one thing: k draft passes are paid; so is the longer verify pass; the tokens
    come from the rate of each position; the drafts are those made, the tokens those written; the
    passes are the run's own, bare; and at last the clock of the whole loop.
    """
    if run.alpha is None:
        return None
    one, draft = machine.target.seconds[0], _draft(machine, run)
    ideal = theory.tokens_per_pass(run.alpha, run.k)
    round_ = seconds_of(machine.target, run.k + 1) + run.k * draft
    drafted = np.array([step.drafted for step in run.steps])
    passes = sum(step.passes for step in run.steps)
    all_ = float(np.sum(seconds_of(machine.target, drafted + 1)) + passes * draft)
    per_token = run.tokens / machine.plain.tokens
    chain = (
        ideal,
        ideal * one / (one + run.k * draft),
        ideal * one / round_,
        tokens_by_position(run.steps, run.k) * one / round_,
        run.tokens * one / all_,
        statistics.median(p / b for p, b in zip(machine.plain.bare, run.bare)) * per_token,
        measured(machine, run)[1],
    )
    bars = tuple(Bar(*bar) for bar in zip(NAMES, chain, chain[1:]))
    return Waterfall(chain[0], bars, chain[-1])


def measured(machine: Machine, run: TimedRun) -> tuple[float, float, float]:
    """Least, median and largest speed-up: plain decoding ÷ run, turn by turn, per token."""
    ratios = [p / s for p, s in zip(machine.plain.per_token, run.per_token)]
    return min(ratios), statistics.median(ratios), max(ratios)


def predicted(machine: Machine, run: TimedRun) -> float | None:
    """The closed form at the run's own α, with this machine's pass times and the loop's own work.

    Each round counts with the draft that it made. None if nothing was judged.
    """
    if run.alpha is None:
        return None
    drafted = np.array([step.drafted for step in run.steps])
    passes = sum(step.passes for step in run.steps)
    tokens = theory.tokens_per_pass(run.alpha, drafted).sum()
    seconds = np.sum(seconds_of(machine.target, drafted + 1)) + passes * _draft(machine, run)
    seconds += run.own * len(drafted)
    return float(tokens * _plain(machine) / seconds)


def share(run: TimedRun) -> float:
    """Share of the rounds that drafted anything: a lookup finds nothing in many."""
    return sum(step.drafted > 0 for step in run.steps) / len(run.steps)


def curve(machine: Machine, run: TimedRun, ks: np.ndarray) -> np.ndarray:
    """The speed-up that this machine predicts at each k, at the run's α; NaN beyond its passes.

    A share of the rounds drafts k tokens, as in the run, the others none; k = 0 is plain: 1.
    """
    drafts, alpha = share(run), run.alpha or 0.0
    tokens = drafts * theory.tokens_per_pass(alpha, ks) + 1 - drafts
    long = seconds_of(machine.target, ks + 1) + ks * _draft(machine, run)
    seconds = drafts * long + (1 - drafts) * machine.target.seconds[0] + run.own
    return np.where(ks == 0, 1.0, tokens * _plain(machine) / seconds)


def best(machine: Machine, run: TimedRun, most: int = 16) -> tuple[int, float]:
    """The k ≤ most with the largest predicted speed-up, and that; 0 where none pays."""
    speeds = curve(machine, run, np.arange(min(most, machine.k_most) + 1))
    return int(np.argmax(speeds)), float(speeds.max())


def c_of(machine: Machine, run: TimedRun) -> float:
    """A drafter pass ÷ a target pass; 0 where no model drafts."""
    return _draft(machine, run) / machine.target.seconds[0]


def _draft(machine: Machine, run: TimedRun) -> float:
    return machine.draft.seconds[0] if run.drafter == "model" else 0.0


def _plain(machine: Machine) -> float:
    """Seconds of a round of plain decoding."""
    return machine.target.seconds[0] + machine.plain.own
