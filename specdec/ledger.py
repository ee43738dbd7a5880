"""The ledger of both caches: cells written, kept and rolled back in every round, and the one owed.

A cell holds the keys and values of one token. All of it follows from the lengths in a trace.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from specdec.trace import Round, Trace


@dataclass(frozen=True)
class Cells:
    """One cache in one round, counted in cells."""

    before: int
    reached: tuple[int, ...]  # the length after each pass that wrote cells
    after: int  # what the text kept
    lacked: int = 0  # cells that the target had and this cache had not, before the round …
    owed: int = 0  # … and after it: the next first pass writes them too

    @property
    def peak(self) -> int:
        """The length before the cache is cut back."""
        return max(self.before, self.after, *self.reached)

    @property
    def fed(self) -> int:
        """Cells written in this round."""
        return self.peak - self.before

    @property
    def kept(self) -> int:
        """Those of them that stay."""
        return max(0, self.after - self.before)

    @property
    def rolled_back(self) -> int:
        """Cells that were dropped."""
        return self.peak - self.after


@dataclass(frozen=True)
class Sums:
    """What a cache has seen since the prefill."""

    fed: int = 0
    kept: int = 0
    rolled_back: int = 0


@dataclass(frozen=True)
class Entry:
    """One round in the ledger; the drafter's cells are None if it keeps no cache."""

    target: Cells
    drafter: Cells | None


def ledger(trace: Trace) -> tuple[Entry, ...]:
    """An entry for every round.

    Example:
        >>> from specdec import toy
        >>> model = toy.table({"": "the", "the": "kiln", "the kiln": "held"})
        >>> ledger(toy.speculative_greedy(model, model, 3, k=2))[0].drafter.owed
        1
    """
    return tuple(Entry(_target(r), _drafter(r)) for r in trace.rounds)


def sums(cells: Iterable[Cells | None]) -> tuple[Sums, ...]:
    """Running totals of one cache, one after every round."""
    total, totals = Sums(), []
    for c in cells:
        if c:
            total = Sums(total.fed + c.fed, total.kept + c.kept, total.rolled_back + c.rolled_back)
        totals.append(total)
    return tuple(totals)


def _target(r: Round) -> Cells:
    """One pass over what it lacks and all drafts, so that every draft has a cell."""
    before, after = r.lengths.target
    return Cells(before, (max(before, r.start + len(r.drafted)),), after)


def _drafter(r: Round) -> Cells | None:
    """A pass is fed what was drafted before it: the last draft is never read.

    With fewer passes than drafts they were fed the text alone, or a tree that was dropped again.
    """
    if r.lengths.drafter is None:
        return None
    (before, after), n = r.lengths.drafter, len(r.drafted)
    lacks = (max(0, target - own) for target, own in zip(r.lengths.target, r.lengths.drafter))
    if not (n and r.draft_passes):
        return Cells(before, (), after, *lacks)
    ends = range(r.start, r.start + n) if r.draft_passes >= n else [r.start]
    return Cells(before, tuple(max(before, end) for end in ends), after, *lacks)
