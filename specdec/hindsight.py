"""The best k at every place of a text, for one who knows how far each draft would have been right.

No drafter can have this knowledge: it is the bar that an adaptive k is held against.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from specdec.theory import in_range


@dataclass(frozen=True)
class Hindsight:
    """Of every place of a text [n]: the best k, and the target passes from there to the end."""

    k: tuple[int, ...]
    passes: tuple[float, ...]

    @property
    def speedup(self) -> float:
        """How much faster than plain decoding, which takes a pass a token."""
        return len(self.passes) / self.passes[0]


def hindsight(agree: Sequence[int], c: float, v: float = 0.0) -> Hindsight:
    """The k's that write a text in the least time, from its end backwards (dynamic programming).

    agree[i] drafted tokens would be right at place i. A round of k there costs 1 + k·c + k·v target
    passes and writes k + 1 tokens, fewer where the text ends; ties go to the smaller k. ValueError
    for an empty text, a count below 0, c or v outside [0, ∞).

    Example:
        >>> hindsight([2, 0, 0, 0], c=0.5).k, hindsight([2, 0, 0, 0], c=1.0).k
        ((2, 0, 0, 0), (0, 0, 0, 0))
    """
    n = len(agree)
    if not n or min(agree) < 0:
        raise ValueError("A text of one token or more is needed, and counts of 0 or more.")
    each = in_range("c", c, 0.0, np.inf) + in_range("v", v, 0.0, np.inf)
    best, left = [0] * n, np.zeros(n + 1)  # left[i]: the least cost of the text from place i on
    for i in reversed(range(n)):
        ks = np.arange(min(agree[i], n - i) + 1)
        costs = 1 + ks * each + left[np.minimum(i + ks + 1, n)]
        best[i] = int(np.argmax(costs <= costs.min() + 1e-12))
        left[i] = costs[best[i]]
    return Hindsight(tuple(best), tuple(map(float, left[:-1])))


def agreement(proposals: Sequence[Sequence[int]], text: Sequence[int]) -> tuple[int, ...]:
    """How many tokens of the draft for each place of a text [n] are the text's own.

    Example:
        >>> agreement([[1, 2, 9], [9], [3, 4]], [1, 2, 3])
        (2, 0, 1)
    """
    return tuple(
        int(np.cumprod([x == y for x, y in zip(draft, text[i:])], dtype=int).sum())
        for i, draft in enumerate(proposals)
    )
