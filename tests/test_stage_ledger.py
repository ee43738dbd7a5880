"""The ledger of the stage without a browser: its cells and words are the numbers of the ledger."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from specdec.ledger import Cells, Entry, ledger
from specdec.trace import Round, Trace
from specdec.ui import stage, stage_ledger
from tests import stage_node
from tests.apps import stage_traces as traces

WALK = """return input.runs.map((run) => {
  const texts = [...Array(run.hidden), ...[...run.prompt, ...run.rounds.flatMap((r) => r.written)].map((t) => t.text)];
  return stage.planOf(run.rounds).map((s) => {
    const r = run.rounds[s.round], entry = run.ledger.rounds[s.round];
    const most = entry && Math.max(entry.target.peak, entry.target.after) + 2;
    const all = (who) => entry?.[who] && [...Array(most).keys()].map((x) => stage.cellAt(entry[who], who, s, x));
    const length = (who) => entry?.[who] && stage.lengthAt(entry[who], who, s);
    return { ...s, target: all("target"), drafter: all("drafter"), told: bare(stage.tellLedger(s, r, entry, texts)),
      lengths: [length("target"), length("drafter")] };
  });
});"""  # noqa: E501


@pytest.fixture(scope="module")
def js(node) -> Callable[..., Any]:
    return stage_node.runner(node)


def wire(trace: Trace) -> dict[str, Any]:
    return stage.wire(trace) | {"ledger": stage_ledger.wire(trace)}


@pytest.fixture(scope="module")
def steps(js) -> list[tuple[Round, Entry, dict]]:
    """Every step of all runs with its round and its entry in the ledger."""
    runs = [trace for trace in stage_node.all_runs() if trace.rounds]
    found = js(WALK, runs=[wire(trace) for trace in runs])
    return [
        (trace.rounds[s["round"]], ledger(trace)[s["round"]], s)
        for trace, plan in zip(runs, found)
        for s in plan
    ]


def test_the_wire_is_the_ledger():
    trace = traces.priced()
    sent = json.loads(json.dumps(stage_ledger.wire(trace)))
    assert sent["bytes"] == {"target": 23_040, "drafter": 3_072}
    assert stage_ledger.wire(traces.kiln())["bytes"] is None
    totals = Counter()
    for entry, row in zip(ledger(trace), sent["rounds"], strict=True):
        for name in ("target", "drafter"):
            cells, got = getattr(entry, name), row[name]
            for number in ("before", "after", "lacked", "owed", "peak", "fed", "kept"):
                assert got[number] == getattr(cells, number)
            assert got["reached"] == list(cells.reached)
            totals.update({(name, n): got[n] for n in ("fed", "kept", "rolled_back")})
            assert got["sum"] == {n: totals[name, n] for n in ("fed", "kept", "rolled_back")}
    assert stage_ledger.wire(traces.sampled(copied=True))["rounds"][0]["drafter"] is None


def test_only_a_page_that_asks_gets_it():
    def page():
        import streamlit as st

        from specdec.ui.stage import stage
        from tests.apps.stage_traces import kiln

        stage(kiln(), key="s", ledger=st.session_state.get("asked", False))

    at = AppTest.from_function(page).run()
    assert json.loads(at.get("bidi_component")[0].proto.json)["ledger"] is None
    at.session_state["asked"] = True
    sent = json.loads(at.run().get("bidi_component")[0].proto.json)["ledger"]
    assert len(sent["rounds"]) == 2 and not at.exception


def test_the_cells_of_a_step_are_the_numbers_of_the_ledger(steps):
    for _, entry, s in steps:
        for name in ("target", "drafter"):
            cells = getattr(entry, name)
            if cells is None:
                assert s[name] is None
                continue
            check(Counter(s[name]), cells, name, s)
            word = "".join(state[0] for state in s[name])  # cached written kept rolled owed empty
            assert word == "".join(sorted(word, key="cwkroe".index))


def check(seen: Counter, cells: Cells, name: str, s: dict) -> None:
    """How many cells are in which state."""
    if s["phase"] == "write":
        assert seen["cached"] == cells.before and seen["kept"] == cells.kept
        assert (seen["rolled"], seen["owed"]) == (cells.rolled_back, cells.owed)
        assert not seen["written"]
        return
    assert seen["cached"] == cells.before and not seen["kept"] and not seen["rolled"]
    if s["phase"] == "before":
        assert (seen["written"], seen["owed"]) == (0, cells.lacked)
    elif s["phase"] == "draft":
        passed = name == "drafter" and cells.reached  # a step a pass in all these runs
        assert seen["written"] == (cells.reached[s["i"]] - cells.before if passed else 0)
    else:
        assert seen["written"] == cells.fed


def test_the_caches_grow_together_or_one_after_the_other(steps):
    """The drafter's by a pass, the target's at once when it verifies."""
    for r, entry, s in steps:
        target, drafter = s["lengths"]
        assert target == {
            "before": entry.target.before,
            "draft": entry.target.before,
            "write": entry.target.after,
        }.get(s["phase"], r.start + len(r.drafted))
        if s["phase"] == "draft" and drafter is not None and r.draft_passes:
            assert drafter == r.start + s["i"]


def test_the_words_of_a_full_acceptance(js):
    trace = traces.sampled()
    r = next(r for r in trace.rounds if r.accepted == len(r.drafted) and r.stop_reason is None)
    told = [s["told"] for s in js(WALK, runs=[wire(trace)])[0] if s["round"] == r.index]
    assert told[-1].startswith("Nothing is rolled back. The drafter has not read its last guess")
    after = [s["told"] for s in js(WALK, runs=[wire(trace)])[0] if s["round"] == r.index + 1]
    assert "The drafter is also owed “" in after[0]
    assert after[1].startswith("The first pass feeds the drafter two tokens: the one it is owed")
    assert after[2].startswith("Pass 2 feeds the drafter its own guess “")
    assert "One pass feeds the target 5 tokens: the last one and all 4 drafts." in after


def test_the_words_count_what_is_rolled_back(steps):
    for r, entry, s in steps:
        told = s["told"]
        if s["phase"] == "write":
            n = entry.target.rolled_back
            also = entry.drafter.rolled_back if entry.drafter else 0
            says = f"Rolled back: {n} cell{'' if n == 1 else 's'} of the target"
            assert (says in told) == bool(n + also)
            assert (f", {also} of the drafter" in told) == bool(entry.drafter and n + also)
            assert ("owed" in told or "lacks" in told) == bool(entry.drafter and entry.drafter.owed)
        if s["phase"] == "verify":
            fed = len(r.drafted) + 1
            assert f"feeds the target {fed} token{'' if fed == 1 else 's'}: the last one" in told
        if s["phase"] == "draft" and entry.drafter is None:
            assert told == "The drafter keeps no cache: nothing is written."


def test_bytes_have_three_digits(js):
    numbers = [0, 3072, 23_040, 999_499, 999_501, 1_036_800, 2.5e9]
    said = js("return input.numbers.map(stage.bytesOf)", numbers=numbers)
    assert said == [
        *("0 kB", "3.07 kB", "23.0 kB", "999 kB", "1.00 MB", "1.04 MB", "2.50 GB"),
    ]


def test_a_price_is_said_where_it_is_known(js):
    price = "[[null, true], [input.b, true], [input.b, false]].map((x) => stage.priceOf(...x))"
    assert js(f"return {price}", b={"target": 23_040, "drafter": 3_072}) == [
        "",
        "A cell takes 23.0 kB in the target and 3.07 kB in the drafter.",
        "A cell takes 23.0 kB in the target.",
    ]


def test_every_state_has_a_glyph_and_a_word(js):
    states = js("return stage.CELL")
    told = {name: tuple(words) for name, words in states.items() if name != "empty"}
    assert len({glyph for glyph, _ in told.values()}) == len({w for _, w in told.values()}) == 5
    assert all(glyph and word for glyph, word in told.values())
    assert not {g for g, _ in told.values()} & set(js("return Object.values(stage.GLYPH)"))
