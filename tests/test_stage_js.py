"""The stage without a browser: its pure functions in node, against the trace and its own twins."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from itertools import pairwise
from typing import Any, get_args

import pytest
from streamlit.testing.v1 import AppTest

from specdec import toy
from specdec.trace import Kind, StopReason, Top, Trace, Verdict
from specdec.ui import stage
from tests.apps import stage_traces as traces

SCRIPT = """
const stage = await import("data:text/javascript," + encodeURIComponent(data.script));
const { input } = data;
const phases = (run, phase) => stage.planOf(run.rounds).filter((s) => s.phase === phase);
give((() => { %s })());
"""


@pytest.fixture(scope="module")
def js(node) -> Callable[..., Any]:
    """What a JavaScript function body returns, given `stage` (as shipped) and `input`."""
    return lambda body, **given: node(SCRIPT % body, {"script": stage.script(), "input": given})


def random_toys() -> list[Trace]:
    """Greedy runs with every number of drafted, accepted and cut tokens up to six."""
    made = []
    for seed in range(24):
        target = toy.random_model(seed)
        draft = toy.random_model(seed + 100, follow=target, agree=seed % 5 / 4)
        made.append(toy.speculative_greedy(target, draft, 3 + seed % 7, seed % 7))
    return made


@pytest.fixture(scope="module")
def runs() -> list[Trace]:
    empty = traces.first(traces.sampled(), 0, "cancelled")
    stops = [traces.sampled(40, 6, seed=seed, stop_ids=(18,)) for seed in range(4)]
    copied = traces.sampled(copied=True, k=5)
    return [
        *random_toys(),
        traces.kiln(),
        traces.sampled(),
        traces.sampled(k=0),
        copied,
        *stops,
        empty,
    ]


def wires(runs: list[Trace]) -> list[dict]:
    return [stage.wire(trace) for trace in runs]


# Steps and places.


def test_the_runs_meet_every_kind_of_round(runs):
    rounds = [r for trace in runs for r in trace.rounds]
    assert {t.verdict for r in rounds for t in r.drafted} == set(get_args(Verdict))
    assert {t.kind for r in rounds for t in r.written} == set(get_args(Kind))
    assert any(r.stop_reason == "eos" and len(r.written) < len(r.drafted) for r in rounds)
    assert any(r.drafted and not r.draft_passes for r in rounds)
    assert any(not r.drafted for r in rounds) and any(not trace.rounds for trace in runs)


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
            assert phases.count("accept") == r.accepted + r.rejected
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
            assert states[-1] == [len(r.drafted), 1, r.accepted + r.rejected, 1, 1]
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


# Words and numbers.


def test_invisible_characters_get_a_mark_and_markup_stays_text(js):
    cases = {
        " a": [["·", True], ["a", False]],
        "a b": [["a b", False]],
        "a  b ": [["a", False], ["··", True], ["b", False], ["·", True]],
        "\n\t": [["⏎⇥", True]],
        "": [["⋯", True]],
        "\u202eabc": [["U+202E", True], ["abc", False]],
        "<b>x</b>": [["<b>x</b>", False]],
        "👩\u200d💻": [["👩\u200d💻", False]],
        "شم\u200cها": [["شم\u200cها", False]],
        "\x00": [["U+0000", True]],
    }
    got = js(
        "return input.texts.map((t) => stage.piecesOf(t).map((p) => [p.text, p.mark]))",
        texts=list(cases),
    )
    assert dict(zip(cases, got)) == cases


def test_numbers_are_never_a_false_zero_or_one_and_stay_short(js):
    rng = random.Random(1)
    xs = [rng.random() ** rng.choice([1, 4, 12]) for _ in range(500)]
    xs += [1 - x for x in xs] + [1e-300, 1 - 2**-53]
    for x, text in zip(xs, js("return input.xs.map(stage.num)", xs=xs), strict=True):
        assert len(text) <= 7
        if 0 < x < 1:
            assert text not in ("0", "1") and "0.000" != text != "1.000"
            number = float(text.replace("−", "-").replace("≈", ""))
            assert number == pytest.approx(x, rel=0.5, abs=0) and abs(number - x) < 5.1e-4
    assert js("return [0, 1, null].map(stage.num)") == ["0", "1", "–"]


def test_two_different_numbers_look_different(js):
    pairs = [[0.8301, 0.8304], [0.5, 0.500004], [0.1, 0.9], [0.25, 0.25]]
    got = js("return input.pairs.map(([a, b]) => stage.apart(a, b))", pairs=pairs)
    assert [a != b for a, b in got] == [True, True, True, False]


def test_every_kind_has_a_glyph_and_every_end_a_word(js):
    glyphs, ends = js("return [stage.GLYPH, stage.ENDS]")
    assert (
        set(glyphs) == set(get_args(Verdict)) | set(get_args(Kind))
        and len(set(glyphs.values())) == 5
    )
    assert set(ends) == set(get_args(StopReason))


def test_the_sentence_of_a_test_agrees_with_the_trace(js, runs):
    said = js(
        "return input.runs.map((r) => phases(r, 'accept').map((s) => stage.sayOf(s, r)))",
        runs=wires(runs),
    )
    for trace, sentences in zip(runs, said, strict=True):
        judged = [t for r in trace.rounds for t in r.drafted if t.verdict != "discarded"]
        for token, sentence in zip(judged, sentences, strict=True):
            assert f"is {token.verdict}:" in sentence
            if trace.settings.sampling.greedy:
                assert "own token" in sentence and " u =" not in sentence
            else:
                sign = "<" if token.u < token.threshold else "≥"
                assert f" {sign} " in sentence and (sign == "<") == (token.verdict == "accepted")


def test_the_kiln_is_told_step_by_step(js):
    said = js(
        """const bare = (text) => text.replace(/[\\u2068\\u2069]/g, "");
           const steps = stage.planOf(input.run.rounds).slice(0, 11);
           return steps.map((s) => bare(stage.sayOf(s, input.run)));""",
        run=stage.wire(traces.kiln()),
    )
    assert said[0] == "Round 1, before: after an empty text."
    assert said[3] == "Round 1, draft 3 of 4: the drafter guesses “cooled” (q = 1)."
    assert said[5] == "Round 1, verify: one target pass scores 5 positions at once."
    assert said[6] == "Round 1, test 1: “the” is accepted: the target's own token too."
    assert said[8] == "Round 1, test 3: “cooled” is rejected: the target's own token is “held”."
    assert said[9] == "Round 1, 1 token drafted after a wrong one: discarded."
    assert said[10].startswith(
        "Round 1, write: 3 tokens for one pass (2 accepted, 1 corrected); “held”"
    )


def test_tokens_cut_away_by_the_end_are_called_so(js, runs):
    cut = [
        t for t in runs if t.rounds and t.rounds[-1].stop_reason == "eos" and t.rounds[-1].drafted
    ]
    cut = [
        t
        for t in cut
        if not t.rounds[-1].rejected and t.rounds[-1].accepted < len(t.rounds[-1].drafted)
    ]
    assert cut
    said = js(
        "return input.runs.map((r) => stage.sayOf(phases(r, 'discard').at(-1), r))",
        runs=wires(cut),
    )
    assert all("drafted after the end: discarded." in sentence for sentence in said)


@pytest.mark.parametrize(
    ("trace", "says"),
    [
        (traces.kiln(), "toy: lookup tables, no model"),
        (traces.sampled(), "live · bigram + drafter noisy bigram · float64 · cpu"),
        (traces.sampled(k=0), "live · bigram · float64 · cpu"),
    ],
)
def test_the_source_is_said(js, trace, says):
    assert (
        js("return stage.sourceOf(input.run.source, input.run.settings)", run=stage.wire(trace))
        == says
    )


# The panel.


def test_the_panel_gives_nothing_away_before_its_step(js):
    run = stage.wire(traces.sampled())
    facts = js(
        """const failed = (t) => t.verdict === "rejected";
           const r = input.run.rounds.find((x) => x.drafted.some(failed));
           const i = r.drafted.findIndex(failed);
           const fact = (s) => stage.factsOfDrafted(r, i, stage.shownAt(s, r), false);
           const there = (s) => !["before", "draft"].includes(s.phase) || s.i === i;
           return stage.stepsOf(r).filter(there).map((s) => [s.phase, s.i < i, fact(s)]);""",
        run=run,
    )
    for phase, earlier, fact in facts:
        rows = dict(fact["rows"])
        assert rows["q, the drafter's"] != "…" and "q" in fact["tops"]
        known = phase not in ("before", "draft")
        assert (rows["p, the target's"] != "…") == known == ("p" in fact["tops"])
        judged = phase in ("discard", "write") or (phase == "accept" and not earlier)
        assert (rows["u"] != "…") == judged == (fact["kind"] == "rejected")


def test_bars_hold_the_heads_of_the_laws_and_the_token_itself(js):
    trace = traces.sampled()
    tokens = [(r, t) for r in trace.rounds for t in r.drafted]
    bars = js(
        """return input.run.rounds.flatMap((r) => r.drafted).map((t) =>
             stage.barsOf({ p: t.p_top, q: t.q_top, residual: t.residual_top }, t))""",
        run=stage.wire(trace),
    )
    for (_, token), rows in zip(tokens, bars, strict=True):
        assert sum(row["mine"] for row in rows) == 1
        mine = next(row for row in rows if row["mine"])
        for name, law in (("p", token.p_top), ("q", token.q_top), ("residual", token.residual_top)):
            assert {row["id"] for row in rows} >= {i for i, _, _ in law.entries}
            for i, _, x in law.entries:
                row = next(row for row in rows if row["id"] == i)
                assert row[name] == pytest.approx(x, rel=1e-5)
        assert mine["p"] in (None, pytest.approx(token.p, rel=1e-5))
        assert [row["p"] or 0 for row in rows] == sorted(
            (row["p"] or 0 for row in rows), reverse=True
        )


def test_what_is_outside_a_head_is_zero_only_if_the_head_is_all(js):
    rows = js(
        "return stage.barsOf(input.tops, { id: 9, text: 'x', p: 0.1, q: 0.2 })",
        tops={
            "p": {"entries": [[1, "a", 0.9]], "rest": 0.1},
            "q": {"entries": [[2, "b", 1.0]], "rest": 0.0},
        },
    )
    by = {row["id"]: row for row in rows}
    assert by[2]["p"] is None and by[1]["q"] == 0 and (by[9]["p"], by[9]["q"]) == (0.1, 0.2)


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


# The wire.


def test_the_wire_is_json_and_keeps_six_digits(runs):
    for trace in runs:
        sent = json.loads(json.dumps(stage.wire(trace), allow_nan=False))
        drafted = [t for r in trace.rounds for t in r.drafted]
        for token, got in zip(
            drafted, [t for r in sent["rounds"] for t in r["drafted"]], strict=True
        ):
            assert (got["id"], got["text"], got["verdict"]) == (token.id, token.text, token.verdict)
            assert (got["p"], got["q"]) == pytest.approx((token.p, token.q), rel=1e-5)
            assert (got["u"] is None) == (token.u is None)
        assert sent["end"] == trace.stop_reason


def test_a_long_prompt_is_cut_to_its_last_tokens():
    trace = traces.sampled(prompt=100)
    sent = stage.wire(trace)
    assert sent["hidden"] == 100 - stage.PROMPT_SHOWN
    assert [t["id"] for t in sent["prompt"]] == [t.id for t in trace.prompt[-stage.PROMPT_SHOWN :]]


def test_tops_that_were_not_recorded_are_none():
    assert stage._top(None) is None
    assert stage._top(Top(((3, "x", 0.12345678),), 0.5)) == {
        "entries": [[3, "x", 0.123457]],
        "rest": 0.5,
    }


def test_the_browser_gets_text_as_text_and_fetches_nothing():
    html = (stage.ASSETS / "stage.html").read_text(encoding="utf-8")
    css = (stage.ASSETS / "stage.css").read_text(encoding="utf-8")
    script = stage.script()
    for word in (
        "innerHTML",
        "outerHTML",
        "insertAdjacentHTML",
        "document.write",
        "eval(",
        "import ",
    ):
        assert word not in script
    for text in (html, css, script):
        assert "http" not in text and "url(" not in text


# The page's side.


def page():
    from specdec.ui.stage import Position, stage
    from tests.apps.stage_traces import kiln

    place = stage(kiln(), key="s", start=Position(2, 3))
    import streamlit as st

    st.text(f"{place.round} {place.step}")


def test_the_place_of_the_link_holds_until_the_reader_moves():
    at = AppTest.from_function(page).run()
    assert not at.exception and at.text[0].value == "2 3"
    assert json.loads(at.get("bidi_component")[0].proto.json)["start"] == {"round": 2, "step": 3}


def test_the_browser_is_not_trusted():
    at = AppTest.from_function(page)
    at.session_state["s"] = {"place": {"round": 10**9, "step": -5}}
    assert at.run().text[0].value == "2 10"
    at.session_state["s"] = {"place": {"round": "<b>", "step": None}}
    assert at.run().text[0].value == "1 0"
