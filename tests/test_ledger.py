"""The ledger of both caches: its arithmetic against caches that count for themselves."""

from __future__ import annotations

from dataclasses import replace
from itertools import accumulate, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specdec import recordings, toy
from specdec.decode import speculate
from specdec.drafters import ModelDrafter
from specdec.ledger import Cells, Entry, Sums, ledger, sums
from specdec.presets import presets
from specdec.trace import Trace
from tests.apps import stage_traces as traces
from tests.pairs_np import GREEDY, distinct_target, scripted
from tests.stage_node import all_runs
from tests.test_invariants import Case, cases

pytestmark = pytest.mark.long

RECORDED = [(preset.name, way) for preset in presets() for way in recordings.WAYS]


def check(trace: Trace) -> tuple[Entry, ...]:
    """What holds in every ledger."""
    entries = ledger(trace)
    assert len(entries) == len(trace.rounds)
    for r, entry in zip(trace.rounds, entries):
        target, drafter = entry.target, entry.drafter
        assert (target.before, target.after) == r.lengths.target
        assert target.peak == r.start + len(r.drafted) and target.kept == len(r.written)
        assert target.rolled_back == len(r.drafted) + 1 - len(r.written)
        assert target.owed == target.lacked == 0
        assert (drafter is None) == (r.lengths.drafter is None)
        for cells in filter(None, (target, drafter)):
            assert cells.before <= cells.peak >= cells.after >= cells.before
            assert cells.fed == cells.kept + cells.rolled_back >= 0
            assert list(cells.reached) == sorted(cells.reached)
        if drafter:
            assert drafter.owed == target.after - drafter.after
            assert drafter.lacked == target.before - drafter.before
    for name in ("target", "drafter"):
        row = [cells for entry in entries if (cells := getattr(entry, name))]
        for cells, later in pairwise(row):
            assert later.before == cells.after and later.lacked == cells.owed
    return entries


@pytest.mark.parametrize(("preset", "way"), RECORDED)
def test_recorded_runs(preset: str, way: str) -> None:
    recording = recordings.load(preset, way)
    for trace in (recording.speculative, recording.plain):
        for r, entry in zip(trace.rounds, check(trace)):
            if entry.drafter:
                whole = len(r.written) == len(r.drafted) + 1 and r.drafted
                assert entry.drafter.owed == bool(whole)
                assert len(entry.drafter.reached) == r.draft_passes


def test_all_kinds_of_rounds() -> None:
    owed = set()
    for trace in all_runs():
        entries = check(trace)
        if trace.settings.k:
            owed |= {entry.drafter.owed for entry in entries if entry.drafter}
    assert owed == {0, 1}


@pytest.mark.parametrize("accepted", range(5))
def test_a_round_of_four_drafts(accepted: int) -> None:
    """Five cells written by the target, four by the drafter; the last draft is owed if it stays."""
    target, script = distinct_target()
    draft = scripted(64, [*script[:accepted], 5, 5, 5, 5, 5], prompt=2)
    loop = speculate(
        target.scorer(), ModelDrafter(draft.scorer()), [0, 1], k=4, sampling=GREEDY,
        max_new_tokens=20,
    )  # fmt: skip
    trace = traces.told([next(loop)], [0, 1], traces.sampled().settings, traces.sampled().source)
    [entry] = ledger(trace)
    one, two = entry.target, entry.drafter
    assert (one.fed, one.kept, one.rolled_back) == (5, accepted + 1, 4 - accepted)
    kept = min(accepted + 1, 4)
    assert (two.fed, two.kept, two.rolled_back) == (4, kept, 4 - kept)
    assert two.reached == (2, 3, 4, 5) and two.owed == (accepted == 4)


@given(cases())
def test_the_caches_count_the_same(case: Case) -> None:
    """From the second round on, as the first comes after the prefill."""
    scorer, drafter, loop = case.start()
    caches = [scorer, *([drafter.scorer] if hasattr(drafter, "scorer") else [])]
    rounds, spent = [], []
    for r in loop:
        rounds.append(r)
        spent.append([(sum(cache.fed), sum(cache.trims)) for cache in caches])
    source = traces.sampled()
    for entry, before, now in zip(
        ledger(replace(source, rounds=tuple(rounds)))[1:], spent, spent[1:]
    ):
        for cells, (fed, trimmed), (fed_now, trimmed_now) in zip(
            (entry.target, entry.drafter), before, now
        ):
            assert (cells.fed, cells.rolled_back) == (fed_now - fed, trimmed_now - trimmed)


def test_running_totals() -> None:
    for trace in all_runs():
        for name in ("target", "drafter"):
            row = [getattr(entry, name) for entry in ledger(trace)]
            totals = sums(row)
            counted = [c.fed if c else 0 for c in row]
            assert [t.fed for t in totals] == list(accumulate(counted))
            assert all(t.fed == t.kept + t.rolled_back for t in totals)
    assert sums([]) == () and sums([None]) == (Sums(),)


def test_an_idle_drafter_falls_behind() -> None:
    model = toy.random_model(3)
    entries = ledger(toy.speculative_greedy(model, model, 4, k=0))
    assert [e.drafter.owed for e in entries] == [1, 2, 3, 4]
    assert {e.drafter.fed for e in entries} == {0}


def test_no_lengths_are_impossible() -> None:
    """A file may claim anything: numbers come out, never an error or a negative count."""
    lengths = st.integers(0, 9)

    @given(lengths, st.lists(lengths, max_size=3), lengths)
    def holds(before: int, reached: list[int], after: int) -> None:
        cells = Cells(before, tuple(reached), after)
        assert min(cells.fed, cells.kept, cells.rolled_back) >= 0

    holds()
