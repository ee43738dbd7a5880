"""A run on a clock: when each round drafts, verifies and accepts, and what is written by then."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from specdec.trace import Trace


@dataclass(frozen=True)
class Timeline:
    """Seconds since the first round began, the prefill left out; a row a round."""

    marks: np.ndarray  # [rounds, 4] a round begins, verifies, accepts, ends
    written: np.ndarray  # [rounds] tokens when it ends

    @property
    def end(self) -> float:
        """When the last round is over; 0 where there is none."""
        return float(self.marks[-1, 3]) if len(self.marks) else 0.0

    def tokens_at(self, time: float) -> int:
        """Tokens written by then: a round's tokens come together, at its end."""
        over = int(np.searchsorted(self.marks[:, 3], time, side="right"))
        return int(self.written[over - 1]) if over else 0


def timeline(trace: Trace) -> Timeline:
    """The rounds of a trace one after another, by the seconds that each of its phases took."""
    parts = [[r.seconds.draft, r.seconds.verify, r.seconds.accept] for r in trace.rounds]
    steps = np.cumsum(np.array(parts, float).reshape(-1))  # [3 rounds] the end of every phase
    ends = steps.reshape(-1, 3)
    begins = np.concatenate([[0.0], ends[:-1, 2]])[: len(ends)]
    written = np.cumsum([len(r.written) for r in trace.rounds], dtype=int)
    return Timeline(np.column_stack([begins, ends]), written)
