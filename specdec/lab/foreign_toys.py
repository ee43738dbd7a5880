"""Toy drafters whose ids are not the target's, and such that only have more or fewer of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

from specdec import toy
from specdec.models import vocabulary
from specdec.toy import WORDS
from specdec.trace import Trace


@dataclass(frozen=True)
class Outcome:
    """A toy run with a foreign or a padded drafter, beside the target alone."""

    title: str
    target_rows: int  # ids that each can score
    drafter_rows: int
    plain: Trace
    speculative: Trace

    @property
    def same_text(self) -> bool:
        """Whether the text is the target's own."""
        return self.plain.token_ids == self.speculative.token_ids


def unchecked(seed: int = 1) -> tuple[Outcome, Outcome]:
    """A toy drafter with the target's ids, and the same one with every word's id moved by one.

    Both have as many ids: a check of sizes sees nothing.
    """

    def moved(model: toy.ToyModel, words: Sequence[str]) -> toy.ToyScorer:
        return toy.ToyScorer(model, [words[0], *words[2:], words[1]])

    return (
        _outcome("the same ids", seed, toy.ToyScorer, toy.ToyScorer),
        _outcome("every id moved by one", seed, toy.ToyScorer, moved),
    )


def padded(seed: int = 1, more: int = 5) -> tuple[Outcome, Outcome]:
    """The same words, with rows of padding in the drafter's table, and in the target's."""

    def wide(model: toy.ToyModel, words: Sequence[str]) -> toy.ToyScorer:
        return toy.ToyScorer(model, [*words, *(f"<pad {i}>" for i in range(more))])

    def fitted(own: Callable, rows: int) -> Callable[[toy.ToyModel, Sequence[str]], Any]:
        def scorer(model: toy.ToyModel, words: Sequence[str]) -> Any:
            cache = own(model, words)
            table = SimpleNamespace(
                vocab_size=cache.vocab_size, token_ids=None, scorer=lambda **_: cache
            )
            return vocabulary.fit(table, len(words) + rows, 0).scorer()

        return scorer

    return (
        _outcome("rows of padding in the drafter", seed, toy.ToyScorer, fitted(wide, 0)),
        _outcome("rows of padding in the target", seed, wide, fitted(toy.ToyScorer, more)),
    )


def _outcome(title: str, seed: int, one: Callable, other: Callable) -> Outcome:
    model = toy.random_model(2 * seed, vocab=WORDS)
    draft = toy.random_model(2 * seed + 1, follow=model, agree=0.9, vocab=WORDS)
    made: list[Any] = []

    def noted(make: Callable) -> Callable[[toy.ToyModel, Sequence[str]], Any]:
        def scorer(model: toy.ToyModel, words: Sequence[str]) -> Any:
            made.append(make(model, words))
            return made[-1]

        return scorer

    plain = toy.speculative_greedy(model, draft, 32, k=0)
    fast = toy.speculative_greedy(model, draft, 32, scorers=(noted(one), noted(other)))
    sizes = (getattr(scorer, "own_size", scorer.vocab_size) for scorer in made)
    return Outcome(title, *sizes, plain, fast)
