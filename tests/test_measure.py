"""Costs read off runs and passes: exact on scorers whose clock is known."""

from dataclasses import replace

import numpy as np
import pytest
from pairs_np import SOFT, drafting, ids_of, random_model, run_rounds, text_pair, trace_of

from specdec import run, theory
from specdec.compare import Comparison, check, compare
from specdec.drafters import ModelDrafter
from specdec.measure import (
    Costs,
    PassTimes,
    costs_of,
    measured_speedup,
    pass_times,
    predicted_speedup,
    priced_speedup,
    replay,
)
from specdec.trace import Seconds
from tests.twigs import PARENTS, TARGET, TOKENS, Twigs, sown


class Clock:
    """Stands still but for what the scorers add."""

    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


def timed(model, clock, first, each):
    """A model whose pass over n tokens takes first + (n - 1) · each seconds."""
    make = model.scorer

    def scorer(rows=None, capacity=None):
        made = make(rows, capacity)
        score = made.score

        def slow(tokens, parents=None):
            clock.now += first + (len(tokens) - 1) * each
            return score(tokens)

        made.score = slow
        return made

    model.scorer = scorer
    return model


def test_pass_times_are_those_of_the_clock():
    clock = Clock()
    model = timed(random_model(), clock, 2.0, 0.25)
    turns = list(pass_times(model, (1, 2, 5), length=8, repeats=3, clock=clock))
    assert turns == [PassTimes((1, 2, 5), (2.0, 2.25, 3.0), 8, n) for n in (1, 2, 3)]


def test_pass_times_that_nobody_reads_on_stop_and_free_the_cache():
    model = random_model()
    turns = pass_times(model, (1, 2), length=8)
    next(turns)
    [scorer] = model.scorers
    passes = len(scorer.fed)
    turns.close()
    assert scorer.closed and len(scorer.fed) == passes


def test_c_and_v():
    costs = Costs(4, target=2.0, verify=3.0, draft=0.5)
    assert costs.c == 0.25 and costs.v == 0.125
    assert Costs(4, target=2.0, verify=1.9, draft=0.5).v == 0


def runs(k, agree_error):
    clock, target = Clock(), random_model(20)
    slow_target = timed(target, clock, 1.0, 0.05)
    small = timed(drafting(target, error=agree_error), clock, 0.1, 0.0)
    fast = trace_of(run_rounds(slow_target, small, [1], k=k, n=120, clock=clock))
    slow = trace_of(run_rounds(slow_target, None, [1], k=0, n=120, clock=clock))
    return fast, slow


@pytest.mark.parametrize("k", [1, 3, 6])
def test_costs_of_two_runs_are_exact(k):
    costs = costs_of(*runs(k, 0.5))
    assert (costs.c, costs.v) == pytest.approx((0.1, 0.05))


def test_a_perfect_drafter_runs_at_the_predicted_speed():
    fast, slow = runs(3, 0.0)
    predicted = predicted_speedup(fast, costs_of(fast, slow))
    assert fast.alpha == 1 and predicted == pytest.approx(4 / (1 + 3 * 0.1 + 3 * 0.05))
    assert measured_speedup(fast, slow) == pytest.approx(predicted)


def test_prediction_uses_the_closed_form_at_the_runs_own_alpha():
    fast, slow = runs(3, 2.0)
    assert 0 < fast.alpha < 1
    expected = theory.speedup(fast.alpha, 3, 0.1, 0.05)
    assert predicted_speedup(fast, costs_of(fast, slow)) == pytest.approx(expected)


def test_rounds_that_draft_less_count_with_what_they_drafted():
    costs = Costs(4, 1.0, 1.0, 0.0)
    fast, _ = runs(3, 2.0)
    rounds = [replace(r, drafted=()) if r.index % 2 else r for r in fast.rounds]
    mixed = replace(fast, rounds=tuple(rounds))
    tokens = [theory.tokens_per_pass(mixed.alpha, len(r.drafted)) for r in rounds]
    assert predicted_speedup(mixed, costs) == pytest.approx(np.mean(tokens))


@pytest.mark.parametrize("gap", [2, 3])
def test_v_is_that_of_the_rounds_that_drafted(gap):
    """A lookup, or an adaptive k, drafts less or nothing in many rounds: they say nothing of v."""
    fast, slow = runs(4, 1.0)
    idle = Seconds(verify=1.0)  # a pass over one token
    rounds = [replace(r, drafted=(), seconds=idle) if r.index % gap else r for r in fast.rounds]
    mixed = replace(fast, rounds=tuple(rounds))
    costs = costs_of(mixed, slow)
    assert (costs.k, costs.v) == (4, pytest.approx(0.05))
    none = replace(fast, rounds=tuple(replace(r, drafted=(), seconds=idle) for r in fast.rounds))
    assert costs_of(none, slow).v == 0


def test_nothing_judged_or_empty_gives_no_number():
    _, slow = runs(1, 0.0)
    empty = trace_of([])
    assert costs_of(empty, slow) is None and measured_speedup(empty, slow) is None
    assert predicted_speedup(slow, Costs(4, 1.0, 1.0, 0.1)) is None


def test_replay_makes_the_same_passes_and_nothing_else():
    target = random_model(20)
    small = drafting(target, error=1.0)
    a, b = target.scorer(), small.scorer()
    trace = trace_of(run_rounds(a, ModelDrafter(b, 20), [1, 2, 3], k=4, n=40), [1, 2, 3])
    c, d = target.scorer(), small.scorer()
    replay(c, d, trace, Clock())
    assert (c.fed, d.fed) == (a.fed, b.fed) and c.cached == a.cached


def test_replay_feeds_trees_as_trees_and_keeps_their_paths():
    trace = trace_of(sown(), [0, 1])
    first, again = TARGET.scorer(), TARGET.scorer()
    run_rounds(first, Twigs(TOKENS, PARENTS), [0, 1], k=6, n=30, sampling=SOFT)
    replay(again, None, trace, Clock())
    assert again.fed == first.fed and again.cached == first.cached


def test_replay_does_not_invent_the_passes_that_grew_a_tree():
    with pytest.raises(ValueError, match="not in its trace"):
        replay(TARGET.scorer(), TARGET.scorer(), trace_of(sown(), [0, 1]), Clock())


def test_the_price_of_passes_needs_no_alpha():
    trace, costs = trace_of(sown(), [0, 1]), Costs(6, 1.0, 1.3, 0.1)
    paid = len(trace.rounds) * (1 + 6 * costs.v)  # this drafter takes no pass
    assert priced_speedup(trace, costs) == pytest.approx(len(trace.token_ids) / paid)
    fast, slow = runs(3, 0.0)
    assert priced_speedup(slow, costs) is None
    costs = costs_of(fast, slow)  # all are kept: the closed form has the same tokens
    assert priced_speedup(fast, costs) == pytest.approx(predicted_speedup(fast, costs))


def test_compare_finds_the_first_difference():
    target = random_model(20)
    one = trace_of(run_rounds(target, None, [1], k=0, n=12))
    assert compare(one, one).equal and compare(one, one).tokens == 12
    shorter = trace_of(run_rounds(target, None, [1], k=0, n=9))
    assert compare(one, shorter).first == 9
    other = trace_of(run_rounds(random_model(20, seed=4), None, [1], k=0, n=12))
    differs = np.flatnonzero(np.array(ids_of(one.rounds)) != np.array(ids_of(other.rounds)))
    assert compare(one, other).first == differs[0]


def test_a_check_repeats_the_run_to_its_own_stop():
    pair = text_pair("The kiln cools.", in_bytes=True).pair
    fast = run.generate(pair, "the sky", k=3, max_new_tokens=20, stop="kiln")
    other = replace(fast, rounds=fast.rounds[:1])  # a text that parts, whatever the reason
    assert check(pair, "the sky", fast, other).fixed == Comparison(len("The kiln"), None)
