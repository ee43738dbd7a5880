"""Drafting a chain from any model: a token at a time, each drawn from the law it is judged with."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from specdec.constraint import NothingAllowed
from specdec.drafters import Draft
from specdec.law import Sampling, draw
from specdec.uniforms import DRAFT


def one_by_one(
    after: Callable[[list[int]], np.ndarray],
    context: Sequence[int],
    k: int,
    sampling: Sampling,
    uniforms: Callable,
    *,
    vocab_size: int,
    token_ids: np.ndarray | None = None,
    confidence: float = 0.0,
) -> Draft:
    """k tokens; `after(ids)` gives the logits [v] of what follows, by a pass each time.

    Fewer where nothing that the model knows is allowed, and after a token where it was less certain
    of its favourite than `confidence`. That token stays: to drop it would bend the law.
    """
    ids, laws, passes = list(context), np.zeros((k, vocab_size)), 0
    columns = slice(None) if token_ids is None else token_ids
    for i in range(k):
        logits, passes = after(ids), passes + 1
        try:
            laws[i, columns] = sampling.law(logits, ids, token_ids)
        except NothingAllowed:
            break
        sure = not confidence or sampling.certainty(logits, ids, token_ids) >= confidence
        ids.append(draw(laws[i], uniforms(len(ids), DRAFT)))
        if not sure:
            break
    tokens = ids[len(context) :]
    return Draft(tokens, laws[: len(tokens)], passes=passes)
