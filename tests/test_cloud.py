"""Simulated rounds and their band, against enumeration and exact variances."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from specdec import simulate, theory
from specdec.cloud import SHARE, Cloud, cloud, law, variance

SETTINGS = [(0.0, 3), (0.3, 1), (0.5, 4), (0.8, 4), (0.95, 16), (1.0, 5), (0.7, 0)]


@pytest.mark.parametrize(("alpha", "k"), SETTINGS)
def test_the_law_sums_to_one_and_has_the_closed_form_s_mean(alpha, k):
    chances = law(alpha, k)
    assert chances.shape == (k + 1,)
    assert chances.sum() == pytest.approx(1, abs=1e-14)
    assert 1 + chances @ np.arange(k + 1) == pytest.approx(theory.tokens_per_pass(alpha, k))


@pytest.mark.parametrize(("alpha", "k"), [(0.3, 3), (0.8, 5)])
def test_the_law_and_its_variance_by_enumeration_of_every_fate(alpha, k):
    """All 2^k ways in which k independent tests can end."""
    chances = np.zeros(k + 1)
    for fates in itertools.product([True, False], repeat=k):
        chance = np.prod([alpha if kept else 1 - alpha for kept in fates])
        chances[len(list(itertools.takewhile(bool, fates)))] += chance
    assert chances == pytest.approx(law(alpha, k))
    lengths = np.arange(k + 1)
    assert chances @ lengths**2 - (chances @ lengths) ** 2 == pytest.approx(variance(alpha, k))


@pytest.mark.parametrize(("alpha", "k", "n"), [(0.8, 4, 60), (0.5, 3, 80), (0.9, 8, 40)])
def test_the_band_covers_the_closed_form_in_its_share_of_worlds(alpha, k, n):
    """The sum of n rounds by exact convolution: no seed, no sampling."""
    whole = np.ones(1)
    for _ in range(n):
        whole = np.convolve(whole, law(alpha, k))
    means = 1 + np.arange(len(whole)) / n
    half = Cloud(alpha, 0, (n,) + (0,) * k).half(k)
    inside = np.abs(means - theory.tokens_per_pass(alpha, k)) <= half
    assert whole.sum() == pytest.approx(1)
    assert whole[inside].sum() == pytest.approx(SHARE, abs=0.012)  # a lattice cannot hit it exactly


def test_covers_is_the_distance_against_half_the_band():
    near, far = Cloud(0.5, 0, (50, 50)), Cloud(0.5, 0, (40, 60))  # half: 1.96 · 0.5 / 10 = 0.098
    assert near.covers(1)
    assert not far.covers(1)
    assert far.mean(1) == 1.6
    assert far.half(1) == pytest.approx(0.098, abs=1e-4)


def test_one_set_of_rounds_serves_every_k():
    played = cloud(0.7, 400, seed=9, k_max=24)
    for k in (0, 1, 5, 24):
        accepted = simulate.rounds(0.7, k, 400, seed=9)
        assert played.at(k) == tuple(np.bincount(accepted, minlength=k + 1))
        assert played.mean(k) == pytest.approx(1 + accepted.mean())
    assert played.n == 400


@pytest.mark.parametrize("alpha", [0.0, 1.0])
def test_without_chance_there_is_no_band_and_the_form_is_met(alpha):
    played = cloud(alpha, 10, seed=0, k_max=24)
    for k in range(25):
        assert played.half(k) == 0
        assert played.covers(k)


def test_a_seed_repeats_and_bad_values_are_named():
    assert cloud(0.6, 50, 3, 8) == cloud(0.6, 50, 3, 8)
    assert cloud(0.6, 50, 3, 8) != cloud(0.6, 50, 4, 8)
    with pytest.raises(ValueError, match="n must be ≥ 1, but it is 0"):
        cloud(0.6, 0, 3, 8)
    with pytest.raises(ValueError, match="alpha must be in"):
        cloud(1.6, 5, 3, 8)
