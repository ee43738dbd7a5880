"""Certainty against what was kept: bins by hand, and an interval by its own equation."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from specdec.calibration import EDGES, Z, bins, gap, wilson

guesses = st.lists(st.tuples(st.floats(0, 1), st.booleans()), max_size=40)


@given(guesses)
def test_every_guess_is_in_one_bin_that_holds_it(found) -> None:
    sure, right = [s for s, _ in found], [r for _, r in found]
    made = bins(sure, right)
    assert [b.low for b in made] == list(EDGES[:-1]) and [b.high for b in made] == list(EDGES[1:])
    assert sum(b.count for b in made) == len(found)
    assert sum(b.right for b in made) == sum(right)
    for b in made:
        mine = [s for s in sure if b.low <= s < b.high or s == b.high == EDGES[-1]]
        assert b.count == len(mine)
        assert b.sure == pytest.approx(np.mean(mine)) if mine else math.isnan(b.sure)
        assert (b.rate is None) == (not mine)


@given(st.integers(1, 60).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_the_ends_of_the_interval_solve_its_equation(case) -> None:
    """Wilson 1927: the shares s with (rate − s)² = z² s(1 − s) / n."""
    right, n = case
    low, high = wilson(right, n)
    assert 0 <= low <= right / n <= high <= 1
    for s in (low, high):
        assert (right / n - s) ** 2 == pytest.approx(Z**2 * s * (1 - s) / n, abs=1e-12)


def test_nothing_counted_says_nothing() -> None:
    assert wilson(0, 0) == (0.0, 1.0)
    assert gap(bins([], [])) is None


def test_the_gap_is_none_for_a_drafter_that_is_right_as_often_as_it_is_sure() -> None:
    honest = bins([0.5, 0.5, 0.9] + [0.9] * 9, [True, False] + [True] * 9 + [False])
    assert gap(honest) == pytest.approx(0.0)
    boasting = bins([1.0] * 4, [True, False, False, False])
    assert gap(boasting) == pytest.approx(0.75)


@pytest.mark.parametrize("wrong", [([0.1], []), ([1.1], [True]), ([-0.1], [True])])
def test_what_is_no_certainty_is_refused(wrong) -> None:
    with pytest.raises(ValueError):
        bins(*wrong)
