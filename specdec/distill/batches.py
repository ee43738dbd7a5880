"""Texts as tensors to train on, in an order that a stopped training takes up again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from specdec.distill.texts import Text
from specdec.distill.vocabulary import DraftVocabulary


@dataclass(frozen=True, eq=False)
class Batch:
    """B texts, padded on the right to L tokens; a law stands at the token that it is the law of."""

    ids: Tensor  # [B, L]
    sizes: Tensor  # [B] tokens, prompt included
    first: Tensor  # [B] tokens of the prompt
    own: Tensor  # [B, L] columns of the ids in the draft vocabulary; -1: none
    columns: Tensor  # [B, L, 8] columns of the target's likeliest ids; -1: none
    p: Tensor  # [B, L, 8] their probabilities at temperature 1
    features: Tensor | None = None  # [B, L, 1 + taps, width]


@dataclass(frozen=True)
class Place:
    """Where a training is in its data: which turn over all texts, how many of them are behind."""

    epoch: int = 0
    at: int = 0


def take(n: int, place: Place, size: int, seed: int) -> tuple[np.ndarray, Place]:
    """Which of n texts come next, and the place after them. Every turn has its own order."""
    order = np.random.default_rng([seed, 4, place.epoch]).permutation(n)
    chosen, end = order[place.at : place.at + size], place.at + size
    return chosen, Place(place.epoch, end) if end < n else Place(place.epoch + 1)


def batch_of(
    texts: Sequence[Text],
    vocabulary: DraftVocabulary,
    features: Callable[[Sequence[Text]], list[np.ndarray]] | None,
    device: torch.device,
) -> Batch:
    """These texts as one batch; `features(texts)` gives [n, 1 + taps, width] of each."""
    columns, tops = vocabulary.columns, texts[0].top.shape[1]
    longest = max(map(len, texts))
    shape = (len(texts), longest)
    ids, own = np.zeros(shape, np.int64), np.full(shape, -1)
    top, p = np.full((*shape, tops), -1), np.zeros((*shape, tops), np.float32)
    for i, text in enumerate(texts):
        written = slice(len(text.prompt), len(text))
        ids[i, : len(text)], own[i, : len(text)] = text.ids, columns[text.ids]
        top[i, written], p[i, written] = columns[text.top.astype(np.int64)], text.p
    rows = None
    if features is not None:
        found = features(texts)
        rows = torch.zeros(*shape, *found[0].shape[1:])
        for i, each in enumerate(found):
            rows[i, : len(each)] = torch.from_numpy(np.array(each, np.float32))
        rows = rows.to(device)
    sizes, first = ([f(text) for text in texts] for f in (len, lambda text: len(text.prompt)))
    parts = (ids, sizes, first, own, top, p)
    return Batch(*(torch.as_tensor(np.asarray(part), device=device) for part in parts), rows)


def can_start(text: Text) -> bool:
    """Whether a text has a token that heads can predict: one written, and two before it."""
    return len(text.written) >= 1 and len(text) >= 3


def starts(texts: Sequence[Text], most: int, rng: np.random.Generator) -> Tensor:
    """At most `most` entries of each text to predict from [B, most], ascending; -1: none.

    From entry s the first prediction is of token s + 2, which must be a written one.
    """
    found = np.full((len(texts), most), -1)
    for row, text in zip(found, texts):
        possible = np.arange(max(0, len(text.prompt) - 2), len(text) - 2)
        chosen = np.sort(rng.permutation(possible)[:most])
        row[: len(chosen)] = chosen
    return torch.from_numpy(found)
