"""Simulated runs: closed forms at certain drafters, exact means between, a real trace's shape."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from specdec import recordings, simulate, theory
from specdec.measure import Costs, costs_of, measured_speedup, predicted_speedup
from specdec.presets import presets
from specdec.trace import Trace
from tests.trace_laws import check_trace

pytestmark = pytest.mark.long

COSTS = Costs(4, target=2.0, verify=3.0, draft=0.25)  # c = 1/8, v = 1/8


@given(
    st.sampled_from([0.0, 0.3, 0.8, 1.0]),
    st.integers(0, 9),
    st.integers(1, 40),
    st.integers(0, 10**6),
)
def test_it_has_the_shape_of_a_run_of_the_loop(alpha, k, n, seed):
    run = simulate.trace(alpha, k, n, seed, COSTS)
    check_trace(run)
    assert len(run.token_ids) == n and run.source.kind == "simulated"
    assert Trace.from_json(run.to_json()) == run
    assert set(run.token_ids) == {0} and not run.text.strip("·")


@pytest.mark.parametrize("way", list(recordings.WAYS))
def test_the_shape_is_that_of_recorded_runs(way):
    for preset in presets():
        recording = recordings.load(preset.name, way)
        check_trace(recording.speculative)
        check_trace(recording.plain)


@pytest.mark.parametrize(("k", "n"), [(1, 1), (1, 7), (4, 20), (4, 23), (7, 8), (3, 2)])
def test_a_perfect_drafter(k, n):
    run = simulate.trace(1.0, k, n, 3, COSTS)
    assert run.target_passes == -(-n // (k + 1))
    assert run.alpha == run.draft_yield == 1
    assert run.seconds.draft == pytest.approx(run.target_passes * k * 0.25)
    assert run.seconds.verify == pytest.approx(run.target_passes * (2 + k * 0.25))
    if n % (k + 1) == 0:
        exact = theory.speedup(1.0, k, COSTS.c, COSTS.v)
        assert measured_speedup(run, simulate.plain(n, COSTS)) == pytest.approx(exact)


@pytest.mark.parametrize("k", [0, 1, 4, 9])
def test_a_useless_drafter(k):
    run = simulate.trace(0.0, k, 12, 3, COSTS)
    assert run.target_passes == 12 and run.tokens_per_pass == 1
    assert run.alpha == (0 if k else None)
    kinds = {token.kind for token in run.written}
    assert kinds == ({"corrected"} if k else {"bonus"})
    exact = theory.speedup(0.0, k, COSTS.c, COSTS.v)
    assert measured_speedup(run, simulate.plain(12, COSTS)) == pytest.approx(exact)


def test_plain_is_a_pass_a_token():
    run = simulate.plain(5, COSTS)
    assert [r.seconds.total for r in run.rounds] == [2.0] * 5
    assert [t.kind for t in run.written] == ["bonus"] * 5 and run.draft_passes == 0
    assert run.rounds[0].lengths.drafter is None and run.settings.drafter == "none"


def test_rounds_accept_as_the_simulated_rounds_do():
    run = simulate.trace(0.7, 5, 200, 9, COSTS)
    accepted = [r.accepted for r in run.rounds[:-1]]
    assert accepted == simulate.rounds(0.7, 5, 200, 9)[: len(accepted)].tolist()


def test_alpha_is_accepted_by_judged_and_the_uniforms_say_the_same():
    run = simulate.trace(0.6, 4, 500, 2, COSTS)
    judged = [t for r in run.rounds for t in r.drafted if t.verdict != "discarded"]
    assert run.alpha == np.mean([t.u < 0.6 for t in judged])
    assert all(t.u is None for r in run.rounds for t in r.drafted if t.verdict == "discarded")


def passes(alpha: float, k: int, n: int) -> tuple[float, float]:
    """Mean and variance of the passes that n tokens take: by the first round's outcome."""
    share = [alpha**a * (1 - alpha) for a in range(k)] + [alpha**k]  # of a + 1 tokens
    mean, square = np.zeros(n + 1), np.zeros(n + 1)
    for m in range(1, n + 1):
        left = [max(0, m - a - 1) for a in range(k + 1)]
        mean[m] = 1 + np.dot(share, mean[left])
        square[m] = 1 + 2 * np.dot(share, mean[left]) + np.dot(share, square[left])
    return mean[n], square[n] - mean[n] ** 2


@pytest.mark.parametrize(("alpha", "k"), [(0.3, 2), (0.8, 4), (0.9, 7)])
def test_the_mean_time_is_the_exact_one(alpha, k):
    """Seeds 0…399, n = 60: the mean lies within 4 exact standard errors of the exact mean."""
    runs, n = 400, 60
    seconds = [simulate.trace(alpha, k, n, seed, COSTS).seconds.total for seed in range(runs)]
    each = 2.0 * (1 + k * (COSTS.c + COSTS.v))
    mean, variance = passes(alpha, k, n)
    assert abs(np.mean(seconds) - each * mean) < 4 * each * (variance / runs) ** 0.5


@pytest.mark.parametrize(("alpha", "k"), [(0.3, 2), (0.8, 4), (0.9, 7)])
def test_long_runs_come_to_the_closed_form(alpha, k):
    """Seeds 0…23, n = 600: within 4 exact standard errors, and the last round's cut: ≤ k/n."""
    n, runs = 600, 24
    slow = simulate.plain(n, COSTS)
    slowness = [
        1 / measured_speedup(simulate.trace(alpha, k, n, s, COSTS), slow) for s in range(runs)
    ]
    exact = 1 / theory.speedup(alpha, k, COSTS.c, COSTS.v)
    each, (mean, variance) = 1 + k * (COSTS.c + COSTS.v), passes(alpha, k, n)
    cut = each * abs(mean / n - 1 / theory.tokens_per_pass(alpha, k))
    assert cut <= each * k / n
    assert abs(np.mean(slowness) - exact) < 4 * each * (variance / runs) ** 0.5 / n + cut


@pytest.mark.parametrize("k", [1, 2, 4, 8])
def test_costs_are_read_back_and_another_k_lies_on_their_line(k):
    fast, slow = simulate.trace(0.5, k, 40, 1, COSTS), simulate.plain(40, COSTS)
    back = costs_of(fast, slow)
    assert (back.c, back.v) == pytest.approx((COSTS.c, COSTS.v))
    assert back.verify == pytest.approx(2.0 + k * 0.25)
    assert predicted_speedup(fast, back) == pytest.approx(
        theory.speedup(fast.alpha, k, 1 / 8, 1 / 8)
    )


def test_a_seed_repeats_and_another_alpha_meets_the_same_numbers():
    one = simulate.trace(0.7, 4, 50, 5, COSTS)
    assert simulate.trace(0.7, 4, 50, 5, COSTS) == one != simulate.trace(0.7, 4, 50, 6, COSTS)
    other = simulate.trace(0.9, 4, 50, 5, COSTS)
    assert other.rounds[0].drafted[0].u == one.rounds[0].drafted[0].u
    assert other.target_passes <= one.target_passes


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((1.2, 4, 10, 0, COSTS), "alpha must be in .0, 1., but it is 1.2"),
        ((0.5, -1, 10, 0, COSTS), "k must be ≥ 0"),
        ((0.5, 4, 0, 0, COSTS), "n_tokens must be ≥ 1"),
        ((0.5, 4, 10, 0, replace(COSTS, target=0.0)), "costs.target is 0"),
        ((0.5, 4, 10, 0, replace(COSTS, draft=float("nan"))), "costs.draft must be ≥ 0"),
    ],
)
def test_bad_values_are_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        simulate.trace(*arguments)


def test_numbers_are_plain():
    """NumPy's own numbers would not go to JSON."""
    assert json.loads(simulate.trace(np.float64(0.5), np.int64(3), 9, 1, COSTS).to_json())
