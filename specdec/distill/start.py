"""What a training begins with: its texts, its draft vocabulary, its first weights."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from specdec.distill import nets, texts, weights
from specdec.distill.batches import can_start
from specdec.distill.topics import Held, Split, split
from specdec.distill.vocabulary import DraftVocabulary, most_frequent
from specdec.models.vocabulary import read_tokenizer
from specdec.scores import check


@dataclass(frozen=True)
class Drafter:
    """What is to be trained."""

    kind: str  # "heads" or "small"
    vocabulary: int = 8192
    layers: tuple[int, ...] = (0, 1, -1)  # of the target, that a small model begins with
    taps: tuple[int, ...] | None = None  # whose input heads read too; None: two, evenly spread
    init: Path | None = None  # a drafter to begin with instead


def chosen(found: Sequence[texts.Text], folder: Path, held: Held, tokens: float) -> Split:
    """The texts to train on, up to that many tokens, and those held out."""
    found = [text for text in found if can_start(text)]
    prompts = read_tokenizer(folder).batch_decode([[int(i) for i in x.prompt] for x in found])
    parts = split(found, prompts, held)
    train, total = [], 0
    for text in parts.train:
        if total >= tokens:
            break
        train.append(text)
        total += len(text.written)
    return Split(tuple(train), parts.held, parts.left_out, parts.how)


def first_weights(
    config: Any, state: dict[str, torch.Tensor], parts: Split, drafter: Drafter, seed: int
) -> weights.Weights:
    """Those of a file, or the target's own, over the most frequent ids of the texts."""
    if drafter.init is not None:
        first = weights.load(drafter.init)
        if first.kind != drafter.kind:
            raise ValueError(f"{drafter.init} holds the kind {first.kind!r}, not {drafter.kind!r}.")
        return with_taps(first, drafter.taps, config.hidden_size)
    most = most_frequent(parts.train, drafter.vocabulary, config.vocab_size)
    ids, layers = torch.from_numpy(most.ids), config.num_hidden_layers
    if drafter.kind == "small":
        for layer in drafter.layers or (layers,):
            check("layers", layer, -layers <= layer < layers, f"in [{-layers}, {layers})")
        return weights.Weights(nets.first_small(config, state, ids, drafter.layers), ids, (), {})
    taps = drafter.taps
    if taps is None:
        taps = tuple(sorted({layers // 3, 2 * layers // 3} - {0}))
    if any(not 0 <= i < layers for i in taps) or list(taps) != sorted(set(taps)):
        raise ValueError(f"The taps are {taps}; they must ascend, in [0, {layers}).")
    return weights.Weights(nets.first_heads(config, state, ids, taps, seed), ids, taps, {})


def with_taps(first: weights.Weights, taps: tuple[int, ...] | None, width: int) -> weights.Weights:
    """Heads of a file, reading also these layers, of which they make nothing yet."""
    if first.kind != "heads" or taps is None or taps == first.taps:
        return first
    if first.taps:
        raise ValueError(f"The heads already read layers {first.taps}; they cannot read {taps}.")
    mix = {"mix.weight": torch.zeros(width, len(taps) * width)} if taps else {}
    return weights.Weights(first.state | mix, first.ids, taps, first.facts)


def told(parts: Split, vocabulary: DraftVocabulary) -> dict[str, Any]:
    """Facts on the data, for the model card."""
    return {
        "texts": len(parts.train),
        "tokens": texts.written_tokens(parts.train),
        "held_texts": len(parts.held),
        "held_out": parts.how,
        "left_out": parts.left_out,
        "columns": len(vocabulary.ids),
        "coverage": round(vocabulary.coverage(parts.held or parts.train), 5),
    }
