"""The formulas in the browser are those of specdec.theory; an axis ends where it should."""

from __future__ import annotations

import math
import random

import pytest

from specdec import theory

TWINS = """
const js = await load("theory.js");
give(data.map(([alpha, k, c, v, kMax]) => [js.tokensPerPass(alpha, k), js.speedup(alpha, k, c, v),
  js.bestK(alpha, c, v, kMax), js.hasFiniteBestK(alpha, c, v), js.breakEvenAlpha(k, c, v)]));
"""


def cases() -> list[tuple[float, int, float, float, int]]:
    rng = random.Random(4)
    alphas = [0.0, 1.0, 1 - 2**-53, 1 - 1e-9, 1e-9, 0.2, 0.5, 0.8, 0.95]
    costs = [(0.0, 0.0), (0.05, 0.0), (0.5, 0.0), (0.1, 0.2), (0.4, 0.6), (1.0, 0.5)]
    grid = [(a, k, c, v, 64) for a in alphas for k in (0, 1, 4, 24) for c, v in costs]
    slider = [
        (rng.randrange(101) / 100, rng.randrange(25), rng.randrange(201) / 200, 0.005 * i, 24)
        for i in range(100)
    ]
    loose = [
        (rng.random(), rng.randrange(65), rng.random(), rng.random() / 2, 64) for _ in range(300)
    ]
    return grid + slider + loose


def test_browser_and_python_agree_to_twelve_digits(node):
    given = cases()
    assert len(given) > 600
    for (alpha, k, c, v, k_max), (tokens, speed, best, finite, even) in zip(
        given, node(TWINS, given)
    ):
        assert tokens == pytest.approx(theory.tokens_per_pass(alpha, k), rel=1e-12)
        assert speed == pytest.approx(theory.speedup(alpha, k, c, v), rel=1e-12)
        assert best == theory.best_k(alpha, c, v, k_max), (alpha, c, v)
        assert finite is theory.has_finite_best_k(alpha, c, v)
        expected = theory.break_even_alpha(k, c, v)
        assert (even is None) is (expected is None), (k, c, v)
        assert even is None or even == pytest.approx(expected, rel=1e-12, abs=1e-300)


def test_an_axis_ends_above_its_highest_value_and_its_ticks_divide_it(node):
    values = [0.1, 1.4, 1.5, 1.51, 3.36, 7.9, 11.5, 24.9, 27.7, 55.0, 140.0]
    axes = node(
        'const { axis } = await load("theory.js", "live_curve.js"); give(data.map(axis));', values
    )
    for value, (end, step) in zip(values, axes):
        assert end >= value
        assert math.isclose(end / step, round(end / step))
        assert 2 <= round(end / step) <= 6
