"""What a pass costs on this machine: c, v, and the loop's own share."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from specdec import theory
from specdec.models import feed
from specdec.trace import Trace
from specdec.tree_rounds import branches, parents, path
from specdec.verify import keep, verify


@dataclass(frozen=True)
class PassTimes:
    """Median seconds of one pass over `tokens[i]` tokens, of `repeats` each, `length` cached."""

    tokens: tuple[int, ...]
    seconds: tuple[float, ...]
    length: int
    repeats: int


@dataclass(frozen=True)
class Costs:
    """Seconds of a pass over one token, of one over k + 1, of a draft pass; k is the draft's."""

    k: int
    target: float
    verify: float
    draft: float

    @property
    def c(self) -> float:
        """A drafter pass ÷ a target pass."""
        return self.draft / self.target

    @property
    def v(self) -> float:
        """Extra cost of verifying one more position ÷ a target pass; not below 0."""
        return max(0.0, (self.verify / self.target - 1) / self.k) if self.k else 0.0


def pass_times(
    model: Any,
    tokens: Sequence[int],
    *,
    length: int = 128,
    repeats: int = 15,
    clock: Callable[[], float] = time.perf_counter,
) -> Iterator[PassTimes]:
    """Passes over n tokens for each n, in turn; the times so far after each turn, `repeats` turns.

    Stop reading to cancel.
    """
    scorer = model.scorer(capacity=length + max(tokens))
    try:
        ids = [i % model.vocab_size for i in range(1, length + max(tokens) + 1)]
        feed(scorer, ids[:length])
        times: dict[int, list[float]] = {n: [] for n in tokens}
        for turn in range(-2, repeats):  # the first two warm up
            for n in tokens:
                began = clock()
                scorer.score(ids[length : length + n])
                if turn >= 0:
                    times[n].append(clock() - began)
                scorer.rollback(length)
            if turn >= 0:
                medians = tuple(statistics.median(times[n]) for n in tokens)
                yield PassTimes(tuple(tokens), medians, length, turn + 1)
    finally:
        scorer.close()


def costs(pair: Any, k: int = 4, *, length: int = 128, repeats: int = 15) -> Costs:
    """c and v of a pair at this k, with `length` tokens cached."""
    *_, target = pass_times(pair.target, (1, k + 1), length=length, repeats=repeats)
    *_, draft = pass_times(pair.draft, (1,), length=length, repeats=repeats)
    return Costs(k, target.seconds[0], target.seconds[-1], draft.seconds[0])


def costs_of(fast: Trace, slow: Trace) -> Costs | None:
    """c and v as a speculative run and plain decoding beside it show them; None if one is empty.

    Medians per pass, the loop's own share included: what a reader of these runs waits for. v is
    read off the rounds with the most frequent length of a draft: some drafters stop early.
    """
    if not fast.rounds or not slow.rounds or not fast.settings.k:
        return None
    plain = statistics.median(r.seconds.total for r in slow.rounds)
    lengths = [len(r.drafted) for r in fast.rounds if r.drafted]
    k = statistics.mode(lengths) if lengths else 0
    checks = [r.seconds.verify + r.seconds.accept for r in fast.rounds if len(r.drafted) == k]
    passes = fast.draft_passes
    draft = fast.seconds.draft / passes if passes else 0.0
    return Costs(k, plain, statistics.median(checks), draft)


def measured_speedup(fast: Trace, slow: Trace) -> float | None:
    """Plain seconds per token ÷ speculative seconds per token, prefills left out."""
    if not fast.token_ids or not slow.token_ids or not fast.seconds.total:
        return None
    return (slow.seconds.total / len(slow.token_ids)) / (fast.seconds.total / len(fast.token_ids))


def predicted_speedup(trace: Trace, costs: Costs) -> float | None:
    """The closed forms at the run's own α, each round with the drafts that it made.

    With k drafts in every round it is `theory.speedup`; a lookup drafts less, or nothing, where
    nothing matches. None if no draft was judged, or if one was a tree: these forms are a chain's.
    """
    if trace.alpha is None or any(map(branches, trace.rounds)):
        return None
    drafted = np.array([len(r.drafted) for r in trace.rounds])  # [rounds]
    tokens = theory.tokens_per_pass(trace.alpha, drafted).sum()
    passes = len(drafted) + costs.c * trace.draft_passes + costs.v * drafted.sum()
    return float(tokens / passes)


def priced_speedup(trace: Trace, costs: Costs) -> float | None:
    """What was written ÷ the price of the passes that it took, a tree's as well as a chain's.

    It takes the tokens as they were, and no α; None if nothing was drafted.

    Example: 6 tokens in 2 rounds of 4, c = 0.1 and v = 0.05: 6 / (2 + 0.8 + 0.4) = 1.875.
    """
    drafted = sum(len(r.drafted) for r in trace.rounds)
    if not drafted:
        return None
    paid = trace.target_passes + costs.c * trace.draft_passes + costs.v * drafted
    return len(trace.token_ids) / paid


def replay(target: Any, drafter: Any, trace: Trace, clock: Callable[[], float]) -> float:
    """Seconds of the bare forwards of a recorded run: the same passes, and nothing between them.

    `target` and `drafter` are empty scorers (`drafter` None: the run made no draft passes, or they
    are to be left out). ValueError for a tree with a drafter: the guesses that were grown and not
    kept are in no trace, so neither are the passes over them.
    """
    if drafter is not None and any(map(branches, trace.rounds)):
        raise ValueError("The draft passes of a tree are not in its trace: replay without drafter.")
    ids = [token.id for token in trace.prompt]
    for scorer in (target, drafter):
        if scorer is not None:
            feed(scorer, ids[:-1])
    began = clock()
    for r in trace.rounds:
        draft = [token.id for token in r.drafted]
        for i in range(r.draft_passes if drafter is not None else 0):
            drafter.score((ids + draft[:i])[drafter.length :])
        owed, shape = len(ids) - target.length, parents(r) if branches(r) else None
        verify(target, ids, draft, shape)
        ids += [token.id for token in r.written]
        keep(target, owed, shape, path(r)[: len(r.written) - 1])
        for scorer in (target, drafter):
            if scorer is not None:
                scorer.rollback(min(scorer.length, len(ids) - 1))
    return clock() - began
