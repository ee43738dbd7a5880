"""The target's pass over a draft, and what its cache keeps of it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from specdec import tree
from specdec.models import Scorer


def verify(
    scorer: Scorer, ids: list[int], tokens: list[int], parents: Sequence[int] | None
) -> np.ndarray:
    """One pass over what the cache lacks of the text `ids` and over all drafted tokens [n].

    Logits [n + 1, V]: what follows the text, and each token. With `parents` these are a tree.
    """
    owed = ids[scorer.length :]
    if parents is None:
        return scorer.score(owed + tokens)[-1 - len(tokens) :]
    whole = [*tree.chain(len(owed)), *(len(owed) + parent for parent in parents)]
    return scorer.score(owed + tokens, whole)[-1 - len(tokens) :]


def keep(scorer: Scorer, owed: int, parents: Sequence[int] | None, path: Sequence[int]) -> None:
    """Of a tree that was fed behind `owed` tokens of the text, cache these nodes' states only.

    A chain needs nothing of the kind: to forget its end is a rollback.
    """
    if parents is not None:
        scorer.keep([*range(owed), *(owed + i for i in path)])
