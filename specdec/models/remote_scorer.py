"""A run's text before a target on a server, and how many log-probs its law needs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from specdec import tree as trees
from specdec.law import Sampling
from specdec.models import completions
from specdec.models.wire import Connection

if TYPE_CHECKING:
    from specdec.models.remote import RemoteModel

LEAST = 5  # log-probs asked for, so that a tie at the top is seen; every server gives as many


def needed(sampling: Sampling) -> int | None:
    """How many of the likeliest tokens determine the law; None: these alone never do.

    Example:
        >>> needed(Sampling()), needed(Sampling(0.7, top_k=40)), needed(Sampling(0.7, top_p=0.9))
        (1, 40, None)
    """
    if not sampling.plain:
        return None
    return 1 if sampling.greedy else int(sampling.top_k) or None


class RemoteScorer:
    """A Scorer (see `specdec.models`) whose cache is a list of ids: the server keeps the rest."""

    def __init__(self, model: RemoteModel) -> None:
        self.model, self.vocab_size, self.context = model, model.vocab_size, model.context
        self.known, self.least = model.logprobs, 1
        self.missing: float | None = None  # the most mass that a row lacked, where it mattered
        self._partial = False
        self._ids: list[int] = []
        self._start, self._tree = 0, []  # of the last call
        self._connection: Connection | None = model.connect()

    @property
    def length(self) -> int:
        """Tokens of the text so far."""
        return len(self._ids)

    def prepare(self, sampling: Sampling) -> None:
        """Ask for as many log-probs as the law needs. ValueError if none are enough."""
        if sampling.repetition_penalty != 1:
            raise ValueError(
                "repetition_penalty scales logits, and a server tells log-probs: leave it at 1."
            )
        needs, most = needed(sampling), self.model.logprobs
        if needs is None and not self.model.partial:
            raise ValueError(
                "A server tells the log-probs of the likeliest tokens only: decode greedily, or "
                f"with top_k (say {most}) and no penalty, bias or constraint; or allow the law to "
                f"be cut to the likeliest {most} tokens (partial={most})."
            )
        self.least = min(needs or 1, self.vocab_size)
        self.known, self._partial = max(needs or most, LEAST), needs is None

    def score(self, tokens: Sequence[int], parents: Sequence[int] | None = None) -> np.ndarray:
        """Log-probs float32 [n, V] of what follows each token; -inf for all but the likeliest."""
        tokens, tree = self._checked(tokens, parents)
        prompts = [self._ids + [tokens[j] for j in trees.path(tree, i)] for i in range(len(tokens))]
        rows = self.model.rows(prompts, self.known, self.least, self._open())
        self._start, self._tree = len(self._ids), tree
        self._ids += tokens
        if self._partial:
            missing = max(1 - completions.mass(row) for row in rows)
            self.missing = max(self.missing or 0.0, missing)
        return completions.dense(rows, self.vocab_size)

    def feed(self, tokens: Sequence[int]) -> None:
        """Let the server read a prompt, so that its cache knows it before the first draft."""
        tokens, tree = self._checked(tokens, None)
        self.model.complete([self._ids + tokens], 1, self._open())
        self._start, self._tree = len(self._ids), tree
        self._ids += tokens

    def rollback(self, length: int) -> None:
        """Forget all but the first `length` tokens."""
        if not 0 <= length <= len(self._ids):
            raise ValueError(f"Cannot roll back to {length}; it must be in [0, {self.length}].")
        del self._ids[length:]
        self._tree = self._tree[: max(0, length - self._start)]

    def keep(self, entries: Sequence[int]) -> None:
        """Of the last call's tokens keep only these: a path of its tree, from the root down."""
        if any(self._tree[i] != parent for parent, i in zip([-1, *entries], entries)):
            raise ValueError(f"The entries {list(entries)} are no path of the last tree.")
        self._ids[self._start :] = [self._ids[self._start + i] for i in entries]
        self._tree = trees.chain(len(entries))

    def close(self) -> None:
        """Let go of the server; the scorer cannot be used any more."""
        if self._connection:
            self._connection.close()
        self._connection = None

    def _open(self) -> Connection:
        if self._connection is None:
            raise ValueError("This scorer is closed.")
        return self._connection

    def _checked(self, tokens, parents) -> tuple[list[int], list[int]]:
        tokens = [int(token) for token in tokens]
        if not tokens:
            raise ValueError("There are no tokens to score; at least one is needed.")
        wrong = [token for token in tokens if not 0 <= token < self.vocab_size]
        if wrong:
            raise ValueError(f"The id {wrong[0]} is outside the vocabulary [0, {self.vocab_size}).")
        if self.context and self.length + len(tokens) > self.context:
            raise ValueError(
                f"{self.length} tokens and {len(tokens)} more exceed the context of {self.context}."
            )
        if parents is None:
            return tokens, trees.chain(len(tokens))
        trees.check(parents, len(tokens))
        return tokens, list(parents)
