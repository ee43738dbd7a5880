"""The stage under the other lossless rules: what it shows is what the engine decided."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from specdec.arithmetic import cut_ratio
from specdec.law import Sampling, draw
from specdec.rule import RULES
from specdec.trace import Round, Trace
from specdec.ui import stage
from tests import stage_node
from tests.apps import stage_traces as traces
from tests.pairs_np import SOFT
from tests.stage_node import wires

SEEDS = range(1, 7)
END = ("discard", "write")  # the tests are over
WALK = """return input.runs.map((run) => stage.planOf(run.rounds).map((s) => {
  const r = run.rounds[s.round], shown = stage.shownAt(s, r), rule = stage.ruleOf(r, run);
  const each = (f) => r.drafted.map((_, i) => f(r, i, shown));
  return { ...s, say: bare(stage.sayOf(s, run)), lane: stage.lanesSay(r, run, shown).accept,
    kinds: each(stage.kindAt), fates: each(rule.fate),
    facts: each((r, i) => {
      const { token, tops, rows, ...f } = stage.factsOfDrafted(r, i, shown, rule);
      return { ...f, rows: Object.fromEntries(rows.map(([k, v]) => [k, bare(v)])),
        tops: Object.keys(tops), ...(input.whole && { token, heads: tops }) }; }),
    marks: r.drafted.map((t, i) => i < stage.tested(r) ? bare(rule.marks(r, i)) : null),
    draws: r.drafted.map((t, i) => rule.draws(r, i)), line: rule.line };
}));"""


@pytest.fixture(scope="module")
def js(node) -> Callable[..., Any]:
    return stage_node.runner(node)


@pytest.fixture(scope="module")
def blocks() -> list[Trace]:
    long = [traces.ruled("block", k=k) for k in (1, 2, 7)]
    return [*(traces.ruled("block", seed=s) for s in SEEDS), *long, *stage_node.cut_blocks()]


@pytest.fixture(scope="module")
def matches() -> list[Trace]:
    return [traces.ruled("match", seed=s, stop_ids=(5,) if s % 2 else ()) for s in SEEDS]


@pytest.fixture(scope="module")
def steps(js, blocks) -> list[tuple[Round, dict]]:
    return [step for walk in walks(js, blocks) for step in walk]


@pytest.fixture(scope="module")
def match_walks(js, matches) -> list[list[tuple[Round, dict]]]:
    return walks(js, matches)


def walks(js, runs: list[Trace]) -> list[list[tuple[Round, dict]]]:
    """Every step of each run with its round."""
    found = js(WALK, runs=wires(runs))
    return [[(t.rounds[s["round"]], s) for s in plan] for t, plan in zip(runs, found)]


def passed(r: Round) -> list[bool]:
    return [token.u < token.threshold for token in r.drafted]


def last_pass(r: Round, tests: int | None = None) -> int:
    return max((i for i, ok in enumerate(passed(r)[:tests]) if ok), default=-1)


# Sampler-match.


def test_the_draw_shown_is_the_one_that_u_makes_from_the_targets_law(matches, match_walks):
    seen = set()
    for seed, trace, walk in zip(SEEDS, matches, match_walks):
        steps = [(r, s) for r, s in walk if s["phase"] == "accept"]
        target, ids = traces.random_target(seed), [t.id for t in trace.prompt]
        seen |= {r.drafted[s["i"]].verdict for r, s in steps}
        for r, s in steps:
            before = [*ids, *trace.token_ids][: r.start + s["i"]]
            own = draw(SOFT.law(target.after(before)), r.drafted[s["i"]].u)
            same = own == r.drafted[s["i"]].id
            assert s["draws"][s["i"]] == traces.WORDS[own]
            assert s["marks"][s["i"]] == ("✓ yes" if same else "✗ no")
            assert s["facts"][s["i"]]["rows"]["same token"] == ("yes" if same else "no")
            assert "the target's own draw, with u = " in s["say"]
            assert s["say"].endswith("is the same token.") == same
    assert seen == {"accepted", "rejected"}


def test_a_match_is_never_told_as_a_test_of_u(match_walks):
    for _, s in (step for walk in match_walks for step in walk):
        assert not s["line"]
        told = json.dumps([s["say"], s["lane"], s["marks"], s["facts"]], ensure_ascii=False)
        assert not any(sign in told for sign in (" < ", "≥", "p / q", "min(1"))
        assert s["lane"] in ("", "the target's own draw: same token?")


def test_the_panel_of_a_match_waits_for_its_step(match_walks):
    for r, s in (step for walk in match_walks for step in walk):
        for i, (token, fact) in enumerate(zip(r.drafted, s["facts"], strict=True)):
            own = [fact["rows"][k] for k in ("the target's own draw", "u of that draw")]
            over = s["phase"] in END or (s["phase"] == "accept" and i <= s["i"])
            if not over or token.verdict == "discarded":
                tail = over and s["phase"] != "accept"
                assert own == (["–", "–"] if tail else ["…", "…"])
            else:
                assert own[0].startswith("“") and float(own[1].replace("e−", "e-")) < 1
            assert fact["rows"]["p, the target's"] != "…" or s["phase"] in ("before", "draft")


# Block verification.


def test_a_round_is_walked_through_every_test(steps, blocks):
    for trace in blocks:
        for r in trace.rounds:
            phases = [s["phase"] for other, s in steps if other is r]
            assert phases.count("accept") == len(r.drafted)
            assert phases.count("discard") == (r.accepted < len(r.drafted))


def test_a_token_is_kept_from_the_first_pass_that_keeps_it(steps):
    seen = set()
    for r, s in steps:
        tests = {"accept": s["i"] + 1, "discard": 99, "write": 99}.get(s["phase"], 0)
        for i, (token, kind) in enumerate(zip(r.drafted, s["kinds"], strict=True)):
            kept = i <= last_pass(r, tests) and token.verdict == "accepted"
            over = s["phase"] in END
            assert kind == (token.verdict if over or kept else "drafted")
            seen.add((kind, passed(r)[i]))
    everything = {(v, ok) for v in ("accepted", "discarded", "drafted") for ok in (True, False)}
    assert seen == everything | {("rejected", False)}


def test_the_fate_of_a_test_is_said_as_far_as_it_is_known(steps):
    for r, s in steps:
        tests = {"accept": s["i"] + 1}.get(s["phase"], len(r.drafted) * (s["phase"] in END))
        for i, token in enumerate(r.drafted):
            fate, words = s["fates"][i], s["facts"][i]["verdict"]
            if i >= tests:
                assert (fate, words) == ("", "not judged yet")
            elif passed(r)[i]:
                last = tests == len(r.drafted) and i == last_pass(r)
                assert fate == ("last pass" if last else "passed")
                assert "passed its own test" in words
            elif i < last_pass(r, tests) and token.verdict == "accepted":
                assert fate == "failed, kept"
                assert words.endswith("failed its own test, kept: a later one passed")
            else:
                assert fate == "failed" and "failed its own test" in words
                over = tests == len(r.drafted)
                later = i < last_pass(r, tests)  # but the text had ended
                assert ("a later one passed" in words) == later
                assert ("a later pass may keep it" in words) == (not over and not later)
                assert ("no later one passed" in words) == (over and not later)


def test_the_sentences_name_the_tests_and_the_last_pass(steps):
    tails = set()
    for r, s in steps:
        if s["phase"] == "accept":
            token, ok = r.drafted[s["i"]], passed(r)[s["i"]]
            assert f"test {s['i'] + 1}: " in s["say"]
            assert (" < " in s["say"]) == ok == ("≥" not in s["say"])
            failed = passed(r)[last_pass(r, s["i"]) + 1 : s["i"]]
            assert ("failed" in s["say"].split(": ")[-1]) == (ok and bool(failed))
            assert ("only a later pass" in s["say"]) == (not ok and token is not r.drafted[-1])
        if s["phase"] == "discard":
            last, n = last_pass(r), r.accepted
            name = "no test passed" if last < 0 else f"the last pass is test {last + 1}"
            assert f", {name}" in s["say"]
            assert ("is rejected" in s["say"]) == bool(r.rejected)
            assert ("drafted after the end" in s["say"]) == (not r.rejected)
            assert ("the text ends before it" in s["say"]) == (not r.rejected and last >= n)
            tails.add((last < 0, bool(r.rejected), last >= n))
    ends = {(False, False, False), (False, False, True)}
    assert tails == {(True, True, False), (False, True, False), *ends}


def ratios(r: Round) -> list[float]:
    """[n + 1]: p ÷ q of the first i drafted tokens, cut at 1 at each of them."""
    found = [1.0]
    for token in r.drafted:
        found.append(float(cut_ratio(found[-1] * token.p, token.q)))
    return found


def test_w_is_the_ratio_of_the_block_and_at_its_end_the_threshold(steps):
    for r, s in (about for about in steps if about[1]["phase"] == "write" and about[0].drafted):
        facts = s["facts"]
        notes = [f["note"].split("The w before it, ")[1].split(", ")[0] for f in facts]
        shown = [*notes[:1], *(fact["rows"]["w, the block so far"] for fact in facts)]
        assert notes == shown[:-1]
        numbers = [float(text.replace("−", "-").replace("≈", "")) for text in shown]
        assert numbers == pytest.approx(ratios(r), rel=0.5)
        assert all(abs(a - b) < 5.1e-4 for a, b in zip(numbers, ratios(r)))
        assert r.drafted[-1].threshold == pytest.approx(ratios(r)[-1])


def test_the_residual_is_scaled_as_its_label_says(steps, blocks):
    """max(0, w·p − q) with the w before the token, up to one factor, wherever all are recorded."""
    found, drafts = 0, [r for t in blocks for r in t.rounds if r.drafted]
    tokens = [(x, w, t) for r in drafts for x, w, t in zip(r.drafted, ratios(r), reached(r))]
    for token, w, _ in (about for about in tokens if about[-1]):
        p, q, left = ({i: x for i, _, x in law.entries} for law in heads(token))
        shares = [left[i] / (w * p[i] - q[i]) for i in p if i in q and left.get(i, 0) > 0.02]
        assert shares == pytest.approx(shares[:1] * len(shares), rel=1e-6)
        found += len(shares) > 1 and w < 1
    assert found > 20
    facts = [(s["phase"], fact) for _, s in steps for fact in s["facts"]]
    assert {fact["residual"] for _, fact in facts} == {"scaled residual"}
    assert all(("scales the residual" in f["note"]) == ("residual" in f["tops"]) for _, f in facts)
    ends = [there for *_, there in tokens]
    assert ["residual" in fact["tops"] for phase, fact in facts if phase == "write"] == ends
    assert not all(ends)


def reached(r: Round) -> list[bool]:
    """Whether a round can end at each drafted token: else nothing is left for a residual."""
    return [True, *(token.threshold > 0 for token in r.drafted)]


def heads(token) -> tuple:
    return token.p_top, token.q_top, token.residual_top


def test_play_gives_a_saving_pass_more_time(js, steps, blocks):
    pauses = js(
        """return input.runs.map((t) => phases(t, "accept").map((s) =>
             stage.pauseAt(s, t.rounds[s.round], 1)))""",
        runs=wires(blocks),
    )
    tests = [(r, s["i"]) for r, s in steps if s["phase"] == "accept"]
    for (r, i), pause in zip(tests, [p for row in pauses for p in row], strict=True):
        saves = passed(r)[i] and i > 0 and not passed(r)[i - 1]
        assert pause == (1700 if saves else 1100)


# All rules.


def test_the_wire_says_the_rule_and_the_outcome_before_the_digits_are_cut():
    for rule in RULES:
        for sampling in (SOFT, Sampling()):
            trace = traces.ruled(rule, sampling=sampling)
            for r, sent in zip(trace.rounds, stage.wire(trace)["rounds"], strict=True):
                assert sent["rule"] == rule
                block = rule == "block" and not sampling.greedy
                expected = passed(r) if block else [None] * len(r.drafted)
                assert [token["passed"] for token in sent["drafted"]] == expected
    token = replace(trace.rounds[0].drafted[0], u=0.12345671, threshold=0.12345674)
    sent = stage._drafted(token, "block")
    assert sent["u"] == sent["threshold"] and sent["passed"]


def test_greedy_runs_are_told_alike_under_every_rule(js):
    runs = [traces.ruled(rule, sampling=Sampling()) for rule in RULES]
    told = js(WALK, runs=wires(runs), whole=True)
    assert told[0] == told[1] == told[2]
    assert any("own token" in s["say"] for s in told[0])


def test_the_same_tokens_under_another_rule_are_another_run(js):
    runs = wires([traces.ruled(rule, sampling=Sampling()) for rule in RULES])
    same = js("return input.runs.map((t) => stage.extendsRun(input.runs[0], t))", runs=runs)
    assert same == [True, False, False]


def test_the_foot_says_the_rule(js):
    says = js(
        "return input.runs.map((t) => stage.sourceOf(t.source, t.settings))",
        runs=wires([traces.ruled(rule) for rule in RULES]),
    )
    rules = ["rule: sampler-match" in s for s in says], ["rule: block" in s for s in says]
    assert rules == ([False, True, False], [False, False, True])


def page():
    from specdec.ui.stage import Position, stage
    from tests.apps.stage_traces import ruled

    place = stage(ruled("block"), key="s", start=Position(4, 99))
    import streamlit as st

    st.text(f"{place.round} {place.step}")


def test_a_link_reaches_the_last_step_of_a_block_round(installed):
    at = AppTest.from_function(page).run()
    fourth = traces.ruled("block").rounds[3]
    assert [t.verdict[0] for t in fourth.drafted] == ["a", "a", "r", "d"]
    assert not at.exception and at.text[0].value == "4 11"  # before, 4, verify, 4, tail, write
    sent = json.loads(at.get("bidi_component")[0].proto.json)
    assert sent["settings"]["rule"] == sent["rounds"][3]["rule"] == "block"
