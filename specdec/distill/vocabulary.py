"""The draft vocabulary: the ids that the target's own text needs most."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from specdec.distill.texts import Text


@dataclass(frozen=True, eq=False)
class DraftVocabulary:
    """Ids of the target, ascending; every other id has q = 0."""

    ids: np.ndarray  # [v]
    size: int  # of the target's vocabulary

    @property
    def columns(self) -> np.ndarray:
        """Which column each id of the target has [V]; -1: none."""
        columns = np.full(self.size, -1)
        columns[self.ids] = np.arange(len(self.ids))
        return columns

    def coverage(self, texts: Sequence[Text]) -> float:
        """Share of the laws' stored mass that the draft vocabulary holds."""
        mass = masses(texts, self.size)
        return float(mass[self.ids].sum() / mass.sum())


def most_frequent(texts: Sequence[Text], most: int, vocab_size: int) -> DraftVocabulary:
    """The `most` ids with the greatest mass in these texts' laws; the lower id wins a tie."""
    if most < 1:
        raise ValueError(f"vocabulary is {most}; it must be 1 or more.")
    order = np.argsort(-masses(texts, vocab_size), kind="stable")
    return DraftVocabulary(np.sort(order[:most]), vocab_size)


def masses(texts: Sequence[Text], vocab_size: int) -> np.ndarray:
    """Expected uses of each id [V]: the sum of its probabilities over all written tokens."""
    total = np.zeros(vocab_size)
    for text in texts:
        total += np.bincount(
            text.top.ravel().astype(np.int64), text.p.ravel().astype(float), vocab_size
        )
    return total
