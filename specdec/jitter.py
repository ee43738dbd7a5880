"""Tokens arrive in bursts: the time between one and the next, and its percentiles."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from specdec.machine import TimedRun

PERCENTILES = (50, 90, 99)


@dataclass(frozen=True)
class Waits:
    """Seconds between two tokens: percentiles, mean, and the mean tokens that come at once."""

    p50: float
    p90: float
    p99: float
    mean: float
    burst: float


def waits(run: TimedRun) -> Waits | None:
    """Over all repeats of a run; None if it wrote a single token."""
    found = gaps(run)
    if not found.size:
        return None
    at = np.percentile(found, PERCENTILES)
    return Waits(*map(float, at), float(found.mean()), run.tokens / len(run.steps))


def gaps(run: TimedRun) -> np.ndarray:
    """Seconds before each token but the first of a repeat, whose wait is the prompt's.

    A round's tokens are there together: its first waited for the round, the others not at all.
    """
    repeats = []
    for row in run.seconds:
        times = [[s] + [0.0] * (step.written - 1) for s, step in zip(row, run.steps)]
        repeats += [x for part in times for x in part][1:]
    return np.array(repeats)
