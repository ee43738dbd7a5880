"""The browser's formulas are those of specdec.theory; axes, pins and captions keep their laws."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest

from specdec import theory
from specdec.cloud import cloud
from specdec.ui import live_curve
from specdec.ui.live_curve import SCRIPT, Point

TWINS = """
const js = await load("theory.js");
give(data.map(([alpha, k, c, v, kMax]) => [js.tokensPerPass(alpha, k), js.speedup(alpha, k, c, v),
  js.bestK(alpha, c, v, kMax), js.hasFiniteBestK(alpha, c, v), js.breakEvenAlpha(k, c, v)]));
"""
WHOLE = """
const js = await import("data:text/javascript," + encodeURIComponent(data.script));
const { input } = data;
give(%s);
"""


@pytest.fixture
def curve(node):
    """What a JavaScript expression over the component's `js` and an `input` gives."""
    return lambda body, given=None: node(WHOLE % body, {"script": SCRIPT, "input": given})


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
    alpha, k, c, v, k_max = np.array(given).T
    tokens, speed, best, finite, even = zip(*node(TWINS, given))
    assert tokens == pytest.approx(theory.tokens_per_pass(alpha, k), rel=1e-12)
    assert speed == pytest.approx(theory.speedup(alpha, k, c, v), rel=1e-12)
    assert list(best) == theory.best_k(alpha, c, v, k_max).tolist()
    assert list(finite) == theory.has_finite_best_k(alpha, c, v).tolist()
    even = np.array(even, dtype=float)  # None, where even α = 1 is too slow, is NaN
    assert even == pytest.approx(theory.break_even_alpha(k, c, v), 1e-12, 1e-300, nan_ok=True)


def test_an_axis_ends_above_its_highest_value_and_its_ticks_divide_it(curve):
    values = [0.1, 1.4, 1.5, 1.51, 3.36, 7.9, 11.5, 24.9, 27.7, 55.0, 140.0]
    for value, (end, step) in zip(values, curve("input.map(js.axis)", values)):
        assert end >= value
        assert math.isclose(end / step, round(end / step))
        assert 2 <= round(end / step) <= 6


def test_a_setting_is_pinned_once_and_four_at_most(curve):
    pins = [{"k": k, "alpha": 0.8, "c": 0.05, "v": 0} for k in range(5)]
    said = curve(
        "[js.barred([], input[0]), js.barred(input.slice(0, 1), input[0]), "
        "js.barred(input.slice(0, 3), input[4]), js.barred(input.slice(0, 4), input[4])]",
        pins,
    )
    assert said == ["", "this setting is pinned", "", "four pins are the most"]
    assert curve("js.LETTERS.length") == live_curve.MOST_PINS


@pytest.mark.parametrize("most", [1, 7, 12, 60])
def test_wrapped_captions_lose_no_word_and_keep_their_width(curve, most):
    words = "● you: k = 4 · α = 0.8 · c = 0.05 · v = 0: 2.80× measuredlongerthantwelve"
    lines = curve("js.wrapped(input[0], input[1])", [words, most])
    assert " ".join(lines) == words
    assert all(len(line) <= most or " " not in line for line in lines)


def test_the_figure_is_described_with_its_pins_and_its_simulation(curve):
    played = cloud(0.8, 200, seed=3, k_max=24)
    now = {
        "alpha": 0.8, "k": 4, "c": 0.05, "v": 0, "at": 2.8, "best": 8, "peak": 3.09,
        "finite": True, "kEnd": 24, "pins": [{"k": 8, "alpha": 0.5, "c": 0.1, "v": 0}],
        "cloud": live_curve.shades(played),
    }  # fmt: skip
    said = curve("js.describe(input)", now)
    assert (
        f"Pinned A: k = 8 · α = 0.5 · c = 0.1 · v = 0, {theory.speedup(0.5, 8, 0.1):.2f}×" in said
    )
    assert f"Simulated, 200 rounds: {played.mean(4) / 1.2:.2f}× at your k." in said
    assert "Simulated" not in curve("js.describe(input)", now | {"alpha": 0.81})


def test_the_browser_is_told_the_means_and_bands_at_every_k():
    played = cloud(0.7, 50, seed=1, k_max=24)
    sent = live_curve.shades(played)
    assert [len(sent["mean"]), len(sent["half"])] == [25, 25]
    assert sent["mean"][0] == 1.0 and sent["half"][0] == 0.0
    assert sent["mean"][5] == played.mean(5)


@pytest.mark.parametrize(
    ("sent", "kept"),
    [
        (None, ()),
        ("pins", ()),
        ({"k": 3}, ()),
        ([None, 4, "x"], ()),
        ([{"k": 99, "alpha": "x", "c": [], "v": -1}], (Point(24, 0.8, 0.05, 0.0),)),
        ([{"k": 1, "alpha": 0.5, "c": 0.1, "v": 0}] * 9, (Point(1, 0.5, 0.1, 0.0),) * 4),
    ],
)
def test_pins_from_the_browser_are_checked(sent, kept):
    assert live_curve.pins_of(sent) == kept
