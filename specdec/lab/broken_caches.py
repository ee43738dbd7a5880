"""Three caches that are wrong and do not know it, and one that is too short.

Each says the right length, so the engine's own check passes; what it holds is something else.
They wrap a right scorer. The engine knows none of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from specdec import toy
from specdec.compare import compare
from specdec.models import feed
from specdec.toy import WORDS
from specdec.trace import Trace

PLACES = ("target", "drafter")
State = Literal["right", "stale", "lost"]


@dataclass
class Cell:
    """A token that was fed: still rightly there, there though the text dropped it, or gone though
    the text has it."""

    token: int
    state: State = "right"


class Honest:
    """A scorer that notes what it holds; `length` is what it says, `cells` what is true."""

    def __init__(self, own: Any) -> None:
        self.own, self.length, self.cells = own, 0, []
        self.vocab_size, self.token_ids = own.vocab_size, getattr(own, "token_ids", None)
        self.context = getattr(own, "context", None)

    def feed(self, tokens: Sequence[int]) -> None:
        """Cache tokens without logits."""
        feed(self.own, tokens)
        self._note(tokens)

    def score(self, tokens: Sequence[int], parents: None = None) -> np.ndarray:
        """Logits [n, V] of what follows each token."""
        rows = self.own.score(tokens)
        self._note(tokens)
        return rows

    def rollback(self, length: int) -> None:
        """Forget all but the first `length` tokens."""
        dropped, self.length = self.length - length, length
        self._forget(dropped)

    def close(self) -> None:
        """Free the cache."""
        if hasattr(self.own, "close"):
            self.own.close()

    def _note(self, tokens: Sequence[int], state: State = "right") -> None:
        self.cells += [Cell(int(token), state) for token in tokens]
        self.length += len(tokens)

    def _forget(self, n: int) -> None:
        del self.cells[len(self.cells) - n :]
        self.own.rollback(self.own.length - n)


class NotRolledBack(Honest):
    """Shortens its count and leaves the cells: later tokens go on reading what was rejected."""

    def _forget(self, n: int) -> None:
        for cell in [c for c in self.cells if c.state == "right"][-n:]:
            cell.state = "stale"


class OnceTooOften(Honest):
    """Drops one cell more than it was asked to: a token of the text is never read again."""

    def _forget(self, n: int) -> None:
        super()._forget(n)
        for cell in [c for c in self.cells if c.state == "right"][-1:]:
            cell.state = "lost"
            self.own.rollback(self.own.length - 1)


class OwedForgotten(Honest):
    """Feeds the newest token alone. After a full acceptance two were lacking: one is skipped."""

    def score(self, tokens: Sequence[int], parents: None = None) -> np.ndarray:
        """Logits [1, V]: those of the last token."""
        self._note(tokens[:-1], "lost")
        self._note(tokens[-1:])
        return self.own.score(tokens[-1:])


class TooShort(Honest):
    """Right, but at its end after `context` tokens, as a model is at the end of its positions."""

    def __init__(self, own: Any, context: int) -> None:
        super().__init__(own)
        self.context = context


FAULTS: dict[str, Callable[[Any], Honest]] = {
    "none": Honest,
    "stale": NotRolledBack,
    "twice": OnceTooOften,
    "owed": OwedForgotten,
}


class Broken:
    """A model whose scorers have one of FAULTS; they need room for what they never drop."""

    def __init__(self, model: Any, fault: str) -> None:
        self.model, self.fault, self.made = model, fault, []

    def __getattr__(self, name: str) -> Any:
        return getattr(self.model, name)

    def scorer(self, rows: int | None = None, capacity: int | None = None) -> Honest:
        """A new, empty cache that grows; at a fixed shape, one with room for every draft."""
        room = capacity * rows if rows and capacity else None
        self.made.append(FAULTS[self.fault](self.model.scorer(rows=rows, capacity=room)))
        return self.made[-1]


@dataclass(frozen=True)
class Case:
    """A toy run with one cache broken, beside the right ones."""

    plain: Trace  # the target alone
    right: Trace
    broken: Trace
    cache: Honest  # the broken one, as the run left it

    @property
    def first(self) -> int | None:
        """Index of the first written word that is not the target's own, None if all are."""
        return compare(self.broken, self.plain).first


def run(
    fault: str, where: str, *, n: int = 32, k: int = 4, agree: float = 0.9, seed: int = 0
) -> Case:
    """Greedy speculation on two random toy models whose next word depends on the whole text.

    `where`: "target" or "drafter", whose cache has the fault. `agree`: how often the drafter says
    what the target says, where both have read the same. ValueError for an unknown fault or place,
    and for "owed" in the target, which lacks one token after every round, never two.
    """
    if where not in PLACES or fault not in FAULTS or (fault, where) == ("owed", "target"):
        raise ValueError(f"The lab has no fault {fault!r} in {where!r}.")
    return _run(FAULTS[fault], where, n, k, agree, seed)


def run_short(context: int, *, n: int = 32, k: int = 4, agree: float = 0.9, seed: int = 0) -> Case:
    """The same with a right drafter that ends after `context` tokens."""
    return _run(lambda own: TooShort(own, context), "drafter", n, k, agree, seed)


def _run(
    fault: Callable[[Any], Honest], where: str, n: int, k: int, agree: float, seed: int
) -> Case:
    target = toy.random_model(2 * seed, vocab=WORDS)
    draft = toy.random_model(2 * seed + 1, follow=target, agree=agree, vocab=WORDS)
    made: list[Honest] = []

    def broken(model: toy.ToyModel, vocab: Sequence[str]) -> Honest:
        made.append(fault(toy.ToyScorer(model, vocab)))
        return made[-1]

    scorers = [broken if place == where else toy.ToyScorer for place in PLACES]
    return Case(
        toy.speculative_greedy(target, draft, n, k=0),
        toy.speculative_greedy(target, draft, n, k),
        toy.speculative_greedy(target, draft, n, k, scorers),
        made[0],
    )
