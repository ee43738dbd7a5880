"""A drafter in the engine: what the target accepts of it at every depth, and what that costs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from specdec import run
from specdec.decode import speculate
from specdec.distill.topics import Question
from specdec.drafters import Heads, ModelDrafter
from specdec.law import Sampling
from specdec.measure import costs_of, measured_speedup, predicted_speedup
from specdec.trace import Round

SAMPLED = Sampling(temperature=1.0)


@dataclass(frozen=True)
class Counts:
    """Of one run, at every depth: rounds that drafted so far, drafts judged, drafts accepted, and
    Σ min(p, q) summed over the judged ones. Drafts beyond a text's end are in none of them."""

    drafted: tuple[int, ...]
    judged: tuple[int, ...]
    accepted: tuple[int, ...]
    overlap: tuple[float, ...]
    tokens: int
    passes: int


@dataclass(frozen=True)
class Greedy:
    """A greedy run beside plain decoding of the same prompt; seconds are this machine's."""

    counts: Counts
    equal: bool  # the text is plain decoding's
    c: float | None
    v: float | None
    measured: float | None  # speed-up
    predicted: float | None


def greedy(pair: Any, drafter: str, question: Question, k: int, n: int) -> Greedy:
    """Both runs, one after the other."""
    how = {"chat": question.chat, "max_new_tokens": n, "tops": 0}
    slow = run.plain(pair, question.prompt, **how)
    fast = run.generate(pair, question.prompt, k=k, drafter=drafter, **how)
    costs = costs_of(fast, slow)
    counts = count(fast.rounds, k, np.zeros(k))
    times = (costs.c, costs.v, measured_speedup(fast, slow), predicted_speedup(fast, costs))
    return Greedy(counts, fast.token_ids == slow.token_ids, *times)


def sampled(pair: Any, drafter: str, question: Question, k: int, n: int, seed: int) -> Counts:
    """A run at temperature 1, where every judged draft's Σ min(p, q) is taken of the full laws."""
    ids = run.encode(pair.tokenizer, question.prompt, chat=question.chat)
    scorer, overlap, rounds = Watched(pair.target.scorer()), np.zeros(k), []
    if drafter == "heads":
        watched = Watched(Heads(scorer, pair.heads))
    else:
        watched = Watched(ModelDrafter(pair.draft.scorer(), pair.target.vocab_size))
    loop = speculate(
        scorer,
        watched,
        ids,
        k=k,
        sampling=SAMPLED,
        max_new_tokens=n,
        stop_ids=pair.stop_ids,
        rng=seed,
        tops=0,
    )
    for r in loop:
        rounds.append(r)
        for depth in range(judged(r)):
            p = SAMPLED.law(scorer.last[depth - len(r.drafted) - 1])
            overlap[depth] += np.minimum(p, watched.last.laws[depth]).sum()
    scorer.close()
    watched.close()
    return count(rounds, k, overlap)


class Watched:
    """A scorer or a drafter that keeps what it gave last."""

    def __init__(self, inner: Any) -> None:
        self._inner, self.last = inner, None

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def score(self, *what: Any, **how: Any) -> np.ndarray:
        """The scorer's logits."""
        self.last = self._inner.score(*what, **how)
        return self.last

    def propose(self, *what: Any, **how: Any) -> Any:
        """The drafter's draft."""
        self.last = self._inner.propose(*what, **how)
        return self.last


def judged(r: Round) -> int:
    """How many of a round's drafts were accepted or rejected."""
    return sum(token.verdict != "discarded" for token in r.drafted)


def count(rounds: Sequence[Round], k: int, overlap: np.ndarray) -> Counts:
    """Sums of these rounds."""
    some = [r for r in rounds if r.drafted]
    at = range(k)
    return Counts(
        tuple(sum(r.counted > i for r in some) for i in at),
        tuple(sum(judged(r) > i for r in some) for i in at),
        tuple(sum(r.accepted > i for r in some) for i in at),
        tuple(overlap.tolist()),
        sum(len(r.written) for r in rounds),
        len(rounds),
    )
