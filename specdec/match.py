"""Sampler-match: the target draws every token itself, and keeps a drafted one that is the same.

Right for any drafter, since only the target's own draws are ever written; but two draws meet with
chance Σ p·q, less than the Σ min(p, q) of the ratio test. q is not looked at: a draft x is kept
with chance p(x), and what is left is p without x, as for a drafter that was sure of x.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from specdec.arithmetic import Law, one_hot
from specdec.law import draw


def match_round(
    p_rows: Sequence[Law], draft: Sequence[Any], uniforms: Sequence[float]
) -> tuple[int, Law]:
    """(drafted tokens kept, law of the next one), which is certain where a draw was another token.

    With the uniforms of plain decoding this writes what plain decoding writes, token for token.

    Example:
        >>> p = np.array([0.5, 0.5])
        >>> match_round([p, p, p], [0, 1], [0.1, 0.2])  # draws 0, then 0
        (1, array([1., 0.]))
    """
    for i, (p, x, u) in enumerate(zip(p_rows, draft, uniforms)):
        own = target_draw(p, u)
        if own != x:
            return i, one_hot(p, own)
    return len(draft), p_rows[len(draft)]


def target_draw(p: Law, u: float) -> Any:
    """The token that the target draws with u: inverse CDF in id order."""
    if not isinstance(p, Mapping):
        return draw(p, u)
    return list(p)[draw(np.array(list(p.values()), dtype=object), u)]
