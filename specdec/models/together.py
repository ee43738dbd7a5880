"""One pass for several runs: their rows share the weights, each sequence its own cache alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import torch

if TYPE_CHECKING:
    from specdec.models.scorer import LlamaScorer


def score_together(
    scorers: Sequence[LlamaScorer],
    tokens: Sequence[Sequence[int]],
    parents: Sequence[Sequence[int] | None],
) -> list[np.ndarray]:
    """What `scorer.score(tokens, parents)` gives each of them [n, v], by one pass of their model.

    The rows stand one behind another without padding, so lengths may be as ragged as they are.
    ValueError, with no cache changed, if one of them cannot be scored.
    """
    model = scorers[0].model
    if any(scorer.model is not model for scorer in scorers):
        raise ValueError("The scorers are of several models; a pass is of one.")
    with torch.inference_mode():
        ids, positions, slots, trees = zip(
            *(s.begin(own, parent) for s, own, parent in zip(scorers, tokens, parents))
        )
        hidden = model.forward(torch.cat(ids), torch.cat(positions), *slots)
        logits = model.logits(hidden).float().cpu().numpy()
        ends = np.cumsum([slot.rows for slot in slots])
        parts = []
        for scorer, slot, tree, end in zip(scorers, slots, trees, ends):
            rows = slice(end - slot.rows, end - slot.rows + len(tree))  # without its padding
            scorer.end(slot, tree, hidden[rows])
            parts.append(logits[rows])
    return parts
