"""The stage without a browser: what it says, its panel and its wire."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import Any, get_args

import pytest
from streamlit.testing.v1 import AppTest

from specdec.trace import Kind, StopReason, Top, Trace, Verdict
from specdec.ui import component, stage
from tests import stage_node
from tests.apps import stage_traces as traces
from tests.stage_node import wires


@pytest.fixture(scope="module")
def js(node) -> Callable[..., Any]:
    return stage_node.runner(node)


@pytest.fixture(scope="module")
def runs() -> list[Trace]:
    return stage_node.all_runs()


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
    runs = [t for t in runs if t.settings.rule == "pq" or t.settings.sampling.greedy]
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
        """const steps = stage.planOf(input.run.rounds).slice(0, 11);
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
           const i = r.drafted.findIndex(failed), rule = stage.ruleOf(r, input.run);
           const fact = (s) => stage.factsOfDrafted(r, i, stage.shownAt(s, r), rule);
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
    html = component.read("stage.html")
    css = "".join(
        component.read(f"{name}.css") for name in ("token", "controls", "stage_ledger", "stage")
    )
    script = component.script("stage", stage.MODULES)
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


def test_the_place_of_the_link_holds_until_the_reader_moves(installed):
    at = AppTest.from_function(page).run()
    assert not at.exception and at.text[0].value == "2 3"
    assert json.loads(at.get("bidi_component")[0].proto.json)["start"] == {"round": 2, "step": 3}


def test_the_browser_is_not_trusted(installed):
    at = AppTest.from_function(page)
    at.session_state["s"] = {"place": {"round": 10**9, "step": -5}}
    assert at.run().text[0].value == "2 10"
    at.session_state["s"] = {"place": {"round": "<b>", "step": None}}
    assert at.run().text[0].value == "1 0"
