"""Passes at one fixed shape: what they need, and whether they are bit for bit the same here."""

from __future__ import annotations

from typing import Any

import numpy as np


def check_shape(rows: int | None, capacity: int | None) -> None:
    """ValueError if a scorer cannot be made with these."""
    if rows is not None and (rows < 4 or rows % 4):
        raise ValueError(f"rows is {rows}; it must be a multiple of 4.")
    if rows is not None and capacity is None:
        raise ValueError(f"rows={rows} fixes the shape of a pass, so it needs a capacity too.")
    if capacity is not None and capacity < 1:
        raise ValueError(f"capacity is {capacity}; it must be 1 or more.")


def rows_are_exact(model: Any, rows: int, capacity: int = 256) -> bool:
    """Whether a token's logits have the same bits in every row of a pass of this shape.

    The libraries underneath do not promise it, so whoever relies on it asks first.
    """
    ids = np.random.default_rng(0).integers(model.vocab_size, size=2 * rows)
    scorer = model.scorer(rows, capacity)
    scorer.feed(ids[:rows])
    for token in ids[rows:-1]:
        scorer.score([token])
    seen = []
    for row in range(rows):  # the last token stands in row 0, 1, 2, …
        scorer.rollback(len(ids) - 1 - row)
        seen.append(scorer.score(ids[scorer.length :])[-1])
    scorer.close()
    return all(np.array_equal(seen[0], other) for other in seen)
