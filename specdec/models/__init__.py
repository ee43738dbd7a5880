"""What can score tokens. NumPy stands at the border, so a table in ten lines can be a model too."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Protocol

import numpy as np

# torch's threads spin while they wait for each other. Where a browser shares two cores with them,
# they spin against the very thread that they wait for: a pass took 784 ms, and 48 ms when they
# soon sleep. Their library reads this once, when torch is first imported.
os.environ.setdefault("GOMP_SPINCOUNT", "1000")


class Scorer(Protocol):
    """A model's cache over one sequence, of which `length` tokens are cached.

    Optional, for those who ask with getattr: `context` (the most tokens of a sequence),
    `token_ids` [v] (a part of the vocabulary, ascending: one logit column for each),
    `feed(tokens)` (score without logits), `features` [n, width] (float32 hidden rows of the last
    call), `keep(entries)` (of the last call's tokens only these: a tree's path), `close()`,
    `prepare(sampling)` (told before a run; ValueError if its logits cannot give that law).
    """

    vocab_size: int  # ids run from 0 to vocab_size - 1
    length: int

    def score(self, tokens: Sequence[int], parents: Sequence[int] | None = None) -> np.ndarray:
        """Feed n tokens after the cached ones; logits float32 [n, v] of what follows each.

        With `parents` the tokens are a tree: token i follows token parents[i] < i of this call,
        or the cached sequence where parents[i] is -1. ValueError if a token, a parent or the
        number of tokens does not fit.
        """
        ...

    def rollback(self, length: int) -> None:
        """Forget all but the first `length` tokens. ValueError if it cannot."""
        ...


def feed(scorer: Scorer, tokens: Sequence[int]) -> None:
    """Cache tokens whose logits nobody reads, without computing them where the model can."""
    if len(tokens):
        getattr(scorer, "feed", scorer.score)(tokens)
