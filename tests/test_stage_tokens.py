"""Stepping by written tokens, without a browser: which steps settle one, and asking for more."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from specdec.ui import stage
from tests import stage_node
from tests.apps import stage_traces as traces
from tests.stage_node import wires

SETTLED = """return input.runs.map((run) => {
  const plan = stage.planOf(run.rounds), settled = stage.settledOf(plan, run.rounds);
  return settled.map((at) => {
    const s = plan[at], r = run.rounds[s.round], shown = stage.shownAt(s, r);
    const known = r.drafted.filter((_, i) => stage.kindAt(r, i, shown) === "accepted").length;
    return { ...s, known: shown.written ? r.written.length : known };
  });
});"""


@pytest.fixture(scope="module")
def js(node) -> Callable[..., Any]:
    return stage_node.runner(node)


def test_every_written_token_is_settled_at_a_step_of_its_own(js):
    runs = [t for t in stage_node.all_runs() if t.settings.rule != "block"]
    for trace, steps in zip(runs, js(SETTLED, runs=wires(runs)), strict=True):
        assert len(steps) == len(trace.written)
        expected = [
            (r.index, "accept" if token.kind == "accepted" else "write", i + 1)
            for r in trace.rounds
            for i, token in enumerate(r.written)
        ]
        assert [(s["round"], s["phase"], s["known"]) for s in steps] == expected
        walk = [s["i"] for s in steps if s["phase"] == "accept"]
        assert walk == [s["known"] - 1 for s in steps if s["phase"] == "accept"]


def test_a_pass_that_saves_a_block_settles_all_that_it_keeps(js):
    runs = [traces.ruled("block", seed=s) for s in range(1, 5)] + stage_node.cut_blocks()
    saved = False
    for trace, steps in zip(runs, js(SETTLED, runs=wires(runs)), strict=True):
        assert sum(after(steps, at) for at in range(len(steps))) == len(trace.written)
        saved |= any(after(steps, at) > 1 for at in range(len(steps)))
        for s in steps:
            r = trace.rounds[s["round"]]
            if s["phase"] == "accept":
                assert r.drafted[s["i"]].u < r.drafted[s["i"]].threshold
    assert saved


def after(steps: list[dict], at: int) -> int:
    """Written tokens that a step settles."""
    same = at and steps[at - 1]["round"] == steps[at]["round"]
    return steps[at]["known"] - (steps[at - 1]["known"] if same else 0)


def test_there_and_back(js):
    run = stage.wire(traces.sampled())
    found = js(
        """const plan = stage.planOf(input.run.rounds);
           const settled = stage.settledOf(plan, input.run.rounds), go = stage.settledFrom;
           const on = [], back = [];
           for (let at = 0; (at = go(settled, at, 1)) !== undefined; ) on.push(at);
           for (let at = plan.length; (at = go(settled, at, -1)) !== undefined; ) back.push(at);
           return { on, back, settled };""",
        run=run,
    )
    assert found["on"] == found["settled"] == found["back"][::-1]
    assert len(found["on"]) == len(traces.sampled().written)


def test_no_run_has_nothing_to_settle(js):
    run = stage.wire(traces.first(traces.sampled(), 0))
    assert js("return stage.settledOf(stage.planOf([]), input.run.rounds)", run=run) == []


@pytest.mark.parametrize("where", ["stage", "page"])
@pytest.mark.parametrize("held", [{}, {"shiftKey": True}])
def test_keys(js, where, held):
    def action(key: str, on: str = "", **other: bool) -> str | None:
        return js(
            "return stage.actionOf(...input.key)", key=[{"key": key, **other}, where, False, on]
        )

    assert action(".", **held) == "written+" and action(",", **held) == "written-"
    assert action(".", on="select") is None and action(".", ctrlKey=True) is None


def page():
    import streamlit as st

    from specdec.ui.stage import stage
    from tests.apps.stage_traces import first, sampled

    rounds = st.session_state.get("asked", 2)
    trace = first(sampled(), rounds, None if rounds < 4 else "length")
    stage(trace, key="s", on_more=(lambda: None) if st.session_state.get("more") else None)


@pytest.mark.parametrize(("more", "rounds", "asks"), [(1, 2, True), (0, 2, False), (1, 4, False)])
def test_only_a_run_that_goes_on_can_be_asked_for_more(more, rounds, asks):
    at = AppTest.from_function(page)
    at.session_state["more"], at.session_state["asked"] = more, rounds
    assert json.loads(at.run().get("bidi_component")[0].proto.json)["more"] == asks
    assert not at.exception
