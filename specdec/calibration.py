"""Is a drafter right as often as it is sure? Its certainty, in bins, against what was kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import sqrt

import numpy as np

Z = 1.96  # of a normal law: 95 % lie within
EDGES = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)


@dataclass(frozen=True)
class Bin:
    """Guesses whose certainty lies in [low, high): how many, how many right, how sure."""

    low: float
    high: float
    count: int
    right: int
    sure: float  # mean certainty; NaN where count is 0

    @property
    def rate(self) -> float | None:
        """The share that was right; None where there is none."""
        return self.right / self.count if self.count else None

    @property
    def interval(self) -> tuple[float, float]:
        """Where the true share lies, with 95 % confidence, if guesses were independent."""
        return wilson(self.right, self.count)


def bins(
    sure: Sequence[float], right: Sequence[bool], edges: Sequence[float] = EDGES
) -> tuple[Bin, ...]:
    """Guesses by how sure the drafter was of each [n], in [0, 1]; the last bin has its upper edge.

    ValueError if the two have not the same length, or if a certainty is outside the edges.

    Example:
        >>> [(b.count, b.right) for b in bins([0.1, 0.9, 1.0], [False, True, True], (0, 0.5, 1))]
        [(1, 0), (2, 2)]
    """
    x, y = np.asarray(sure, float), np.asarray(right, bool)
    if x.shape != y.shape:
        raise ValueError(f"{len(x)} certainties and {len(y)} results are no pairs.")
    if x.size and not (edges[0] <= x.min() and x.max() <= edges[-1]):
        raise ValueError(f"A certainty is outside [{edges[0]}, {edges[-1]}].")
    at = np.minimum(np.digitize(x, edges[1:-1]), len(edges) - 2)  # [n]
    return tuple(
        Bin(
            float(low),
            float(high),
            int((at == i).sum()),
            int(y[at == i].sum()),
            float(x[at == i].mean()) if (at == i).any() else float("nan"),
        )
        for i, (low, high) in enumerate(pairwise(edges))
    )


def gap(found: Sequence[Bin]) -> float | None:
    """How far certainty and share lie apart, by the bins' counts ("expected calibration error")."""
    total = sum(b.count for b in found)
    return sum(b.count * abs(b.rate - b.sure) for b in found if b.count) / total if total else None


def wilson(right: int, count: int) -> tuple[float, float]:
    """Wilson's 95 % interval of a share; [0, 1] where nothing was counted.

    Example:
        >>> [round(x, 4) for x in wilson(8, 10)]
        [0.4902, 0.9433]
    """
    if not count:
        return 0.0, 1.0
    share, z2 = right / count, Z * Z
    middle = (share + z2 / (2 * count)) / (1 + z2 / count)
    half = Z * sqrt(share * (1 - share) / count + z2 / (4 * count * count)) / (1 + z2 / count)
    return max(0.0, min(share, middle - half)), min(1.0, max(share, middle + half))
