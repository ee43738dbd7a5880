"""Toy models: the next word from a lookup table, or drawn once and for all from a seed.

They go through the real engine as scorers: a toy round is a round like any other.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from specdec.decode import speculate
from specdec.drafters import ModelDrafter
from specdec.law import Sampling
from specdec.text import dress
from specdec.trace import Round, Settings, Source, Token, Trace

END = "<end>"
WORDS = ("the", "kiln", "held", "its", "heat", "and", "cooled", "slowly", "all", "night")
Words = Sequence[str]


class ToyModel:
    """A deterministic model: words so far → next word, over a known vocabulary."""

    def __init__(self, following: Callable[[Words], str], vocab: Sequence[str]) -> None:
        self.following, self.vocab = following, tuple(vocab)

    def __call__(self, words: Words) -> str:
        return self.following(words)


def table(mapping: Mapping[str, str]) -> ToyModel:
    """A model from a table {words so far: next word}; it says "<end>" where the table is silent.

    Example:
        >>> table({"": "the", "the": "kiln"})(["the"])
        'kiln'
    """
    vocab = dict.fromkeys([*mapping.values(), END])
    return ToyModel(lambda words: mapping.get(" ".join(words), END), tuple(vocab))


def random_model(
    seed: int,
    follow: ToyModel | None = None,
    agree: float = 0.0,
    vocab: Sequence[str] = ("a", "b", "c", "d"),
) -> ToyModel:
    """A seeded random model; with `follow` it says what that one says with probability `agree`."""

    def following(words: Words) -> str:
        rng = random.Random(f"{seed}|{' '.join(words)}")
        if follow is not None and rng.random() < agree:
            return follow(words)
        return rng.choice(vocab)

    return ToyModel(following, tuple(dict.fromkeys([*vocab, *(follow.vocab if follow else ())])))


class ToyScorer:
    """A toy model as a scorer: certain of its next word. Id 0 is the empty start of a text."""

    def __init__(self, model: ToyModel, vocab: Sequence[str]) -> None:
        self.model, self.vocab, self.vocab_size = model, list(vocab), len(vocab)
        self.words: list[str] = []

    @property
    def length(self) -> int:
        """Cached tokens."""
        return len(self.words)

    def score(self, tokens: Sequence[int], parents: None = None) -> np.ndarray:
        """Logits [n, V]: 0 at the next word, -inf elsewhere."""
        logits = np.full((len(tokens), self.vocab_size), -np.inf)
        for row, token in zip(logits, tokens):
            self.words.append(self.vocab[token])
            row[self.vocab.index(self.model(self.words[1:]))] = 0.0
        return logits

    def rollback(self, length: int) -> None:
        """Keep the first `length` words."""
        del self.words[length:]


def speculative_greedy(
    target: ToyModel,
    draft: ToyModel,
    n_tokens: int,
    k: int = 4,
    scorers: Sequence[Callable[[ToyModel, Sequence[str]], Any]] = (ToyScorer, ToyScorer),
) -> Trace:
    """n_tokens words by greedy speculation on two toy models, from an empty text.

    `scorers`: what makes the target's scorer and the drafter's, from a model and the vocabulary.

    Example:
        >>> model = table({"": "the", "the": "kiln"})
        >>> speculative_greedy(model, model, 2).text
        'the kiln'
    """
    vocab = list(dict.fromkeys(["", *target.vocab, *draft.vocab]))
    loop = speculate(
        scorers[0](target, vocab),
        ModelDrafter(scorers[1](draft, vocab)),
        [0],
        k=k,
        sampling=Sampling(),
        max_new_tokens=n_tokens,
    )
    rounds = tuple(_spell(r, vocab) for r in loop)
    settings = Settings(k, "toy", Sampling(), n_tokens, 0)
    return Trace((Token(0, ""),), rounds, settings, Source("toy", "toy", "toy"), "length")


def _spell(r: Round, vocab: Sequence[str]) -> Round:
    def texts(tokens: Sequence[Token]) -> list[str]:  # position 1 is the first word: no space
        return [" " * (r.start + i > 1) + vocab[token.id] for i, token in enumerate(tokens)]

    return dress(r, texts(r.drafted), texts(r.written), vocab.__getitem__)


def lines(trace: Trace) -> list[str]:
    """What each round did, a line each: words drafted, how many were kept, the text after it."""
    words, result = [], []
    for r in trace.rounds:
        words += [token.text.strip() for token in r.written]
        guess = [token.text.strip() for token in r.drafted]
        result.append(f"drafted {guess} kept {r.accepted} -> {' '.join(words)}")
    return result
