"""What a machine's measurement says: exact on scorers whose clock is known, and by hand."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from machines import DRAFT, EACH, FIRST, PRESET, by_hand, clocked, measured, run

from specdec import batch, theory
from specdec.independence import independence, lag, positions, tokens_by_position
from specdec.jitter import gaps, waits
from specdec.machine import Machine, Step, seconds_of, v_between
from specdec.measure import PassTimes
from specdec.profile import ARMS, DRAFT_TOKENS, TARGET_TOKENS, profile
from specdec.waterfall import NAMES, best, curve, predicted, waterfall
from specdec.waterfall import measured as speedup

STEPS = [(4, 4, 0, 5), (4, 1, 1, 2), (4, 0, 1, 1), (2, 2, 0, 2)]


@pytest.fixture(scope="module")
def machine() -> Machine:
    return measured()


def test_pass_times_are_the_clock_s(machine):
    assert machine.target.tokens == TARGET_TOKENS
    assert machine.target.seconds == pytest.approx([FIRST + (n - 1) * EACH for n in TARGET_TOKENS])
    assert machine.draft.seconds == pytest.approx([DRAFT] * len(DRAFT_TOKENS))


def test_v_is_the_same_on_every_stretch_of_a_straight_line(machine):
    assert v_between(machine.target) == pytest.approx([EACH / FIRST] * (len(TARGET_TOKENS) - 1))


def test_v_by_range_sees_the_ridge():
    times = PassTimes((1, 3, 5), (2.0, 2.5, 4.5), 8, 1)
    assert v_between(times) == (0.125, 0.5)
    assert seconds_of(times, 4) == 3.5
    assert np.isnan(seconds_of(times, 6))


def test_every_arm_was_run_and_repeated(machine):
    assert [(r.drafter, r.k) for r in machine.runs] == list(ARMS)
    assert all(len(r.seconds) == len(r.bare) == 2 for r in machine.runs)
    assert all(r.tokens == 40 for r in machine.runs)


def test_a_loop_that_costs_nothing_has_no_work_of_its_own(machine):
    for timed in machine.runs:
        assert timed.bare == pytest.approx([sum(row) for row in timed.seconds])
        assert timed.own == pytest.approx(0, abs=1e-9)


def test_known_costs_give_the_measured_speedup(machine):
    for timed in machine.runs[1:]:
        seconds = sum(
            FIRST + s.drafted * EACH + (s.passes * DRAFT if timed.drafter == "model" else 0)
            for s in timed.steps
        )
        assert speedup(machine, timed)[1] == pytest.approx(timed.tokens * FIRST / seconds)


@pytest.mark.parametrize("k", [1, 2, 4, 8])
def test_a_perfect_drafter_runs_as_predicted(k):
    found = measured(0.0, n=5 * (k + 1))
    [timed] = [r for r in found.of("model") if r.k == k]
    exact = theory.speedup(1.0, k, DRAFT / FIRST, EACH / FIRST)
    assert predicted(found, timed) == pytest.approx(exact)
    assert speedup(found, timed) == pytest.approx((exact,) * 3)
    assert curve(found, timed, np.arange(9))[k] == pytest.approx(exact)


def test_the_predicted_curve_is_the_closed_form_where_v_is_one_number(machine):
    [timed] = [r for r in machine.of("model") if r.k == 4]
    ks = np.arange(17)
    exact = theory.speedup(timed.alpha, ks, DRAFT / FIRST, EACH / FIRST)
    assert curve(machine, timed, ks) == pytest.approx(exact)
    assert best(machine, timed)[0] == theory.best_k(timed.alpha, 0.1, 0.05, 16)


def test_bars_add_up_to_the_measurement(machine):
    for timed in machine.runs[1:]:
        if timed.alpha is None:
            assert waterfall(machine, timed) is None
            continue
        fall = waterfall(machine, timed)
        assert [bar.name for bar in fall.bars] == list(NAMES)
        assert fall.start == pytest.approx(theory.tokens_per_pass(timed.alpha, timed.k))
        assert fall.measured == speedup(machine, timed)[1] == fall.bars[-1].after
        assert fall.start + sum(bar.change for bar in fall.bars) == pytest.approx(fall.measured)
        assert fall.bars[1].before == pytest.approx(
            theory.speedup(timed.alpha, timed.k, DRAFT if timed.drafter == "model" else 0.0)
        )
        assert fall.bars[-1].change == pytest.approx(0)  # a loop without work of its own
        assert fall.bars[-2].change == pytest.approx(0)  # passes cost the same inside a run


def test_a_waterfall_by_hand():
    timed = run("model", 4, STEPS, (3.0, 3.0, 3.0, 3.0), bare=(10.0,))
    found = by_hand(timed)
    alpha, one = 7 / 9, 1.0
    tokens = theory.tokens_per_pass(alpha, 4)
    rates = 1 + 3 / 4 + 3 / 4 * 2 / 3 + 3 / 4 * 2 / 3 + 3 / 4 * 2 / 3  # of 4, 3, 2, 1, 1 judged
    chain = [
        tokens,
        tokens / (one + 0.4),
        tokens / (2.0 + 0.4),
        rates / 2.4,
        10 / (3 * 2.0 + 1.5 + 1.4),  # three passes over 5, one over 3; 14 draft passes
        (4.0 / 4) / (10.0 / 10),
        (4.0 / 4) / (12.0 / 10),
    ]
    fall = waterfall(found, timed)
    assert [fall.start, *(bar.after for bar in fall.bars)] == pytest.approx(chain)
    assert timed.own == pytest.approx(0.5)
    cost = 3 * 2.0 + 1.5 + 1.4 + 4 * 0.5
    drafted = sum(theory.tokens_per_pass(alpha, s[0]) for s in STEPS)
    assert predicted(found, timed) == pytest.approx(drafted / cost)


def test_a_lookup_that_drafts_in_half_of_its_rounds():
    timed = run("lookup", 4, [(4, 4, 0, 5), (0, 0, 0, 1)], (2.0, 1.0), bare=(3.0,))
    found = by_hand(timed)
    assert curve(found, timed, np.array([0, 4])) == pytest.approx([1.0, 3.0 / 1.5])
    assert predicted(found, timed) == pytest.approx(2.0)


def test_k_beyond_the_timed_passes_has_no_speedup():
    found = by_hand(run("model", 4, STEPS, (3.0,) * 4))
    speeds = curve(found, found.runs[1], np.array([16, 17]))
    assert np.isfinite(speeds[0]) and np.isnan(speeds[1])


def test_a_batch_by_hand():
    timed = run("model", 4, [(4, 2, 1, 3), (4, 2, 1, 3)], (3.0, 3.0))
    found = by_hand(timed)
    tokens = theory.tokens_per_pass(2 / 3, np.arange(5))
    speeds = batch.speedup(found, timed, 2, np.arange(5))
    over = [1.25, 1.25 + 2 / 3 * 0.75, 2 + 2 / 12, 2 + 6 / 12, 2 + 10 / 12]  # 2, 4, 6, 8, 10 tokens
    two = 0.1 + 0.1 / 7  # a drafter pass over two tokens
    expected = tokens * 1.25 / (np.array(over) + np.arange(5) * two)
    assert speeds == pytest.approx([1.0, *expected[1:]])


@given(st.integers(1, 12), st.integers(0, 16))
def test_a_batch_reaches_as_far_as_the_passes(size, k):
    found = by_hand(run("model", 4, [(4, 2, 1, 3)], (3.0,)))
    speeds = batch.speedup(found, found.runs[1], size, np.array([k]))
    inside = k == 0 or (size * (k + 1) <= 17 and size <= 8)
    assert np.isfinite(speeds[0]) == inside


def test_a_batch_of_one_is_the_curve_without_the_loop(machine):
    [timed] = [r for r in machine.of("model") if r.k == 4]
    ks = np.arange(17)
    assert batch.speedup(machine, timed, 1, ks) == pytest.approx(curve(machine, timed, ks))


def test_the_best_k_falls_to_none_where_passes_cost_by_the_token():
    timed = run("model", 4, [(4, 3, 1, 4)], (3.0,))
    found = by_hand(timed, seconds=(1.0, 1.0, 1.0, 4.0), draft=(0.05, 0.4))
    ks = [batch.best(found, timed, size)[0] for size in (1, 2, 4, 8)]
    assert ks == sorted(ks, reverse=True) and ks[0] > 0 and ks[-1] == 0
    assert batch.best(found, timed, 8)[1:] == (1.0, 1)
    assert batch.ridge(found) == 5


def test_published_series_are_whole():
    table = batch.published()
    assert table.mark == "reported" and "paper" in table.words
    assert [s.name for s in table.series] == ["EAGLE", "EAGLE-3"]
    assert all(len(s.batch) == len(s.speedup) == 9 for s in table.series)
    assert table.series[0].speedup[4] == 0.93


def test_tokens_of_a_round_arrive_together():
    timed = run("model", 4, [(4, 2, 1, 3), (4, 0, 1, 1)], (0.3, 0.2), (0.5, 0.4), bare=(0.4, 0.4))
    assert gaps(timed).tolist() == [0, 0, 0.2, 0, 0, 0.4]


@given(st.lists(st.tuples(st.integers(0, 4), st.floats(1e-3, 10)), min_size=1, max_size=30))
def test_percentiles_of_the_waits(rounds):
    steps = [(4, a, int(a < 4), a + 1) for a, _ in rounds]
    timed = run("model", 4, steps, tuple(s for _, s in rounds))
    oracle = [x for a, s in rounds for x in (s, *[0.0] * a)][1:]
    found = waits(timed)
    if not oracle:
        assert found is None
        return
    assert (found.p50, found.p90, found.p99) == pytest.approx(np.percentile(oracle, [50, 90, 99]))
    assert found.mean == pytest.approx(np.mean(oracle))
    assert found.burst == pytest.approx(timed.tokens / len(rounds))


def test_positions_and_the_tokens_they_give():
    steps = [Step(*s, 0) for s in STEPS]
    assert [(p.accepted, p.judged) for p in positions(steps)] == [(3, 4), (2, 3), (1, 1), (1, 1)]
    found = independence(steps, 4)
    assert found.by_position == pytest.approx(1 + 3 / 4 * (1 + 2 / 3 * 3))
    assert found.observed == 10 / 4
    assert found.off == pytest.approx(found.formula / found.by_position - 1)
    assert independence([Step(0, 0, 0, 1, 0)], 4) is None


def test_equal_rates_at_every_place_are_the_closed_form():
    steps = [Step(2, 0, 1, 1, 2)] * 2 + [Step(2, 1, 1, 2, 2)] + [Step(2, 2, 0, 3, 2)]
    assert tokens_by_position(steps, 2) == pytest.approx(theory.tokens_per_pass(0.5, 2))


@given(st.lists(st.booleans(), min_size=3, max_size=60))
def test_autocorrelation_by_numpy(bits):
    steps = [Step(1, int(b), int(not b), 1 + int(b), 1) for b in bits]
    x = np.array(bits, dtype=float) - np.mean(bits)
    if not x.any():
        assert lag(steps) is None
        return
    assert lag(steps) == pytest.approx(np.correlate(x, x, "full")[len(x)] / np.correlate(x, x)[0])


def test_json_and_back(machine):
    assert Machine.from_json(machine.to_json()) == machine


def mended(machine, path, value):
    data = json.loads(machine.to_json())
    at = data
    for key in path[:-1]:
        at = at[key]
    at[path[-1]] = value
    return json.dumps(data)


@pytest.mark.parametrize(
    ("path", "value", "said"),
    [
        (["schema"], 2, "not a machine's measurement of schema 1"),
        (["target", "seconds", 0], 0.0, "seconds that no pass can take"),
        (["target", "seconds", 0], "fast", "float was expected"),
        (["target", "tokens", 1], 1, "1, then more, tokens"),
        (["draft", "tokens"], [], "a pass time for every"),
        (["runs"], [], "plain decoding comes first"),
        (["runs", 1, "steps", 0, "accepted"], 9, "accepted and drafted do not fit"),
        (["runs", 1, "steps", 0, "written"], 9, "written does not fit"),
        (["runs", 1, "seconds", 0], [1.0], "a round without seconds"),
        (["runs", 1, "seconds", 0, 0], -1.0, "seconds that no pass can take"),
        (["runs", 1, "bare"], [], "the bare passes of a repeat"),
        (["runs", 1, "drafter"], "magic", "one of none, model, lookup was expected"),
        (["runs", 2, "k"], 1, "it drafted more than k"),
        (["runs", 0, "k"], 3, "has k = 0"),
        (["more"], 1, "unknown field 'more'"),
    ],
)
def test_a_file_that_cannot_be_is_refused(machine, path, value, said):
    with pytest.raises(ValueError, match=said):
        Machine.from_json(mended(machine, path, value))


@pytest.mark.parametrize("text", ["", "[]", "null", "{}", "not json", '{"schema": 1}'])
def test_nonsense_is_refused_in_a_sentence(text):
    with pytest.raises(ValueError):
        Machine.from_json(text)


def test_who_stops_reading_frees_the_caches():
    for after in range(0, 60, 7):
        pair, clock = clocked()
        stages = profile(pair, PRESET, n=4, turns=1, length=8, clock=clock)
        for _, stage in zip(range(after + 1), stages):
            assert 0 <= stage.fraction <= 1 and stage.words
        stages.close()
        assert all(scorer.closed for scorer in pair.scorers)


def test_what_is_over_its_budget_ends_with_the_turn():
    found = measured(turns=9, sweeps=3, budget=0.0, n=4)
    assert (found.target.repeats, found.draft.repeats) == (3, 3)
    assert all(len(r.seconds) == 1 for r in found.runs)


def test_progress_only_grows():
    pair, clock = clocked()
    stages = profile(pair, PRESET, n=8, turns=2, length=8, clock=clock)
    shares = [stage.fraction for stage in stages]
    assert shares == sorted(shares) and shares[-1] == 1


def test_a_slower_repeat_shows_in_the_spread(machine):
    plain, first, *_ = machine.runs
    slower = tuple(tuple(2 * s for s in row) for row in first.seconds[:1]) + first.seconds[1:]
    found = replace(machine, runs=(plain, replace(first, seconds=slower)))
    least, middle, most = speedup(found, found.runs[1])
    assert most == pytest.approx(2 * least) and least < middle < most
