"""Why the tail was discarded, without a browser: words and laws agree with the trace."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from specdec.trace import Drafted, Round, Trace
from specdec.ui import stage
from tests import stage_node
from tests.apps import stage_traces as traces
from tests.pairs_np import GREEDY, SOFT
from tests.stage_node import wires

ALL = """return input.runs.map((run) => run.rounds.map((r) => {
  const all = { drafted: r.drafted.length, verified: true, judged: Infinity, discarded: true };
  const rule = stage.ruleOf(r, run), steps = stage.stepsOf(r);
  const at = steps.find((s) => s.phase === "discard");
  const fact = (_, i) => { const f = stage.factsOfDrafted(r, i, all, rule);
    const before = { ...all, judged: stage.tested(r), discarded: false };
    const early = stage.factsOfDrafted(r, i, before, rule);
    return { ...f, there: bare(f.there), early: early.there, earlyLaws: early.laws }; };
  const round = run.rounds.indexOf(r);
  return { facts: r.drafted.map(fact), say: at ? bare(stage.sayOf({ ...at, round }, run)) : "" };
}));"""
CASES = [("pq", SOFT), ("pq", GREEDY), ("match", SOFT), ("match", GREEDY)]


@pytest.fixture(scope="module")
def js(node) -> Callable[..., Any]:
    return stage_node.runner(node)


@pytest.fixture(scope="module")
def runs() -> list[Trace]:
    return [traces.mended(rule, sampling=s, seed=seed) for rule, s in CASES for seed in (1, 2, 3)]


@pytest.fixture(scope="module")
def told(js, runs) -> list[tuple[Trace, Round, dict]]:
    found = js(ALL, runs=wires(runs))
    return [(t, r, f) for t, rounds in zip(runs, found) for r, f in zip(t.rounds, rounds)]


def tails(told) -> list[tuple[Trace, Round, int, Drafted, dict]]:
    """Every discarded token with its facts."""
    return [
        (trace, r, i, token, found["facts"][i])
        for trace, r, found in told
        for i, token in enumerate(r.drafted)
        if token.verdict == "discarded"
    ]


def test_both_fates_are_met(told):
    fates = {(t.settings.rule, t.settings.sampling.greedy, d.mended.kept)
             for t, _, _, d, _ in tails(told) if d.mended}  # fmt: skip
    assert {fate for *_, fate in fates} == {False, True}
    assert len(fates) >= 7


def test_the_panel_says_whether_it_would_have_been_kept(told):
    for trace, r, i, token, fact in tails(told):
        said, mended = fact["there"], token.mended
        if mended is None:
            assert said == "" and not r.rejected
            continue
        right, first = r.written[-1], r.accepted + 1
        assert f"it would {'' if mended.kept else 'not '}have been kept: " in said
        assert said.endswith("To judge it there takes another pass.")
        assert ("the drafts between" in said) == (i > first)
        assert stage_text(right.text) in said
        if trace.settings.sampling.greedy:
            assert "own token there" in said and "u =" not in said
        elif trace.settings.rule == "match":
            assert f"is {'the same' if mended.kept else 'another'} token" in said
        else:
            assert (" < " in said) == (mended.u < mended.threshold) == mended.kept


def stage_text(text: str) -> str:
    """A token as it stands in a sentence, if it has nothing invisible; else nothing."""
    bare = text.removeprefix(" ")
    return f"“{bare}”" if bare.isprintable() and bare == bare.strip() and bare else ""


def test_nothing_is_told_before_the_tail_is_gone(told):
    for *_, fact in tails(told):
        assert fact["early"] == "" and fact["earlyLaws"] is None


def test_the_two_laws_hold_their_likeliest_tokens_and_the_discarded_one(told):
    for *_, token, fact in tails(told):
        if not token.mended:
            assert fact["laws"] is None
            continue
        bars, tops = fact["laws"]["bars"], (token.p_top, token.mended.p_top)
        by_id = {bar["id"]: bar for bar in bars}
        assert [bar["id"] for bar in bars if bar["mine"]] == [token.id]
        mine = by_id[token.id]
        assert (mine["wrong"], mine["right"]) == (
            pytest.approx(token.p, rel=1e-5),
            pytest.approx(token.mended.p, rel=1e-5),
        )
        for name, top in zip(("wrong", "right"), tops):
            assert {t for t, *_ in top.entries[:5]} <= set(by_id)
            for t, _, p in top.entries:
                if t in by_id:
                    assert by_id[t][name] == pytest.approx(p, rel=1e-5)
            shown = sum(bar[name] or 0 for bar in bars)
            assert fact["laws"]["rest"][name] == pytest.approx(1 - shown, abs=1e-5)
        assert len(bars) <= 11


def test_rounding_outside_the_shown_rows_is_no_mass(js):
    script = "return stage.restBeside(input.bars, ['a', 'b'])"
    bars = [{"a": 0.7, "b": 0.7}, {"a": 0.1, "b": 0.1}, {"a": 0.1, "b": 0.1}]
    assert js(script, bars=[*bars, {"a": 0.1, "b": 0.0999}]) == {
        "a": 0,
        "b": pytest.approx(0.0001),
    }


def test_the_step_says_it_of_the_first_discarded_token(told):
    for _, r, found in told:
        said, first = found["say"], r.accepted + 1
        if not r.rejected or first >= len(r.drafted):
            assert "another pass" not in said
            continue
        kept = r.drafted[first].mended.kept
        assert f"would {'' if kept else 'not '}have been kept; to judge it there takes" in said
        assert stage_text(r.drafted[first].text) in said


def test_a_trace_that_was_not_looked_at_again_says_so_in_the_panel_alone(js):
    run = traces.ruled("pq", k=5)
    rounds = js(ALL, runs=wires([run]))[0]
    for r, found in zip(run.rounds, rounds):
        assert "pass" not in found["say"]
        for token, fact in zip(r.drafted, found["facts"]):
            after = token.verdict == "discarded" and r.rejected
            assert fact["there"].endswith("was not computed here.") == bool(after)
            assert fact["laws"] is None


def test_blocks_say_nothing_of_it(js):
    """There no single rejection cuts a draft."""
    for rounds in js(ALL, runs=wires([traces.ruled("block", seed=s) for s in range(1, 5)])):
        assert all(f["there"] == "" and f["laws"] is None for r in rounds for f in r["facts"])


def test_laws_that_were_not_recorded_leave_the_sentence(js):
    run = traces.mended()
    bare = replace(run, rounds=tuple(
        replace(r, drafted=tuple(
            replace(t, p_top=None, mended=t.mended and replace(t.mended, p_top=None))
            for t in r.drafted)) for r in run.rounds))  # fmt: skip
    facts = [f for r in js(ALL, runs=wires([bare]))[0] for f in r["facts"]]
    assert all(f["laws"] is None for f in facts) and any("kept" in f["there"] for f in facts)


def test_the_wire_has_it(runs):
    for trace in runs:
        sent = json.loads(json.dumps(stage.wire(trace), allow_nan=False))
        drafted = [t for r in trace.rounds for t in r.drafted]
        for token, got in zip(drafted, [t for r in sent["rounds"] for t in r["drafted"]]):
            if token.mended is None:
                assert got["mended"] is None
            else:
                assert got["mended"]["kept"] == token.mended.kept
                assert got["mended"]["p"] == pytest.approx(token.mended.p, rel=1e-5)
