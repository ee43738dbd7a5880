"""A run on a clock: marks and counts from the rounds' own seconds."""

from __future__ import annotations

from dataclasses import replace
from itertools import accumulate, pairwise

import numpy as np
import pytest

from specdec import recordings, simulate
from specdec.measure import Costs
from specdec.timeline import timeline

RUN = simulate.trace(0.7, 3, 12, 1, Costs(3, target=1.0, verify=1.3, draft=0.2))


@pytest.mark.parametrize("trace", [RUN, recordings.load("code").speculative], ids=["toy", "real"])
def test_phases_follow_each_other_and_last_as_long_as_they_took(trace) -> None:
    found = timeline(trace)
    for mark, r in zip(found.marks, trace.rounds):
        took = [r.seconds.draft, r.seconds.verify, r.seconds.accept]
        assert np.diff(mark) == pytest.approx(took)
    assert all(one[3] == other[0] for one, other in pairwise(found.marks))
    assert found.marks[0, 0] == 0 and found.end == pytest.approx(trace.seconds.total)
    assert found.written.tolist() == list(accumulate(len(r.written) for r in trace.rounds))


def test_tokens_come_together_at_the_end_of_their_round() -> None:
    found = timeline(RUN)
    for before, (mark, written) in zip([0, *found.written], zip(found.marks, found.written)):
        assert found.tokens_at(mark[3]) == written
        assert found.tokens_at(mark[3] - 1e-6) == found.tokens_at(mark[0]) == before


def test_a_run_without_rounds_takes_no_time() -> None:
    found = timeline(replace(RUN, rounds=()))
    assert found.end == 0.0 and found.tokens_at(9.0) == 0 and found.marks.shape == (0, 4)
