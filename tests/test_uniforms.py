"""A uniform is a function of (seed, position, purpose)."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from specdec.uniforms import DRAFT, REPLACE, TEST, Uniforms

PURPOSES = (DRAFT, TEST, REPLACE)


@given(st.integers(0, 2**64 - 1), st.integers(0, 2**40), st.sampled_from(PURPOSES))
def test_a_uniform_is_addressed_not_consumed(seed: int, position: int, purpose: int) -> None:
    one, other = Uniforms(seed), Uniforms(seed)
    for before in range(3):  # whatever was asked before
        other(position + before + 1, (purpose + before) % 3)
    u = one(position, purpose)
    assert u == other(position, purpose) == one(position, purpose)
    bits = np.random.Philox(key=seed, counter=[0, position, purpose, 0])
    assert u == (bits.random_raw() >> 11) / 2**53
    assert 0 <= u < 1
    assert u * 2**53 == int(u * 2**53)


def test_addresses_do_not_meet() -> None:
    """53 bits: among 14 400 addresses a meeting has a chance of 1e-8."""
    seeds = (0, 1, 2, 2**32, 2**63, 2**64 - 1)
    seen = {Uniforms(s)(at, why) for s, at, why in product(seeds, range(800), PURPOSES)}
    assert len(seen) == len(seeds) * 800 * 3


def test_neighbouring_addresses_are_uniform_and_unrelated() -> None:
    """Seeds 0–2, n = 2500 positions: means and correlations within 5σ (σ = 1/√12n and 1/√n)."""
    n, spread = 2500, 1 / np.sqrt(12)
    for seed in range(3):
        u, v = Uniforms(seed), Uniforms(seed + 1)
        rows = np.array([[u(i, why) for i in range(n)] for why in PURPOSES])
        rows = np.vstack([rows, [v(i, TEST) for i in range(n)], np.roll(rows[TEST], 1)])
        assert np.abs(rows.mean(axis=1) - 0.5).max() < 5 * spread / np.sqrt(n)
        correlations = np.corrcoef(rows) - np.eye(len(rows))
        assert np.abs(correlations).max() < 5 / np.sqrt(n)
        tenths = np.histogram(rows[TEST], bins=10, range=(0, 1))[0]
        assert np.abs(tenths - n / 10).max() < 5 * np.sqrt(n * 0.1 * 0.9)


def test_a_generators_first_draw_is_the_seed() -> None:
    seed = int(np.random.default_rng(5).integers(2**63))
    assert Uniforms(np.random.default_rng(5)).seed == seed
    assert Uniforms(np.random.default_rng(5))(3, TEST) == Uniforms(seed)(3, TEST)
    generator = np.random.default_rng(5)
    assert Uniforms(generator).seed != Uniforms(generator).seed  # two runs, two seeds


def test_the_global_generator_is_neither_read_nor_seeded() -> None:
    np.random.seed(1)
    before = np.random.get_state()[1].tolist()
    first = Uniforms(9)(1, DRAFT)
    assert np.random.get_state()[1].tolist() == before
    np.random.seed(2)
    assert Uniforms(9)(1, DRAFT) == first


@pytest.mark.parametrize("seed", [-1, 2**64])
def test_a_seed_out_of_range_is_named(seed: int) -> None:
    with pytest.raises(ValueError, match=f"seed is {seed}"):
        Uniforms(seed)


def test_numpy_integers_are_seeds_too() -> None:
    assert Uniforms(np.int64(7))(np.int64(4), TEST) == Uniforms(7)(4, TEST)
