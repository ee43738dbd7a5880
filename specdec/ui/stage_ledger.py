"""The ledger of both caches as the stage's browser side gets it."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from specdec.ledger import Cells, Sums, ledger, sums
from specdec.trace import Trace


def wire(trace: Trace) -> dict[str, Any]:
    """A row for every round with running totals, and the bytes of a cached token if known."""
    entries, memory = ledger(trace), trace.source.memory
    target = [entry.target for entry in entries]
    drafter = [entry.drafter for entry in entries]
    return {
        "bytes": memory and {"target": memory.target_token, "drafter": memory.drafter_token},
        "rounds": [
            {"target": _cells(one, total), "drafter": _cells(two, also)}
            for one, total, two, also in zip(target, sums(target), drafter, sums(drafter))
        ],
    }


def _cells(cells: Cells | None, total: Sums) -> dict[str, Any] | None:
    if cells is None:
        return None
    counted = ("peak", "fed", "kept", "rolled_back")
    return asdict(cells) | {n: getattr(cells, n) for n in counted} | {"sum": asdict(total)}
