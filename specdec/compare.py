"""Where two runs of one prompt part, and how near a tie the target was there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from specdec import run
from specdec.models import feed
from specdec.trace import Trace


@dataclass(frozen=True)
class Comparison:
    """Two runs token by token; `first` is the index where they part, None if they do not."""

    tokens: int  # compared: the shorter run's length, the difference included
    first: int | None

    @property
    def equal(self) -> bool:
        """Whether both wrote the same tokens and stopped together."""
        return self.first is None


@dataclass(frozen=True)
class NearTie:
    """The target's two best logits after a prefix: the gap decides a greedy step."""

    gap: float
    ids: tuple[int, int]


@dataclass(frozen=True)
class Check:
    """Is the speculative text the target's own? `tie` and `fixed` only where the two part."""

    natural: Comparison
    tie: NearTie | None = None
    fixed: Comparison | None = None


def check(pair: Any, prompt: str, trace: Trace, plain: Trace) -> Check:
    """Compare two greedy runs; where they part, measure the tie and repeat both at one shape."""
    natural = compare(trace, plain)
    if natural.equal:
        return Check(natural)
    rows = max(8, -(-(trace.settings.k + 1) // 4) * 4)  # a multiple of 4 with room for k + 1
    again = at_one_shape(pair, prompt, **trace.settings.options() | {"rows": rows})
    return Check(natural, near_tie(pair, plain, natural.first), again)


def compare(a: Trace, b: Trace) -> Comparison:
    """Compare the written tokens; a run that is a shorter prefix parts at its end."""
    xs, ys = a.token_ids, b.token_ids
    n = min(len(xs), len(ys))
    first = next((i for i in range(n) if xs[i] != ys[i]), None)
    if first is None and len(xs) != len(ys):
        first = n
    return Comparison(n if first is None else first + 1, first)


def near_tie(pair: Any, trace: Trace, at: int) -> NearTie:
    """The gap between the two best logits where written token `at` was decided."""
    ids = [token.id for token in trace.prompt] + list(trace.token_ids[:at])
    scorer = pair.target.scorer(capacity=len(ids))
    try:
        feed(scorer, ids[:-1])
        logits = scorer.score(ids[-1:])[-1]
    finally:
        scorer.close()
    second, best = np.argsort(logits, kind="stable")[-2:]
    return NearTie(float(logits[best] - logits[second]), (int(best), int(second)))


def at_one_shape(pair: Any, prompt: str, rows: int = 8, **options: Any) -> Comparison:
    """Speculative and plain decoding again, every target pass at one fixed shape."""
    plain_options = {name: x for name, x in options.items() if name not in ("k", "drafter", "rule")}
    fast = run.generate(pair, prompt, rows=rows, tops=0, **options)
    slow = run.plain(pair, prompt, rows=rows, tops=0, **plain_options)
    return compare(fast, slow)
