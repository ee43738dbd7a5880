"""Numbers as markdown."""

from __future__ import annotations

import statistics
from collections.abc import Sequence


def table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """A markdown table, numbers on the right."""
    line = lambda cells: f"| {' | '.join(cells)} |"  # noqa: E731
    return [line(heads), line(["---", *["---:"] * (len(heads) - 1)]), *map(line, rows)]


def spread(values: Sequence[float | None]) -> list[str]:
    """Median, least and most of those that there are."""
    some = [value for value in values if value is not None]
    return [number(f(some) if some else None) for f in (statistics.median, min, max)]


def number(value: float | None) -> str:
    """0.57; n/a where nothing was counted."""
    return "n/a" if value is None else f"{value:.3f}"
