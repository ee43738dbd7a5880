"""Wasted draft passes: closed form, enumeration, recorded and simulated rounds agree."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from specdec import theory, wasted
from specdec.machine import Step
from specdec.wasted import Ends


def enumerated(alpha: Fraction, k: int) -> tuple[Fraction, Fraction, Fraction]:
    """Means over all 2^k outcomes of k independent tests."""
    kept = failed = gone = Fraction(0)
    for tests in product((True, False), repeat=k):
        chance = Fraction(1)
        for passed in tests:
            chance *= alpha if passed else 1 - alpha
        accepted = (*tests, False).index(False)
        kept += chance * accepted
        failed += chance * (accepted < k)
        gone += chance * max(0, k - accepted - 1)
    return kept, failed, gone


@pytest.mark.parametrize("alpha", [Fraction(0), Fraction(1, 5), Fraction(1, 2), Fraction(1)])
@pytest.mark.parametrize("k", range(9))
def test_the_closed_form_is_the_sum_over_all_outcomes(alpha, k):
    ends = wasted.expected(float(alpha), k)
    exact = enumerated(alpha, k)
    assert (ends.accepted, ends.rejected, ends.discarded) == pytest.approx(
        [float(x) for x in exact], abs=1e-14
    )
    assert ends.wasted == pytest.approx(float(exact[1] + exact[2]), abs=1e-14)


@given(st.floats(0, 1), st.integers(0, 64))
def test_every_draft_pass_has_one_end(alpha, k):
    ends = wasted.expected(alpha, k)
    assert ends.accepted + ends.wasted == pytest.approx(k, abs=1e-9)
    assert ends.wasted == pytest.approx(k + 1 - theory.tokens_per_pass(alpha, k), abs=1e-9)
    assert min(ends.accepted, ends.rejected, ends.discarded) >= 0


def test_arrays_of_k_give_what_each_k_gives():
    ends = wasted.expected(0.3, np.arange(9))
    for k in range(9):
        one = wasted.expected(0.3, k)
        assert ends.accepted[k] == pytest.approx(one.accepted)
        assert (ends.rejected[k], ends.discarded[k]) == pytest.approx((one.rejected, one.discarded))


def test_simulated_rounds_waste_what_is_expected():
    n = 4000
    ends = wasted.counted(wasted.simulated(0.2, 8, n, seed=1))
    mean = wasted.expected(0.2, 8)
    # 4 standard deviations of the mean: accepted has variance below α / (1 − α)² = 0.3125.
    assert ends.accepted / n == pytest.approx(mean.accepted, abs=4 * (0.3125 / n) ** 0.5)
    assert ends.accepted + ends.wasted == 8 * n
    assert ends.rejected / n == pytest.approx(mean.rejected, abs=0.01)


@pytest.mark.parametrize(("alpha", "ends"), [(0.0, Ends(0, 5, 15)), (1.0, Ends(20, 0, 0))])
def test_the_extremes_are_known(alpha, ends):
    assert wasted.counted(wasted.simulated(alpha, 4, 5, seed=0)) == ends


def test_the_share_of_time_is_passes_over_all_passes():
    # 2 rounds, 6 drafts at c + v = 0.25 each: 3.5 passes in all, 4 drafts wasted: 1 pass.
    assert wasted.share_of_time(Ends(2, 2, 2), 2, 0.2, 0.05) == pytest.approx(1 / 3.5)
    assert wasted.share_of_time(Ends(6, 0, 0), 2, 0.2) == 0
    assert wasted.share_of_time(Ends(0, 0, 0), 2, 0.2) == 0


def test_the_map_has_a_cell_for_every_place_of_a_draft():
    steps = (Step(4, 2, 1, 3, 4), Step(2, 2, 0, 3, 2), Step(0, 0, 0, 1, 0))
    assert wasted.cells(steps, 4).T.tolist() == [[1, 1, 2, 3], [1, 1, 0, 0], [0, 0, 0, 0]]
