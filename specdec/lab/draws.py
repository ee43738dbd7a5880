"""Rules played out, a million times if need be, and how far from p what they write is."""

from __future__ import annotations

import operator
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from specdec.lab.play import CHUNK, OnePosition, TwoPositions

MOST = 10**6


@dataclass(frozen=True)
class Draws:
    """What was drawn so far, and how far from p it was on the way."""

    n: int  # plays
    counts: tuple[int, ...]  # of each token (or pair)
    accepted: int  # drafts, of all plays
    points: tuple[tuple[int, float], ...]  # (plays, total variation against p), rising


def simulate(table: OnePosition | TwoPositions, n: int, seed: int) -> Iterator[Draws]:
    """The draws so far, after every chunk, up to n plays; stop reading to cancel.

    The numbers come from the seed and the rule alone, and more plays begin with the same ones.
    ValueError for n outside [1, 10⁶] or a negative seed.
    """
    check(n, seed)
    rng = np.random.default_rng([operator.index(seed), *table.stream])
    size, accepted, points, marks = len(table.law), 0, [], points_to(n)
    counts = np.zeros(size, dtype=int)
    for start in range(0, n, CHUNK):
        written, kept = table.play(rng)
        at, end = start, min(start + CHUNK, n)
        for mark in [*(m for m in marks if start < m < end), end]:
            counts = counts + np.bincount(written[at - start : mark - start], minlength=size)
            at = mark
            if mark in marks:
                points.append((mark, float(np.abs(counts / mark - table.law).sum() / 2)))
        accepted += int(kept[: end - start].sum())
        yield Draws(end, tuple(counts.tolist()), accepted, tuple(points))


def points_to(n: int) -> tuple[int, ...]:
    """The numbers of plays at which the error is looked at: ten a decade from 10, and n."""
    decades = (int(10 ** (i / 10)) for i in range(10, 61))
    return (*(m for m in decades if m < n), n)


def check(n: int, seed: int) -> None:
    """ValueError for a number of plays or a seed that the lab does not take."""
    if not 1 <= n <= MOST:
        raise ValueError(f"{n} draws; the lab takes 1 to {MOST}.")
    if seed < 0:
        raise ValueError(f"The seed is {seed}; it must be 0 or more.")
