"""Simulated rounds against the law they are drawn from."""

from __future__ import annotations

import numpy as np
import pytest

from specdec import simulate, theory

N = 40_000


@pytest.mark.parametrize("alpha", [0.3, 0.6, 0.9])
@pytest.mark.parametrize("k", [1, 4, 7])
def test_accepted_counts_follow_the_geometric_law_cut_at_k(alpha, k):
    """Seed 11, n = 40 000: Kolmogorov distance < 1.95/√n, exceeded by chance once in 1000."""
    accepted = simulate.rounds(alpha, k, N, seed=11)
    below = np.cumsum(np.bincount(accepted, minlength=k + 1)) / N
    law = np.append(1 - alpha ** np.arange(1, k + 1), 1.0)  # P(accepted ≤ a)
    assert below.shape == law.shape
    assert np.max(np.abs(below - law)) < 1.95 / N**0.5


@pytest.mark.parametrize(("alpha", "k"), [(0.3, 3), (0.8, 4), (0.95, 16)])
def test_the_mean_is_tokens_per_pass(alpha, k):
    """Seed 12: within 4 standard errors, a deviation below k/2 (range 0…k)."""
    accepted = simulate.rounds(alpha, k, N, seed=12)
    assert abs(accepted.mean() + 1 - theory.tokens_per_pass(alpha, k)) < 4 * (k / 2) / N**0.5


def test_certain_drafters():
    assert np.all(simulate.rounds(0.0, 5, 1000, seed=1) == 0)
    assert np.all(simulate.rounds(1.0, 5, 1000, seed=1) == 5)
    assert np.all(simulate.rounds(0.5, 0, 1000, seed=1) == 0)
    assert simulate.rounds(0.5, 4, 0, seed=1).shape == (0,)


def test_a_seed_repeats_and_leaves_the_global_generator_alone():
    np.random.seed(3)
    before = np.random.get_state()[1].copy()
    first, again = simulate.rounds(0.7, 6, 500, seed=5), simulate.rounds(0.7, 6, 500, seed=5)
    assert np.array_equal(first, again)
    assert not np.array_equal(first, simulate.rounds(0.7, 6, 500, seed=6))
    assert np.array_equal(np.random.get_state()[1], before)


def test_the_same_seed_compares_alphas_and_ks_round_by_round():
    rounds = simulate.rounds(0.6, 4, 500, seed=5)
    assert np.all(simulate.rounds(0.7, 4, 500, seed=5) >= rounds)
    assert np.array_equal(np.minimum(simulate.rounds(0.6, 9, 500, seed=5), 4), rounds)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((1.2, 4, 10), "alpha must be in .0, 1., but it is 1.2"),
        ((0.5, -1, 10), "k must be ≥ 0, but it is -1"),
        ((0.5, 2.5, 10), "k must be a whole number"),
        ((0.5, 4, -3), "n must be ≥ 0, but it is -3"),
    ],
)
def test_bad_values_are_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        simulate.rounds(*arguments, seed=0)
