"""The stage without a browser: its steps, clock and keys in node, against the trace."""

from __future__ import annotations

import random
from collections.abc import Callable
from itertools import pairwise
from typing import Any, get_args

import pytest

from specdec.rule import RULES
from specdec.trace import Kind, Trace, Verdict
from specdec.ui import stage
from tests import stage_node
from tests.apps import stage_traces as traces
from tests.stage_node import number_of_tests, wires


@pytest.fixture(scope="module")
def js(node) -> Callable[..., Any]:
    return stage_node.runner(node)


@pytest.fixture(scope="module")
def runs() -> list[Trace]:
    return stage_node.all_runs()


# Steps and places.


def test_the_runs_meet_every_kind_of_round(runs):
    rounds = [r for trace in runs for r in trace.rounds]
    assert {t.verdict for r in rounds for t in r.drafted} == set(get_args(Verdict))
    assert {t.kind for r in rounds for t in r.written} == set(get_args(Kind))
    assert any(r.stop_reason == "eos" and len(r.written) < len(r.drafted) for r in rounds)
    assert any(r.drafted and not r.draft_passes for r in rounds)
    assert any(not r.drafted for r in rounds) and any(not trace.rounds for trace in runs)
    assert {(r.rule, trace.settings.sampling.greedy) for trace in runs for r in trace.rounds} == {
        (rule, greedy) for rule in RULES for greedy in (False, True)
    }


def test_python_and_browser_count_the_same_steps(js, runs):
    counted = js(
        "return input.runs.map((r) => r.rounds.map((x) => stage.stepsOf(x).length))",
        runs=wires(runs),
    )
    assert counted == [[stage.steps(r) for r in trace.rounds] for trace in runs]


def test_python_and_browser_clamp_a_place_alike(js, runs):
    rng = random.Random(0)
    places = [{"round": rng.randint(-3, 12), "step": rng.randint(-3, 15)} for _ in range(200)]
    found = js(
        """return input.runs.map((run) => {
             const plan = stage.planOf(run.rounds);
             return input.places.map((p) => stage.placeOf(plan[stage.indexOf(plan, p)])); })""",
        runs=wires(runs),
        places=places,
    )
    for trace, mine in zip(runs, found, strict=True):
        expected = [stage.clamp(trace, place) for place in places]
        assert [stage.Position(**place) for place in mine] == expected


@pytest.mark.parametrize(
    "place", [{}, {"round": "two"}, {"round": None, "step": "x"}, {"step": []}]
)
def test_nonsense_in_a_link_is_the_beginning(place):
    assert stage.clamp(traces.kiln(), place) == stage.Position(1, 0)


def test_a_link_beyond_the_end_is_the_end():
    assert stage.clamp(traces.kiln(), {"round": "99", "step": "7"}) == stage.Position(2, 10)
    assert stage.clamp(traces.kiln(), {"round": "1", "step": "99"}) == stage.Position(1, 10)
    assert stage.clamp(traces.kiln(), {"round": "inf"}) == stage.Position(1, 0)


def test_drafting_is_sequential_and_verifying_is_one_step(js, runs):
    steps = js(
        "return input.runs.map((r) => r.rounds.map((x) => stage.stepsOf(x)))", runs=wires(runs)
    )
    for trace, planned in zip(runs, steps, strict=True):
        for r, steps_of in zip(trace.rounds, planned, strict=True):
            phases = [s["phase"] for s in steps_of]
            assert phases.count("verify") == 1
            assert phases.count("draft") == (len(r.drafted) if r.draft_passes else bool(r.drafted))
            assert phases.count("accept") == number_of_tests(r)
            order = ["before", "draft", "verify", "accept", "discard", "write"]
            assert phases == sorted(phases, key=order.index)


def test_what_is_shown_only_grows_and_ends_complete(js, runs):
    shown = js(
        """return input.runs.map((run) => run.rounds.map((r) =>
             stage.stepsOf(r).map((s) => { const x = stage.shownAt(s, r);
               return [x.drafted, +x.verified, x.judged, +x.discarded, +x.written]; })))""",
        runs=wires(runs),
    )
    for trace, rounds in zip(runs, shown, strict=True):
        for r, states in zip(trace.rounds, rounds, strict=True):
            assert states[0] == [0, 0, 0, 0, 0]
            assert states[-1] == [len(r.drafted), 1, number_of_tests(r), 1, 1]
            assert all(all(a <= b for a, b in zip(x, y)) for x, y in pairwise(states))
            assert len({tuple(s) for s in states}) == len(states)


def test_the_last_step_tells_the_rates_of_the_trace(js, runs):
    told = js(
        """return input.runs.map(({ rounds }) => { const end = stage.planOf(rounds).at(-1);
             return [stage.countsAt(end, rounds), stage.tallyOf(end, rounds)]; })""",
        runs=wires(runs),
    )
    for trace, (counts, words) in zip(runs, told, strict=True):
        assert counts == {"finished": trace.target_passes, "tokens": len(trace.written)}
        rate = trace.tokens_per_pass
        assert words.endswith(f"· {rate:.2f} a pass") if rate else words == ""


def test_rounds_are_walked_one_by_one(js):
    run = stage.wire(traces.sampled())
    walked = js(
        """const plan = stage.planOf(input.run.rounds), first = plan.filter((p) => p.step === 0);
           const go = (at, way) => stage.roundFrom(plan, at, way);
           const on = [0]; while (on.at(-1) < plan.length - 1) on.push(go(on.at(-1), 1));
           const back = [plan.length - 1]; while (back.at(-1) > 0) back.push(go(back.at(-1), -1));
           return { on, back, first: first.map((p) => p.at), end: plan.length - 1 };""",
        run=run,
    )
    assert walked["on"] == [*walked["first"], walked["end"]]
    assert walked["back"] == [walked["end"], *reversed(walked["first"])]


def test_a_run_that_goes_on_is_told_from_another(js):
    whole, other = traces.sampled(), traces.sampled(seed=4)
    cases = [
        (traces.first(whole, 0), whole, True),
        (traces.first(whole, 3), whole, True),
        (whole, whole, True),
        (whole, traces.first(whole, 3), False),
        (whole, other, False),
        (traces.kiln(), traces.kiln(3), False),
        (traces.kiln(), whole, False),
    ]
    pairs = [[stage.wire(a), stage.wire(b)] for a, b, _ in cases]
    assert js("return input.pairs.map(([a, b]) => stage.extendsRun(a, b))", pairs=pairs) == [
        expected for *_, expected in cases
    ]


# The clock.


def test_the_clock_runs_from_zero_to_the_sum_of_the_phases(js):
    trace, plain = traces.sampled(), traces.sampled(k=0)
    run = stage.wire(trace, plain)
    got = js(
        """const { rounds, clock } = input.run, { begins, ends } = stage.timesOf(clock);
           const at = (s) => stage.timeAt(s, rounds[s.round], clock.rounds, begins);
           const times = stage.planOf(rounds).map(at);
           const done = times.map((t) => stage.doneAt(t, ends));
           return { times, done, all: stage.doneAt(ends.at(-1), ends) };""",
        run=run,
    )
    assert got["times"][0] == 0 and got["times"] == sorted(got["times"])
    assert got["times"][-1] == pytest.approx(trace.seconds.total, rel=1e-5)
    assert got["done"] == sorted(got["done"]) and got["all"] == len(plain.rounds)


def test_a_simulated_clock_counts_declared_costs():
    clock = stage.wire(traces.kiln(), None, stage.Costs(0.25, position=0.01))["clock"]
    assert clock["simulated"] and clock["plain"] == [1] * 6
    assert clock["rounds"] == [[1.0, 1.04, 0.0], [1.0, 1.04, 0.0]]


def test_the_end_of_the_clock_is_the_speedup(js):
    says = js(
        """const times = stage.timesOf(input.run.clock);
           return stage.timeSays(times, times.begins.at(-1), input.run);""",
        run=stage.wire(traces.kiln(), traces.kiln(0), stage.Costs(0.1)),
    )
    assert says == "2.8 against 6: 2.14×"


def test_a_toy_without_declared_costs_has_no_clock():
    assert stage.wire(traces.kiln(), traces.kiln(0))["clock"] is None


@pytest.mark.parametrize("bad", [-0.1, float("inf"), float("nan")])
def test_impossible_costs_are_refused(bad):
    with pytest.raises(ValueError, match="it must be 0 or more"):
        stage.Costs(bad)


# Keys.


def test_keys(js):
    def key(name, where="stage", presenter=False, on="section", **held):
        return [{"key": name, **held}, where, presenter, on]

    expected = [
        (key("ArrowRight"), "next"),
        (key("ArrowLeft"), "back"),
        (key("PageDown"), "next"),
        (key("PageUp"), "back"),
        (key("ArrowRight", shiftKey=True), "round+"),
        (key("ArrowLeft", shiftKey=True), "round-"),
        (key("Home"), "first"),
        (key("End"), "last"),
        (key(" "), "play"),
        (key("ArrowDown"), "token+"),
        (key("ArrowUp"), "token-"),
        (key(" ", presenter=True), "next"),
        (key("p", presenter=True), "play"),
        (key("p"), None),
        (key(" ", on="button"), None),
        (key("ArrowUp", on="range"), None),
        (key("ArrowRight", on="range"), "next"),
        (key("ArrowRight", on="select"), None),
        (key("ArrowLeft", altKey=True), None),
        (key("ArrowRight", where="page", on=""), "next"),
        (key(" ", where="page", on=""), None),
        (key("PageDown", where="page", on=""), None),
        (key("PageDown", where="page", presenter=True, on=""), "next"),
        (key("x"), None),
    ]
    got = js("return input.keys.map((k) => stage.actionOf(...k))", keys=[k for k, _ in expected])
    assert got == [action for _, action in expected]


def test_play_gives_a_rejection_more_time_and_speed_divides(js):
    run = stage.wire(traces.kiln())
    slow, fast = js(
        """const plan = stage.planOf(input.run.rounds), rounds = input.run.rounds;
           return [1, 4].map((x) => plan.map((s) => stage.pauseAt(s, rounds[s.round], x)));""",
        run=run,
    )
    assert slow == [4 * x for x in fast] and min(slow) >= 250
    assert slow[8] > slow[7] == slow[6]
