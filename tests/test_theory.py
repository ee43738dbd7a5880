"""The closed forms against exact sums in fractions, scans, and published numbers."""

from __future__ import annotations

from fractions import Fraction
from itertools import accumulate
from math import inf, nan
from operator import mul

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from specdec import theory

ALPHAS = st.one_of(
    st.sampled_from([0.0, 1.0, 1e-300, 0.5, 1 - 2**-53, 1 - 1e-12, 1 - 1e-6]), st.floats(0, 1)
)
KS = st.integers(0, 64)
COSTS = st.one_of(st.sampled_from([0.0, 0.05, 0.5, 1.0]), st.floats(1e-6, 2))


def exact_tokens(alpha: float, k: int) -> Fraction:
    powers = accumulate([Fraction(alpha)] * k, mul, initial=Fraction(1))
    return sum(powers)


def exact_speedups(alpha: float, k_max: int, c: float, v: float) -> list[Fraction]:
    """Of every k up to k_max."""
    powers = accumulate([Fraction(alpha)] * k_max, mul, initial=Fraction(1))
    each = Fraction(c) + Fraction(v)
    return [tokens / (1 + k * each) for k, tokens in enumerate(accumulate(powers))]


@given(ALPHAS, KS)
def test_tokens_per_pass_is_the_sum_of_powers(alpha, k):
    exact = exact_tokens(alpha, k)
    assert abs(Fraction(theory.tokens_per_pass(alpha, k)) - exact) <= exact * Fraction(1, 10**13)


@given(ALPHAS, KS, COSTS, COSTS)
def test_speedup_and_operations_are_the_exact_quotients(alpha, k, c, v):
    exact = exact_speedups(alpha, k, c, v)[k]
    assert abs(Fraction(theory.speedup(alpha, k, c, v)) - exact) <= exact * Fraction(1, 10**13)
    operations = (k * Fraction(c) + k + 1) / exact_tokens(alpha, k)
    got = Fraction(theory.operations_factor(alpha, k, c))
    assert abs(got - operations) <= operations * Fraction(1, 10**13)


@given(KS)
def test_the_ends_of_alpha_are_exact(k):
    assert theory.tokens_per_pass(0.0, k) == 1
    assert theory.tokens_per_pass(1.0, k) == k + 1
    assert theory.speedup(1.0, k, 0.0) == k + 1


def test_no_draft_is_plain_decoding_whatever_the_rest():
    assert np.all(theory.speedup(np.linspace(0, 1, 101), 0, 3.0, 2.0) == 1)


def test_arrays_broadcast_and_numbers_stay_numbers():
    alpha, k = np.linspace(0, 1, 5)[:, None], np.arange(4)
    grid = theory.speedup(alpha, k, 0.1, 0.05)
    assert grid.shape == (5, 4)
    for i, j in np.ndindex(grid.shape):
        assert grid[i, j] == theory.speedup(alpha[i, 0], k[j], 0.1, 0.05)
    assert type(theory.speedup(0.5, 4, 0.1)) is float
    assert type(theory.best_k(0.5, 0.1)) is int
    assert type(theory.has_finite_best_k(0.5, 0.1)) is bool
    assert theory.best_k(alpha, [0.0, 0.1, 2.0]).shape == (5, 3)
    assert theory.tokens_per_pass(np.zeros((0,)), 4).shape == (0,)


@given(ALPHAS, COSTS, COSTS, st.integers(0, 40))
def test_best_k_is_what_a_scan_in_fractions_finds(alpha, c, v, k_max):
    speeds = exact_speedups(alpha, k_max, c, v)
    best = theory.best_k(alpha, c, v, k_max)
    assert 0 <= best <= k_max
    assert speeds[best] >= max(speeds) * (1 - Fraction(1, 10**12))  # what rounding cannot tell
    if Fraction(alpha) <= Fraction(c) + Fraction(v):
        assert best == 0
    earlier = speeds[:best]
    assert not earlier or speeds[best] > max(earlier)


@pytest.mark.parametrize(("alpha", "c", "v"), [(0.5, 0.5, 0.0), (0.9, 0.3, 0.6), (0.3, 0.1, 0.2)])
def test_best_k_of_a_tie_is_the_smaller(alpha, c, v):
    assert theory.best_k(alpha, c, v) == 0  # k = 0 and k = 1 are equally fast


def test_best_k_of_a_tie_further_out_is_the_smaller():
    assert theory.speedup(0.5, 1, 0.2) == theory.speedup(0.5, 2, 0.2) == 1.25  # 1.5/1.2, 1.75/1.4
    assert theory.best_k(0.5, 0.2) == 1


def test_without_a_finite_optimum_best_k_is_the_cap():
    assert theory.best_k(0.01, 0.0, k_max=500) == 500  # α^500 is 0 in floating point
    assert theory.best_k(1.0, 0.9, k_max=300) == 300
    assert theory.best_k(1.0, 1.0) == 0  # every k has speed-up 1: the smallest
    assert theory.best_k(0.0, 0.0) == 0


def test_has_finite_best_k():
    alpha, c = [0.0, 0.5, 1.0, 1.0, 1.0], [0.0, 0.0, 0.0, 0.99, 1.0]
    assert theory.has_finite_best_k(alpha, c).tolist() == [True, False, False, False, True]
    assert theory.has_finite_best_k(1.0, 0.5, 0.5)
    assert not theory.has_finite_best_k(0.3, 0.0, 0.0)


@given(st.floats(0.01, 0.99), COSTS)
def test_some_k_helps_iff_alpha_exceeds_the_cost_and_by_corollary_3_9(alpha, c):
    best = theory.best_k(alpha, c)
    gain = theory.speedup(alpha, best, c)
    if alpha > c * (1 + 1e-9):
        assert best >= 1
        assert gain >= (1 + alpha) / (1 + c) * (1 - 1e-12)
    elif alpha < c:
        assert best == 0


@given(st.integers(1, 64), st.floats(0, 0.5), st.floats(0, 0.5))
def test_break_even_alpha_is_where_the_speedup_crosses_one(k, c, v):
    alpha = theory.break_even_alpha(k, c, v)
    assert 0 <= alpha <= 1
    assert theory.speedup(alpha, k, c, v) == pytest.approx(1, rel=1e-12)
    if alpha > 1e-6:
        assert theory.speedup(alpha * (1 - 1e-6), k, c, v) < 1


@given(ALPHAS, st.integers(1, 64), COSTS)
def test_break_even_v_is_where_the_gain_is_gone(alpha, k, c):
    v = theory.break_even_v(alpha, k, c)
    if v < 0:  # already at v = 0
        assert theory.speedup(alpha, k, c) < 1 + 1e-12
    else:
        assert theory.speedup(alpha, k, c, v) == pytest.approx(1, rel=1e-12)
    assert v <= alpha - c + 1e-12  # k = 1 holds out longest


def test_break_even_v_needs_a_draft():
    assert theory.break_even_v(0.7, 1, 0.2) == pytest.approx(0.5)
    with pytest.raises(ValueError, match="k must be ≥ 1"):
        theory.break_even_v(0.7, 0, 0.2)


def test_break_even_alpha_at_the_ends():
    assert theory.break_even_alpha(0, 5.0) == 0  # k = 0 is plain decoding
    assert theory.break_even_alpha(7, 0.0) == 0
    assert theory.break_even_alpha(7, 1.0) == 1
    assert theory.break_even_alpha(7, 0.4, 0.6) == 1
    assert theory.break_even_alpha(7, 1.01) is None
    assert np.array_equal(theory.break_even_alpha(1, [0.5, 2.0]), [0.5, nan], equal_nan=True)


@given(ALPHAS, st.integers(1, 64))
def test_alpha_from_tokens_per_pass_is_the_inverse(alpha, k):
    tokens = theory.tokens_per_pass(alpha, k)
    back = theory.alpha_from_tokens_per_pass(tokens, k)
    assert theory.tokens_per_pass(back, k) == pytest.approx(tokens, rel=1e-12)
    assert back == pytest.approx(alpha, abs=1e-12)


def test_the_examples_of_the_article():
    tokens = theory.tokens_per_pass([0.2, 0.8, 0.95], 4)
    assert np.round(tokens, 2).tolist() == [1.25, 3.36, 4.52]
    speeds = theory.speedup([0.2, 0.8, 0.95], 4, [0.05, 0.05, 0.5])
    assert np.round(speeds, 2).tolist() == [1.04, 2.8, 1.51]


def test_a_good_drafter_that_costs_half_a_pass_loses():
    assert round(theory.tokens_per_pass(0.7, 4), 3) == 2.773
    assert round(theory.speedup(0.7, 4, 0.5), 2) == 0.92


@pytest.mark.parametrize(
    ("alpha", "k", "operations", "speed"),
    [
        (0.6, 2, 1.53, 1.96),
        (0.7, 3, 1.58, 2.53),
        (0.8, 2, 1.23, 2.44),
        (0.8, 5, 1.63, 3.69),
        (0.9, 2, 1.11, 2.71),
        (0.9, 10, 1.60, 6.86),
    ],
)
def test_table_1_of_leviathan_et_al(alpha, k, operations, speed):
    assert round(theory.operations_factor(alpha, k, 0.0), 2) == operations
    assert round(theory.speedup(alpha, k, 0.0), 2) == speed


def test_the_grid_of_best_k():
    alpha = [0.5, 0.6, 0.7, 0.8, 0.9]
    published = {
        0.05: ([3, 4, 6, 8, 13], [1.63, 1.92, 2.35, 3.09, 4.67]),
        0.1: ([2, 3, 4, 6, 10], [1.46, 1.67, 1.98, 2.47, 3.43]),
        0.2: ([1, 2, 3, 4, 7], [1.25, 1.40, 1.58, 1.87, 2.37]),
    }
    for c, (ks, speeds) in published.items():
        assert theory.best_k(alpha, c).tolist() == ks
        assert np.round(theory.speedup(alpha, ks, c), 2).tolist() == speeds


BAD = [nan, inf, -inf, -0.1, "much", None, [0.5, nan]]


@pytest.mark.parametrize("bad", BAD)
@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda x: theory.tokens_per_pass(x, 4), "alpha"),
        (lambda x: theory.tokens_per_pass(0.5, x), "k"),
        (lambda x: theory.speedup(0.5, 4, x), "c"),
        (lambda x: theory.speedup(0.5, 4, 0.1, x), "v"),
        (lambda x: theory.best_k(0.5, 0.1, k_max=x), "k_max"),
        (lambda x: theory.has_finite_best_k(x, 0.1), "alpha"),
        (lambda x: theory.break_even_alpha(x, 0.1), "k"),
        (lambda x: theory.operations_factor(0.5, 4, x), "c_ops"),
        (lambda x: theory.alpha_from_tokens_per_pass(x, 4), "tokens"),
    ],
)
def test_a_bad_value_is_named_with_its_range(call, name, bad):
    with pytest.raises(ValueError, match=rf"^{name} must be .*(≥|in \[).* but it is"):
        call(bad)


def test_values_beyond_the_range_of_their_neighbours():
    with pytest.raises(ValueError, match="alpha must be in .0, 1., but it is 1.5"):
        theory.speedup(1.5, 4, 0.1)
    with pytest.raises(ValueError, match="k must be a whole number ≥ 0, but it is 2.5"):
        theory.tokens_per_pass(0.5, [1, 2.5])
    with pytest.raises(ValueError, match=r"tokens must be in \[1, k \+ 1\] = \[1, 3\], .* is 4.0"):
        theory.alpha_from_tokens_per_pass([2.0, 4.0], 2)
    with pytest.raises(ValueError, match="k must be ≥ 1, but it is 0"):
        theory.alpha_from_tokens_per_pass(1.0, 0)
