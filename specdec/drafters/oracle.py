"""The two ends of every scale: a drafter that knows the text, and one that knows nothing."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from specdec.drafters import Draft
from specdec.law import Sampling, draw
from specdec.trace import Trace
from specdec.uniforms import DRAFT


class Oracle:
    """Proposes what plain decoding wrote, which it was told: `text` is all of it, prompt included.

    For lessons: no drafter can be better. Where a text departs from the one it knows, it is silent.
    """

    def __init__(self, text: Sequence[int]) -> None:
        self.text = [int(i) for i in text]

    @classmethod
    def of(cls, plain: Trace) -> Oracle:
        """The oracle of a run of plain decoding."""
        return cls([*(token.id for token in plain.prompt), *plain.token_ids])

    def propose(
        self, context: Sequence[int], k: int, sampling: Sampling, uniforms: Callable
    ) -> Draft:
        """The next k tokens of the known text."""
        n = len(context)
        return Draft(self.text[n : n + k] if self.text[:n] == list(context) else [])


class RandomDrafter:
    """Draws from the whole vocabulary, every token as likely as any other: q = 1 / V.

    For lessons: next to nothing is accepted, and the text is the target's all the same.
    """

    def __init__(self, vocab_size: int) -> None:
        if vocab_size < 1:
            raise ValueError(f"vocab_size is {vocab_size}; it must be 1 or more.")
        self.vocab_size = vocab_size

    def propose(
        self, context: Sequence[int], k: int, sampling: Sampling, uniforms: Callable
    ) -> Draft:
        """k tokens; the settings change nothing."""
        laws = np.full((k, self.vocab_size), 1 / self.vocab_size)
        tokens = [draw(law, uniforms(len(context) + i, DRAFT)) for i, law in enumerate(laws)]
        return Draft(tokens, laws)
