"""Whole sequences of a real pair: many short continuations of one prompt, against the exact law.

The first two tokens are drawn hundreds of times by the target alone and by the round loop itself
under each lossless rule. What they should be is computed from the target's own laws.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np

from specdec.decode import speculate
from specdec.drafters import ModelDrafter
from specdec.law import Sampling
from specdec.models import feed
from specdec.rule import RULES
from specdec.run import encode
from specdec.trace import Source, Token

LENGTH, DRAFTED, ROWS = 2, 2, 4  # tokens a continuation, drafts a round, rows of every target pass
PLAIN = "plain"  # the way without a drafter
WAYS = (PLAIN, *RULES)
FILE = "lab.sequences.json"


@dataclass(frozen=True)
class Branch:
    """A token that may come, its chance, and what may come then (none at the last position)."""

    token: Token
    p: float
    then: tuple[tuple[Token, float], ...]


@dataclass(frozen=True)
class Way:
    """What was drawn in one way, in the order of the seeds; drafts accepted and rejected."""

    name: str
    drawn: tuple[tuple[int, int], ...]  # first and second id of each continuation
    accepted: int
    rejected: int

    @property
    def n(self) -> int:
        """Continuations drawn."""
        return len(self.drawn)


@dataclass(frozen=True)
class Sequences:
    """The exact law of two tokens after a prompt, and what was drawn in each way."""

    prompt: str
    sampling: Sampling
    seed: int
    source: Source
    law: tuple[Branch, ...]
    ways: tuple[Way, ...] = ()

    @property
    def cells(self) -> dict[tuple[int, int], float]:
        """Chance of every possible pair of ids."""
        return {(b.token.id, t.id): b.p * p for b in self.law for t, p in b.then}

    def shares(self, way: Way) -> np.ndarray:
        """How often each pair of `cells` was drawn, as shares; they sum to 1 if none is missing."""
        counts = Counter(way.drawn)
        return np.array([counts[pair] / way.n for pair in self.cells])


class Prompted:
    """A scorer that already holds a prompt: every run on it prefills at no cost."""

    def __init__(self, scorer: Any, prompt: Sequence[int]) -> None:
        self._scorer, self._held, self._open = scorer, list(prompt)[:-1], False
        self.vocab_size, self.token_ids = scorer.vocab_size, getattr(scorer, "token_ids", None)
        self.context = getattr(scorer, "context", None)
        feed(scorer, self._held)

    def again(self) -> Prompted:
        """Ready for another run, which will find it empty."""
        self._scorer.rollback(len(self._held))
        self._open = not self._held
        return self

    @property
    def length(self) -> int:
        """Cached tokens, as the present run sees them."""
        return self._scorer.length if self._open else 0

    def feed(self, tokens: Sequence[int]) -> None:
        """The run's prefill, which is there already; ValueError for another prompt."""
        if self._open or list(tokens) != self._held:
            raise ValueError("This scorer holds another prompt.")
        self._open = True

    def score(self, tokens: Sequence[int], parents: None = None) -> np.ndarray:
        """Logits [n, V] after the held prompt."""
        return self._scorer.score(tokens)

    def rollback(self, length: int) -> None:
        """Shorten, as a run does after a round."""
        self._scorer.rollback(length)


def draw(
    pair: Any,
    prompt: str,
    *,
    n: int,
    seed: int,
    sampling: Sampling,
    turn: Callable[[], AbstractContextManager] = nullcontext,
) -> Iterator[Sequences]:
    """What was drawn so far, after every continuation; n in each way. Stop reading to cancel.

    Continuation i has the seed `seed + i` in every way, and every target pass the same shape, so
    sampler-match must give the very pairs of plain decoding. `turn` guards each use of the models.
    ValueError where `sampling` leaves too many pairs to show (it needs a small top_k).
    """
    if not 1 <= sampling.top_k <= 12:
        raise ValueError(f"top_k is {sampling.top_k}; two tokens need 1 to 12, to be shown.")
    ids = encode(pair.tokenizer, prompt, chat=False)
    with turn():
        target = Prompted(pair.target.scorer(rows=ROWS, capacity=len(ids) + 2 * ROWS), ids)
        small = Prompted(pair.draft.scorer(capacity=len(ids) + 2 * ROWS), ids)
        law = exact_law(pair, target, ids[-1], sampling)
    source = Source("live", pair.target.name, pair.draft.name, *pair.hardware)
    done: list[Way] = []
    for name in WAYS:
        for way in _drawn(name, target, small, ids, n, seed, sampling, turn):
            yield Sequences(prompt, sampling, seed, source, law, (*done, way))
        done.append(way)


def exact_law(pair: Any, target: Prompted, last: int, sampling: Sampling) -> tuple[Branch, ...]:
    """The law of two tokens after the held prompt, by one pass for every first token."""

    def ahead(token: int) -> list[tuple[Token, float]]:
        law = sampling.law(target.score([token])[-1])
        return [(Token(int(i), pair.texts.piece(int(i))), float(law[i])) for i in _likely(law)]

    branches, held = [], len(target.again()._held)
    for token, p in ahead(last):
        then = tuple(ahead(token.id))
        target.rollback(held + 1)
        branches.append(Branch(token, p, then))
    return tuple(branches)


def _likely(law: np.ndarray) -> np.ndarray:
    """Ids with mass, likeliest first."""
    ids = np.flatnonzero(law)
    return ids[np.argsort(-law[ids], kind="stable")]


def _drawn(
    name: str, target: Prompted, small: Prompted, ids, n: int, seed: int, sampling, turn
) -> Iterator[Way]:
    drawn, accepted, rejected = (), 0, 0
    speculative = name != PLAIN
    for i in range(n):
        with turn():
            loop = speculate(
                target.again(),
                ModelDrafter(small.again(), target.vocab_size) if speculative else None,
                ids,
                k=DRAFTED if speculative else 0,
                sampling=sampling,
                max_new_tokens=LENGTH,
                rng=seed + i,
                rule=name if speculative else "pq",
                tops=0,
            )
            rounds = list(loop)
        drawn += (tuple(token.id for r in rounds for token in r.written),)
        accepted += sum(r.accepted for r in rounds)
        rejected += sum(r.rejected for r in rounds)
        yield Way(name, drawn, accepted, rejected)
