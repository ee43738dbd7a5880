"""The race: its schedule and percentiles in node, its sentences, and what the page gets."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import accumulate

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from specdec import recordings, simulate
from specdec.measure import Costs, measured_speedup
from specdec.trace import Seconds, Trace
from specdec.ui import component, race
from tests.apps import stage_traces as traces

COSTS = Costs(4, target=0.03, verify=0.036, draft=0.002)
SCRIPT = """
const race = await import("data:text/javascript," + encodeURIComponent(data.script));
const { input } = data;
give((() => { %s })());
"""


@pytest.fixture(scope="module")
def js(node):
    script = component.script("race", race.MODULES)
    return lambda body, **given: node(SCRIPT % body, {"script": script, "input": given})


def pairs() -> list[tuple[Trace, Trace]]:
    """Recorded, sampled with awkward tokens, and simulated runs."""
    found = [recordings.load(*name.split(".")) for name in ("code.lookup", "chat.sampled")]
    return [
        *((r.speculative, r.plain) for r in found),
        (traces.sampled(30), traces.sampled(30, k=0)),
        (simulate.trace(0.8, 4, 25, 3, COSTS), simulate.plain(25, COSTS)),
    ]


def test_a_passs_tokens_come_together_at_its_end(js):
    wires = [race.wire(*pair) for pair in pairs()]
    lanes = [lane for wire in wires for lane in wire["lanes"]]
    got = js("return input.lanes.map(race.laneOf);", lanes=lanes)
    for trace, lane in zip([t for fast, slow in pairs() for t in (slow, fast)], got):
        ends = list(accumulate(r.seconds.total for r in trace.rounds))
        times = [end for end, r in zip(ends, trace.rounds) for _ in r.written]
        assert lane["ends"] == pytest.approx(ends, rel=1e-5)
        assert lane["times"] == pytest.approx(times, rel=1e-5)
        assert lane["sums"] == list(accumulate(len(r.written) for r in trace.rounds))
        assert lane["tokens"] == len(trace.token_ids)


LANE = {"seconds": [0.5, 0.25, 1.0], "passes": [["a", "b"], ["c"], ["d", "e", "f"]]}
OTHER = {"seconds": [0.25, 0.25, 0.25, 0.25], "passes": [["a"], ["b"], ["c"], ["d"]]}


def test_where_a_lane_stands_at_a_time(js):
    times = [0, 0.49, 0.5, 0.74, 0.75, 1.74, 1.75, 9]
    stands = js(
        "const lane = race.laneOf(input.lane);"
        "return input.times.map((t) => [race.standAt(lane, t), race.rateAt(lane, t)]);",
        lane=LANE,
        times=times,
    )
    assert [s["tokens"] for s, _ in stands] == [0, 0, 2, 2, 3, 3, 6, 6]
    assert [s["passes"] for s, _ in stands] == [0, 0, 1, 1, 2, 2, 3, 3]
    assert [s["over"] for s, _ in stands] == [False] * 6 + [True] * 2
    rates = [None, None, 2 / 0.5, 2 / 0.74, 3 / 0.75, 3 / 1.74, 6 / 1.75, 6 / 1.75]
    assert [rate for _, rate in stands] == pytest.approx(rates)


def test_events_are_the_ends_of_passes_and_the_start_each_once(js):
    events, on, back, between = js(
        """const lanes = [race.laneOf(input.a), race.laneOf(input.b)];
        const events = race.eventsOf(lanes);
        const on = [0], back = [9];
        while (on.at(-1) < events.at(-1)) on.push(race.eventFrom(events, on.at(-1), 1));
        while (back.at(-1) > 0) back.push(race.eventFrom(events, back.at(-1), -1));
        return [events, on, back, [-1, 1].map((way) => race.eventFrom(events, 0.6, way))];""",
        a=LANE,
        b=OTHER,
    )
    assert events == on == [0, 0.25, 0.5, 0.75, 1.0, 1.75]
    assert back == [9, *reversed(events)]
    assert between == [0.5, 0.75]


def test_times_that_only_rounding_parts_are_one_event(js):
    events = js(
        "return race.eventsOf([input.a, input.b].map(race.laneOf));",
        a={"seconds": [0.1] * 3, "passes": [["a"]] * 3},
        b={"seconds": [0.3], "passes": [["a"]]},
    )
    assert events == pytest.approx([0, 0.1, 0.2, 0.3]) and len(events) == 4


def test_percentiles_are_numpys(js):
    rng = np.random.default_rng(5)
    samples = [rng.exponential(size=n).tolist() for n in (1, 2, 3, 10, 63)] + [[0.0] * 9 + [1.0]]
    shares = [0, 0.1, 0.5, 0.9, 0.99, 1]
    got = js(
        "return input.samples.map((s) => input.shares.map((x) => race.percentile(s, x)));",
        samples=samples,
        shares=shares,
    )
    assert np.allclose(got, [np.quantile(s, shares) for s in samples], rtol=1e-12, atol=0)


def test_gaps_are_the_waits_between_tokens(js):
    wires = [race.wire(*pair)["lanes"] for pair in pairs()]
    got = js(
        "return input.wires.map((l) => l.map((x) => race.gapsOf(race.laneOf(x))));", wires=wires
    )
    for lanes, found in zip(wires, got):
        for lane, gaps in zip(lanes, found):
            ends = accumulate(lane["seconds"])
            waits = np.diff([end for end, p in zip(ends, lane["passes"]) for _ in p])
            assert (gaps["count"], gaps["none"]) == (len(waits), sum(waits == 0))
            expected = [*np.quantile(waits, [0.5, 0.9]), waits.max()]
            assert [gaps[x] for x in ("p50", "p90", "max")] == pytest.approx(expected)
    assert js("return race.gapsOf(race.laneOf(input.lane));", lane=one_token()) is None


def one_token() -> dict:
    return {"seconds": [0.5], "passes": [[{"text": "a", "kind": "bonus"}]]}


def test_what_the_clock_says(js):
    got = js(
        """const lanes = [race.laneOf(input.a), race.laneOf(input.b)];
        const says = (t) => [race.laneSays(lanes[0], t), race.standSays(["A", "B"], lanes, t)];
        return [0, 0.6, 9].map(says);""",
        a=LANE,
        b=OTHER,
    )
    assert got[0] == [
        ["0 of 6 tokens", "0 of 3 passes", "– tokens/s", ""],
        "0 ms, A: 0 tokens, B: 0 tokens",
    ]
    assert got[1] == [
        ["2 of 6 tokens", "1 of 3 passes", "3.3 tokens/s", ""],
        "600 ms, A: 2 tokens, B: 2 tokens",
    ]
    assert got[2][0] == ["6 of 6 tokens", "3 of 3 passes", "3.4 tokens/s", "done at 1750 ms"]


def test_bursts_in_a_sentence(js):
    words = js(
        "return [input.a, input.b].map((x) => race.gapsSay([null, race.gapsOf(race.laneOf(x))]));",
        a=LANE,
        b=OTHER,
    )
    assert words[0].startswith("Speculation writes in bursts: 3 of its 5 gaps are 0")
    assert words[1] == "No two tokens came together."


# Sentences.


def slower(trace: Trace, factor: float) -> Trace:
    """The same run, every pass so many times as long."""
    rounds = [
        replace(r, seconds=Seconds(*(x * factor for x in vars(r.seconds).values())))
        for r in trace.rounds
    ]
    return replace(trace, rounds=tuple(rounds))


def test_the_result_names_the_first_and_the_measured_factor():
    fast, slow = simulate.trace(1.0, 4, 40, 0, COSTS), simulate.plain(40, COSTS)
    factor = measured_speedup(fast, slow)
    assert factor == pytest.approx(5 * 0.03 / 0.044)
    words = race.result(fast, slow)
    assert words.startswith(f"Speculative decoding was first: {factor:.2f}× as fast as plain.")
    assert "352 ms against 1200 ms for 40 tokens each" in words
    lost = race.result(slower(fast, 4), slow)
    assert lost.startswith(
        f"Plain decoding was first: speculation ran at {factor / 4:.2f}× its speed"
    )
    assert race.result(slower(fast, factor), slow).startswith("Level: 1.00×.")


def test_texts_of_different_length_are_compared_by_the_token():
    fast, slow = simulate.trace(1.0, 4, 20, 0, COSTS), simulate.plain(40, COSTS)
    words = race.result(fast, slow)
    assert "was first" not in words and "was faster per token: 3.41×" in words
    assert "20 speculative and 40 plain tokens" in words and "8.8 ms against 30.0 ms" in words


def test_it_says_where_the_times_come_from():
    found = recordings.load("chat")
    fast, slow = found.speculative, found.plain
    words = race.which(fast, slow)
    assert words.startswith(f"Recorded on {fast.source.when[:10]}. The two ran one after another")
    assert f"prefill: {slow.seconds.prefill * 1e3:.0f} ms and" in words
    live = [replace(t, source=replace(t.source, kind="live")) for t in (fast, slow)]
    assert "on this machine; here they start together" in race.which(*live)
    simulated = simulate.trace(0.8, 4, 40, 0, COSTS), simulate.plain(40, COSTS)
    assert race.which(*simulated).startswith("Simulated: no model ran")
    mixed = race.which(simulated[0], slow)
    assert "Speculative decoding: simulated: not the target's text." in mixed
    assert "one after another" not in mixed


def test_simulated_tokens_are_blank_and_say_so():
    wire = race.wire(simulate.trace(0.8, 4, 40, 0, COSTS), recordings.load("chat").plain)
    assert [lane["blank"] for lane in wire["lanes"]] == [False, True]
    assert wire["lanes"][1]["note"] == "simulated: not the target's text"
    assert wire["lanes"][0]["note"] == ""


# The page.


def page():
    import streamlit as st

    from specdec import toy
    from specdec.recordings import load
    from specdec.ui.race import race

    if st.session_state.get("toy"):
        model = toy.random_model(1)
        race(
            toy.speculative_greedy(model, model, 4),
            toy.speculative_greedy(model, model, 4, 0),
            key="r",
        )
    else:
        race(load("code", "lookup").speculative, load("code", "lookup").plain, key="r")


def test_the_page_gets_both_lanes():
    at = AppTest.from_function(page, default_timeout=30).run()
    assert not at.exception
    sent = json.loads(at.get("bidi_component")[0].proto.json)
    found = recordings.load("code", "lookup")
    for lane, trace in zip(sent["lanes"], (found.plain, found.speculative)):
        texts = [t["text"] for pass_ in lane["passes"] for t in pass_]
        assert texts == [t.text for t in trace.written]


def test_runs_without_times_are_refused_in_words():
    at = AppTest.from_function(page, default_timeout=30)
    at.session_state["toy"] = True
    at.run()
    assert not at.exception and not at.get("bidi_component")
    assert "times of a model's passes" in at.caption[0].value


def test_the_browser_gets_text_as_text_and_fetches_nothing():
    script = component.script("race", race.MODULES)
    for word in (
        "innerHTML",
        "outerHTML",
        "insertAdjacentHTML",
        "document.write",
        "eval(",
        "import ",
    ):
        assert word not in script
    for text in (component.read("race.html"), component.read("race.css"), script):
        assert "http" not in text and "url(" not in text
