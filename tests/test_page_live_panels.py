"""The panels below the stage of page 5, without a browser."""

from __future__ import annotations

import csv
import json
import threading
from dataclasses import replace

import pytest

from specdec import recordings, theory
from specdec.presets import presets
from specdec.trace import Memory, Trace
from specdec.ui import engine, live_files, live_memory, live_rates
from specdec.ui.live_panels import TITLES
from specdec.ui.query import KEYS
from tests.pairs_np import random_pair

pytestmark = pytest.mark.long

PAGE = "pages/5_live.py"
NAMES = [p.name for p in presets()]


@pytest.fixture(autouse=True)
def live(monkeypatch):
    """The reader's run, at hand: a test must wait for its thread."""
    one = engine.Live()
    monkeypatch.setattr(engine, "live", lambda: one)
    return one


@pytest.fixture
def pair(monkeypatch):
    pair = random_pair()
    monkeypatch.setattr(engine, "load", lambda *_: pair)
    return pair


def press(at, label):
    next(b for b in at.button if b.label == label).click().run()
    engine.live().wait()
    return at.run()


def texts(at) -> str:
    return "\n".join(e.value for e in [*at.markdown, *at.info, *at.caption, *at.error])


def stage_of(at) -> dict:
    return json.loads(at.get("bidi_component")[0].proto.json)


def test_a_link_knows_every_panel() -> None:
    assert KEYS["panel"].options == tuple(TITLES)


@pytest.mark.parametrize("panel", TITLES)
@pytest.mark.parametrize("way", [{}, {"drafter": "lookup"}, {"T": "0.8"}], ids=str)
def test_every_panel_opens_on_a_recording_and_stays_in_the_link(app, panel, way):
    at = app(PAGE, panel=panel, link="1", **way)
    assert not at.exception and not at.error
    [link] = [c.value for c in at.code if "live?" in c.value]
    assert f"panel={panel}" in link


@pytest.mark.parametrize("panel", TITLES)
@pytest.mark.parametrize("settings", [{"k": "0"}, {"T": "1", "rule": "block"}], ids=str)
def test_every_panel_opens_on_any_run(app, pair, panel, settings):
    at = press(app(PAGE, panel=panel, n="10", link="1", **settings), "Run")
    assert not at.exception and not at.error
    assert stage_of(at)["source"]["kind"] == "live"


@pytest.mark.parametrize("panel", TITLES)
def test_every_panel_opens_on_a_run_that_goes_on(app, pair, panel):
    at = press(app(PAGE, panel=panel, n="10", link="1"), "One round")
    assert not at.exception and not at.error


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("way", recordings.WAYS)
def test_the_counts_are_those_of_the_rates(name: str, way: str) -> None:
    trace = recordings.load(name, way).speculative
    accepted, judged, drafted = live_rates.counts(trace)
    assert accepted / judged == trace.alpha and accepted / drafted == trace.draft_yield
    assert drafted <= sum(len(r.drafted) for r in trace.rounds)
    rows = {row["rate"]: row for row in live_rates.counted(trace)}
    assert rows["α"]["value"] == f"{trace.alpha:.2f}"
    assert rows["tokens per pass"]["counted"].startswith(f"{len(trace.written)} written")


def test_the_yield_falls_with_k_and_alpha_stays() -> None:
    table = live_rates.falling(0.8, 8)
    assert table["draft yield"] == sorted(table["draft yield"], reverse=True)
    assert table["draft yield"][3] == round((theory.tokens_per_pass(0.8, 4) - 1) / 4, 2) == 0.59
    assert set(table["α"]) == {0.8}


def test_a_live_run_says_what_became_of_its_tails(app, pair, live):
    press(app(PAGE, n="30", T="1", link="1"), "Run")
    tails = [
        token for r in live.trace.rounds if r.rejected for token in r.drafted[r.accepted + 1 :]
    ]
    assert tails and all(token.mended for token in tails)


def test_stepping_keeps_what_is_known_of_earlier_tails(app, pair, live):
    at = app(PAGE, n="30", T="1", link="1")
    for _ in range(4):
        at = press(at, "One round")
        tails = [t for r in live.trace.rounds if r.rejected for t in r.drafted[r.accepted + 1 :]]
        assert all(token.mended for token in tails)
    assert tails


def test_runs_are_kept_to_compare(app, pair, live):
    at = press(app(PAGE, n="12", panel="compare", link="1"), "Run")
    at = press(at, "Keep the run on the stage")
    kept = at.session_state["kept runs"]
    assert list(kept) == ["Kept 1: small, k = 4, greedy"]
    for _ in range(5):
        at = press(at, "Keep the run on the stage")
    assert [name.split(":")[0] for name in at.session_state["kept runs"]] == [
        f"Kept {i}" for i in (3, 4, 5, 6)
    ]


def test_what_a_pair_weighs_is_counted() -> None:
    trace = recordings.load("story", "model").speculative
    longest = max(r.start + len(r.drafted) for r in trace.rounds)
    assert live_memory.cached(trace) == (longest, longest - 1)
    memory = Memory(200_000_000, 20_000_000, 50_000, 5_000)
    target, drafter = live_memory.table(memory, trace)
    assert target["weights"] == "200.0 MB" and drafter["cache, a token"] == "5.0 kB"
    assert target["cache at its fullest"].startswith(f"{longest * 0.05:.2f} MB")
    assert "adds 10% to the weights" in live_memory.words(memory, trace)


def test_a_lookup_weighs_nothing() -> None:
    trace = recordings.load("copy", "lookup").speculative
    assert live_memory.cached(trace)[1] == 0
    assert "Nothing is added" in live_memory.words(Memory(200, 0, 5, 0), trace)


def test_a_saved_run_opens_again() -> None:
    trace = recordings.load("code", "model").speculative
    assert live_files.opened(trace.to_json().encode()) == trace


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "This is not JSON"),
        (b"\xff\xfe", "This is not JSON"),
        (b"[1, 2]", "not a trace of schema"),
        (b'{"schema": 99}', "not a trace of schema"),
        (b"[" * 100_000, "This is not JSON"),
        (b" " * (2**20 + 1), "It has 1.0 MB; the most is 1 MB."),
    ],
    ids=["empty", "bytes", "list", "newer", "deep", "large"],
)
def test_what_is_no_trace_is_not_opened(data: bytes, said: str) -> None:
    with pytest.raises(ValueError, match="."):
        live_files.opened(data)
    with pytest.raises(ValueError) as error:
        live_files.opened(data)
    assert said in str(error.value)


def test_a_trace_without_rounds_is_not_opened() -> None:
    data = json.loads(recordings.load("code", "model").speculative.to_json())
    data |= {"rounds": [], "stop_reason": None}
    with pytest.raises(ValueError, match="nothing to show"):
        live_files.opened(json.dumps(data).encode())


def test_a_live_run_from_a_file_was_not_decoded_here(app):
    trace = recordings.load("code", "model").speculative
    live = replace(trace, source=replace(trace.source, kind="live", when=""))
    found = live_files.opened(live.to_json().encode())
    assert found == replace(live, source=replace(live.source, kind="recorded"))
    at = app(PAGE, panel="compare", prompt="code", link="1")
    at.session_state["opened file"] = ("mine.json", found)
    at = at.run()
    assert not at.exception and "**Recorded**: " in texts(at)
    assert "decoded on this machine" not in texts(at)
    assert "measured just now" not in at.table[0].value.to_csv()


def test_an_opened_file_is_on_the_stage_until_it_is_closed(app):
    trace = recordings.load("maths", "lookup").speculative
    at = app(PAGE, panel="files", link="1")
    at.session_state["opened file"] = ("mine.json", trace)
    at = at.run()
    assert r"Opened from your file “mine\.json”" in texts(at)
    assert len(stage_of(at)["rounds"]) == len(trace.rounds)
    at = press(at, "Close it and go back")
    assert "from your file" not in texts(at) and not at.exception


def test_the_gallery_opens_what_it_shows(app):
    at = app(PAGE, panel="recordings", link="1")
    at.button(key="open code lookup").click().run()
    assert not at.exception
    wanted = recordings.load("code", "lookup").speculative
    rounds = stage_of(at)["rounds"]
    assert [t["id"] for r in rounds for t in r["written"]] == list(wanted.token_ids)
    assert "Made with its own settings" not in texts(at), "the controls were set to them"


def test_no_recording_opens_behind_a_run_that_goes_on(app, live, monkeypatch):
    go = threading.Event()
    monkeypatch.setattr(engine, "load", lambda *_: go.wait() and random_pair())
    at = app(PAGE, panel="recordings", n="4", link="1")
    assert not at.button(key="open code lookup").disabled
    at = next(b for b in at.button if b.label == "Run").click().run()
    assert at.button(key="open code lookup").disabled
    go.set()
    live.wait()
    assert not at.run().button(key="open code lookup").disabled


def test_every_recording_says_what_to_notice() -> None:
    assert all(preset.notice for preset in presets())


def test_a_run_of_other_settings_says_so(app, pair):
    at = press(app(PAGE, n="12", link="1"), "Run")
    assert "settings were changed since" not in texts(at)
    at.slider(key="live k").set_value(2).run()
    assert "settings were changed since" in texts(at)


def test_the_saved_table_can_be_read(app, pair, live):
    from specdec.export import to_csv

    press(app(PAGE, n="12", link="1"), "Run")
    rows = list(csv.DictReader(to_csv(live.trace).splitlines()))
    assert sum(row["lane"] == "written" for row in rows) == 12
    assert Trace.from_json(live.trace.to_json()) == live.trace


@pytest.mark.parametrize("name", NAMES)
def test_the_comparison_begins_with_one_setting_apart(app, name):
    at = app(PAGE, panel="compare", prompt=name, link="1")
    assert "**One setting differs**: drafter" in texts(at)


@pytest.mark.parametrize(("way", "said"), [("lookup", "makes passes"), ("none", "plain decoding")])
def test_what_if_says_what_it_lacks(app, pair, way, said):
    how = {"drafter": "lookup"} if way == "lookup" else {}
    at = press(app(PAGE, panel="what-if", n="10", link="1", **how), "Run" if how else "One round")
    assert f"It needs {'a drafter that ' if how else ''}{said}" in texts(at)
    assert texts(at).count("It needs") == 1


def test_a_run_beside_itself_is_told(app):
    at = app(PAGE, panel="compare", link="1")
    other = next(box for box in at.selectbox if box.label == "The other")
    at = other.set_value(other.options[0]).run()
    assert not at.exception and "the same run twice" in texts(at)
