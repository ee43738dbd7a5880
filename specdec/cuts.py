"""Top-k and top-p: which tokens of a law may be drawn at all."""

from __future__ import annotations

import numpy as np


def largest(logits: np.ndarray, k: int) -> np.ndarray:
    """Ids of the k largest logits, ascending; among equals at the edge the lower ids."""
    if k >= len(logits):
        return np.arange(len(logits))
    edge = np.partition(logits, len(logits) - k)[len(logits) - k]
    above, equal = np.flatnonzero(logits > edge), np.flatnonzero(logits == edge)
    return np.sort(np.concatenate([above, equal[: k - len(above)]]))


def nucleus(law: np.ndarray, top_p: float) -> np.ndarray:
    """The smallest set of likeliest tokens with mass ≥ top_p, the rest zeroed; not renormalised.

    Only the head is sorted: tokens above a floor, lowered until their mass suffices.
    """
    floor = 1e-3
    while True:
        ids = np.flatnonzero(law > floor)
        if floor == 0 or law[ids].sum() >= top_p:
            break
        floor = floor / 30 if floor > 1e-12 else 0.0
    ids = ids[np.argsort(-law[ids], kind="stable")]
    kept = ids[: int(np.searchsorted(np.cumsum(law[ids]), top_p)) + 1]
    cut = np.zeros_like(law)
    cut[kept] = law[kept]
    return cut
