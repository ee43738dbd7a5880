"""From what the arms did to the figures of a table: speeds, rates, and whether the texts agree."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from specdec.bench_arms import Judged, Output
from specdec.compare import check, near_tie
from specdec.measure import Costs, predicted_speedup
from specdec.trace import Trace

Outputs = Sequence[Sequence[Output]]  # [repeats][prompts]


@dataclass(frozen=True)
class Result:
    """What an arm did with all prompts; its speed is told against our fastest plain decoding."""

    name: str
    tokens_per_s: float
    speedup: float  # median over repeats of (our plain seconds per token ÷ this arm's)
    spread: tuple[float, float]  # smallest and largest of these
    predicted: float | None  # the same by the closed forms, of our own speculation
    alpha: float | None
    draft_yield: float | None
    per_position: tuple[float, ...]
    tokens_per_pass: float
    target_passes: int
    draft_passes: int
    ms_per_pass: float  # all seconds ÷ target passes
    equal: bool  # to plain decoding, every prompt; ours at one fixed shape where texts part
    parted: int  # prompts whose text is not plain decoding's, token for token
    gap: float | None  # the most that the target's two best logits lie apart where texts part


def result(
    pair: Any,
    prompts: Sequence[Sequence[int]],
    name: str,
    mine: Outputs,
    plain: Outputs,
    costs: Costs,
) -> Result:
    """The figures of an arm from all its outputs, plain decoding's beside them."""
    tokens, target_passes = (_total(mine[-1], x) for x in ("tokens", "target_passes"))
    seconds = [_total(turn, "seconds") for turn in mine]
    beside = [_total(turn, "seconds") / _total(turn, "tokens") for turn in plain]
    ratios = [slow / (fast / tokens) for slow, fast in zip(beside, seconds)]
    trace = pooled(mine[-1])
    found = (trace.alpha, trace.draft_yield, trace.per_position) if trace else rates(mine[-1])
    equal, gaps = agreement(pair, prompts, mine[-1], plain[-1])
    return Result(
        name,
        tokens / _seconds(mine),
        statistics.median(ratios),
        (min(ratios), max(ratios)),
        predicted(mine, plain, costs),
        *found,
        tokens / target_passes,
        target_passes,
        _total(mine[-1], "draft_passes"),
        _seconds(mine) / target_passes * 1e3,
        equal,
        len(gaps),
        max(gaps, default=None),
    )


def pooled(outputs: Sequence[Output]) -> Trace | None:
    """The rounds of all runs as one trace, for its rates; None if they left no traces."""
    traces = [output.trace for output in outputs if output.trace]
    if not traces:
        return None
    rounds = tuple(r for trace in traces for r in trace.rounds)
    return Trace((), rounds, traces[0].settings, traces[0].source)


def rates(outputs: Sequence[Output]) -> tuple[float | None, float | None, tuple[float, ...]]:
    """α, draft yield, and the share of i-th drafted tokens that were accepted; None: no draft.

    Example:
        >>> rates([Output((1, 2, 3, 4, 5), 1.0, 2, judged=(Judged(1, 1, 2), Judged(2, 0, 2)))])
        (0.75, 0.75, (1.0, 0.5))
    """
    drafts: list[Judged] = [judged for output in outputs for judged in output.judged]
    accepted, rejected, drafted = (
        sum(getattr(d, name) for d in drafts) for name in ("accepted", "rejected", "drafted")
    )
    each = tuple(
        sum(d.accepted > i for d in drafts) / sum(d.drafted > i for d in drafts)
        for i in range(max((d.drafted for d in drafts), default=0))
    )
    judged = accepted + rejected
    return accepted / judged if judged else None, accepted / drafted if drafted else None, each


def predicted(mine: Outputs, plain: Outputs, costs: Costs) -> float | None:
    """The speed-up by the closed forms at the arm's own α, its prefills taken as they were.

    `costs` are those of the pair; a pass of any drafter but the small model costs what it took.
    None for plain decoding, for trees, and for arms that leave no trace.
    """
    trace = pooled(mine[-1])
    if trace and trace.draft_passes and trace.settings.drafter != "model":
        costs = replace(costs, draft=trace.seconds.draft / trace.draft_passes)
    decoding = trace and predicted_speedup(trace, costs)
    if decoding is None:
        return None
    before, whole = _prefill(plain), _seconds(plain)
    written, beside = _total(mine[-1], "tokens"), _total(plain[-1], "tokens")
    seconds = _prefill(mine) + (whole - before) / decoding * written / beside
    return (whole / beside) / (seconds / written)


def agreement(
    pair: Any, prompts: Sequence[Sequence[int]], mine: Sequence[Output], plain: Sequence[Output]
) -> tuple[bool, list[float]]:
    """Whether all texts are plain decoding's, and how near a tie the target was where one parts.

    A run of ours that parts is right if it does not at one fixed shape.
    """
    equal, gaps = True, []
    for prompt, a, b in zip(prompts, mine, plain):
        if a.tokens == b.tokens:
            continue
        if a.trace is None:
            equal = False
        else:
            fixed = check(pair, prompt, a.trace, b.trace).fixed
            equal &= fixed is not None and fixed.equal
        same = [x == y for x, y in zip(a.tokens, b.tokens)]
        gaps.append(near_tie(pair, b.trace, [*same, False].index(False)).gap)
    return equal, gaps


def medians(measured: Sequence[Costs]) -> Costs:
    """The middle of several measurements, each time by itself."""
    times = zip(*((c.target, c.verify, c.draft) for c in measured))
    return Costs(measured[0].k, *map(statistics.median, times))


def _total(outputs: Iterable[Output], name: str) -> float:
    """The sum of a field over the prompts; of tokens, how many."""
    values = [getattr(output, name) for output in outputs]
    return sum(len(x) if name == "tokens" else x for x in values)


def _seconds(outputs: Outputs) -> float:
    return statistics.median(_total(turn, "seconds") for turn in outputs)


def _prefill(outputs: Outputs) -> float:
    return statistics.median(sum(o.trace.seconds.prefill for o in turn) for turn in outputs)
