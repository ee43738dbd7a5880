"""A trace that cannot have happened is refused, with the place and the reason."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace

import pytest

from specdec import recordings, toy
from specdec.export import COLUMNS, to_csv
from specdec.presets import presets
from specdec.trace import Trace

pytestmark = pytest.mark.long

NAMES = [p.name for p in presets()]


def told(data: dict) -> str:
    """What `from_json` says about a trace's data."""
    with pytest.raises(ValueError) as error:
        Trace.from_json(json.dumps(data))
    return str(error.value)


@pytest.fixture(scope="module")
def good() -> str:
    """The beginning of a recorded run, with rejected, discarded and corrected tokens."""
    trace = recordings.load("story", "sampled").speculative
    return replace(trace, rounds=trace.rounds[:6], stop_reason=None).to_json()


def rejecting(data: dict) -> dict:
    """The first round with a rejected token and a tail."""
    return next(
        r
        for r in data["rounds"]
        if [t["verdict"] for t in r["drafted"]].count("discarded")
        and any(t["verdict"] == "rejected" for t in r["drafted"])
    )


def edit(path: str, value: object) -> Callable[[dict], None]:
    """Set a field of the first round that rejects, by its path."""

    def change(data: dict) -> None:
        *steps, last = path.split(".")
        at = rejecting(data)
        for name in steps:
            at = at[int(name)] if isinstance(at, list) else at[name]
        at[int(last) if isinstance(at, list) else last] = value

    return change


def weighs(**changed: int) -> Callable[[dict], None]:
    """Let the pair of a trace weigh something else."""
    memory = {"target_weights": 9, "drafter_weights": 3, "target_token": 2, "drafter_token": 1}
    return lambda data: data["source"].update(memory=memory | changed)


WRONG = {
    "p over 1": (edit("drafted.0.p", 7.0), "7.0 is not a chance"),
    "q below 0": (edit("drafted.0.q", -0.5), "-0.5 is not a chance"),
    "u over 1": (edit("drafted.0.u", 2.0), "2.0 is not a chance"),
    "a top over 1": (edit("drafted.0.p_top.rest", 1.0), "sum to more than 1"),
    "eleven tops": (
        edit("drafted.0.p_top.entries", [[i, "", 0.01] for i in range(11)]),
        "more than 10 entries",
    ),
    "another index": (edit("index", 999), "its index is 999"),
    "another start": (edit("start", 1), "it starts at 1"),
    "verdicts out of order": (edit("drafted.0.verdict", "discarded"), "out of order"),
    "k below its drafts": (edit("k", 1), "drafted tokens of k = 1"),
    "nothing written": (edit("written", []), "it wrote nothing"),
    "a bonus after a rejection": (edit("written.-1.kind", "bonus"), "do not fit its verdicts"),
    "negative seconds": (edit("seconds.draft", -1.0), "negative seconds"),
    "a negative cache": (edit("lengths.target", [-1, 3]), "a negative length"),
    "a parent ahead": (edit("drafted.0.parent", 3), "its parent is 3"),
    "an early end": (edit("stop_reason", "eos"), "follow one that ended"),
    "another end": (lambda data: data.update(stop_reason="stop"), "not that of its last round"),
    "negative passes": (edit("draft_passes", -1), "negative number of draft passes"),
    "endless passes": (edit("draft_passes", 10**400), "more than 32768 draft passes"),
    "endless seconds": (edit("seconds.verify", 1e308), "more than 1e+06 seconds"),
    "an endless cache": (edit("lengths.target", [0, 10**400]), "a cache of over 65536 tokens"),
    "an endless k": (edit("k", 10**9), "k is more than 1024"),
    "an endless k asked for": (lambda d: d["settings"].update(k=10**9), "k is more than 1024"),
    "a target of no weight": (weighs(target_weights=0), "weigh more than 0 bytes"),
    "a cache of no weight": (weighs(target_token=0), "weigh more than 0 bytes"),
    "a weight below 0": (weighs(drafter_weights=-1), "a negative number of bytes"),
    "an endless weight": (weighs(drafter_token=10**400), "more than 9007199254740992 bytes"),
}


@pytest.mark.parametrize("what", WRONG)
def test_what_cannot_be_is_said(what: str, good: str) -> None:
    change, said = WRONG[what]
    data = json.loads(good)
    change(data)
    assert said in told(data)


def test_a_written_token_that_was_not_accepted(good: str) -> None:
    data = json.loads(good)
    r = next(r for r in data["rounds"] if r["drafted"][0]["verdict"] == "accepted")
    r["written"][0]["id"] += 1
    assert "it wrote others than it accepted" in told(data)


def test_endless_files_are_refused(good: str) -> None:
    data = json.loads(good)
    data["prompt"] = [{"id": 1, "text": ""}] * 32769
    assert "a prompt of over 32768 tokens" in told(data)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("way", recordings.WAYS)
def test_what_happened_is_let_through(name: str, way: str) -> None:
    recording = recordings.load(name, way)
    for trace in (recording.speculative, recording.plain):
        assert Trace.from_json(trace.to_json()) == trace


def test_toys_are_let_through() -> None:
    target, draft = toy.random_model(1), toy.random_model(2)
    trace = toy.speculative_greedy(target, draft, 12, k=3)
    assert Trace.from_json(trace.to_json()) == trace


def test_the_table_has_a_line_for_every_token() -> None:
    import csv

    trace = recordings.load("story", "sampled").speculative
    rows = list(csv.DictReader(to_csv(trace).splitlines()))
    assert tuple(rows[0]) == COLUMNS
    drafted = [row for row in rows if row["lane"] == "draft"]
    written = [row for row in rows if row["lane"] == "written"]
    assert len(drafted) == sum(len(r.drafted) for r in trace.rounds)
    assert [int(row["id"]) for row in written] == list(trace.token_ids)
    first = len(trace.prompt)
    assert [int(row["position"]) for row in written] == list(range(first, first + len(written)))
    accepted = sum(row["outcome"] == "accepted" for row in drafted)
    rejected = sum(row["outcome"] == "rejected" for row in drafted)
    assert accepted / (accepted + rejected) == trace.alpha
    total = sum(float(row["verify_seconds"] or 0) for row in rows)
    assert total == pytest.approx(trace.seconds.verify)


def test_no_text_is_a_formula_of_a_spreadsheet() -> None:
    trace = recordings.load("code", "model").speculative
    r = trace.rounds[0]
    evil = replace(r.written[0], text='=HYPERLINK("x")')
    trace = replace(trace, rounds=(replace(r, written=(evil, *r.written[1:])), *trace.rounds[1:]))
    assert "\n" in to_csv(trace) and ",'=HYPERLINK" in to_csv(trace).replace('"', "")
