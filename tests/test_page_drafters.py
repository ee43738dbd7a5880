"""Page 6: opens on recorded contests, follows its controls and links, never shows nonsense."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from specdec import contest, tree, tree_rounds
from specdec.calibration import wilson
from specdec.compare import compare
from specdec.contest import LAWS, RECORDED
from specdec.contest_run import ENTRANTS
from specdec.measure import measured_speedup, predicted_speedup, priced_speedup
from specdec.timeline import timeline
from specdec.trace import Trace
from specdec.ui import drafters, drafters_charts, drafters_lanes, drafters_tree
from specdec.ui import drafters_words as words
from specdec.ui.drafters import Chosen

pytestmark = pytest.mark.long

PAGE = "pages/6_drafters.py"
ALL = [contest.load(name, law) for name in RECORDED for law in LAWS]


def texts(at) -> str:
    return "\n".join(m.value for m in [*at.markdown, *at.caption, *at.info, *at.error])


def sent(at, name: str) -> dict:
    """What the browser gets for the component that is sent something of this name."""
    data = [json.loads(element.proto.json) for element in at.get("bidi_component")]
    [found] = [one for one in data if name in one]
    return found


def test_opens_on_a_recorded_contest_that_says_so(app):
    at = app(PAGE)
    assert not at.exception
    source = contest.load("chat").source
    assert f"Recorded on {source.when}" in texts(at) and source.machine in texts(at)
    assert len(sent(at, "lanes")["lanes"]) == 1 + len(
        [name for name in drafters.FIRST if name in contest.load("chat").names]
    )


def test_what_is_not_recorded_is_said_and_not_shown(app):
    at = app(PAGE, drafter="model.heads.oracle", T="1")
    there = contest.load("chat", "sampled").names
    said = drafters.HEADS_LATER if drafters.HEADS.is_file() else "There are no heads"
    assert (said in texts(at)) == ("heads" not in there)
    assert "cannot be known beforehand" in texts(at)
    assert len(sent(at, "lanes")["lanes"]) == 2 + ("heads" in there)


def test_a_page_without_any_way_shows_plain_decoding(app):
    at = app(PAGE)
    at.pills(key="drafters ways").set_value([]).run()
    assert not at.exception
    assert [lane["name"] for lane in sent(at, "lanes")["lanes"]] == ["plain decoding"]
    assert sent(at, "rounds")["rounds"][0]["nodes"] == []


def test_the_guess_is_answered_by_the_clock(app):
    at = app(PAGE)
    found = contest.load("chat")
    ways = tuple(name for name in drafters.FIRST if name in found.names)
    speeds = {"plain": 1.0} | {name: found.speedups(name)[1] for name in ways}
    best, worst = max(speeds, key=speeds.get), min(speeds, key=speeds.get)
    for guess, sign in ((best, "✓ Right."), (worst, "✗ Not so.")):
        at.radio(key="guess chat greedy recorded").set_value(guess).run()
        assert sign in texts(at) and words.WORDS[best] in texts(at)
        assert sent(at, "lanes")["over"] is True


def test_the_clock_waits_for_a_guess(app):
    assert sent(app(PAGE), "lanes")["over"] is False
    assert sent(app(PAGE, round="2"), "lanes")["over"] is True


def test_a_link_opens_exactly_this(app):
    asked = {"prompt": "copy", "T": "0", "drafter": "lookup.tree", "panel": "lookup", "round": "2"}
    at = app(PAGE, **asked, step="1", k="6", n="16", seed="3", open="published", link="1")
    assert not at.exception and not at.info
    assert at.pills(key="drafters ways").value == ["lookup", "tree"]
    assert at.selectbox(key="drafters drawn").value == "lookup"
    assert at.number_input(key="drafters k").value == 6
    assert sent(at, "rounds")["start"] == {"round": 2, "node": 1}
    assert "Spec-Bench" in texts(at)
    [link] = [code.value for code in at.code if "drafters?" in code.value]
    for name, value in asked.items():
        assert f"{name}={value}" in link
    for part in ("step=1", "k=6", "n=16", "seed=3", "open=published"):
        assert part in link


@pytest.mark.parametrize(
    "params",
    [
        {"prompt": "](x)", "T": "nan", "drafter": "<b>.model", "round": "-3", "step": "x"},
        {"k": "99", "n": "1e9", "seed": "-1", "open": "<b>", "drafter": "." * 200, "link": "9"},
        {"round": "9999", "step": "9999", "panel": "plain"},
    ],
)
def test_nonsense_in_a_link_is_mended(app, params):
    at = app(PAGE, **params)
    assert not at.exception
    assert at.info and "<b>" not in texts(at) and "](x)" not in texts(at)


@pytest.mark.parametrize("found", ALL, ids=lambda c: f"{c.prompt}-{c.greedy}")
def test_every_number_of_the_table_is_of_the_runs(found):
    rows = words.table(found, found.names)
    assert len(rows) == 1 + len(found.names)
    for name, row in zip(found.names, rows[1:]):
        trace, costs = found.entry(name).trace, found.costs(name)
        least, middle, most = found.speedups(name)
        assert row["α"] == ("n/a" if trace.alpha is None else f"{trace.alpha:.2f}")
        assert row["measured"] == f"{middle:.2f}×"
        assert row["spread"] == f"{least:.2f} to {most:.2f}"
        assert row["c"] == f"{costs.c:.3f}" and row["draft passes"] == str(trace.draft_passes)
        priced, by_alpha = priced_speedup(trace, costs), predicted_speedup(trace, costs)
        assert row["by its passes"] == ("–" if priced is None else f"{priced:.2f}×")
        assert row["by α"] == ("–" if by_alpha is None else f"{by_alpha:.2f}×")
        same = compare(trace, found.plain.trace).equal
        assert row["text"].startswith(("same law", "the same" if same else "parts"))


@pytest.mark.parametrize("found", ALL, ids=lambda c: f"{c.prompt}-{c.greedy}")
def test_lanes_are_the_runs_on_one_clock(found):
    lanes = drafters_lanes.wire(found, found.names)["lanes"]
    for entry, lane in zip(found.entries, lanes):
        made = timeline(entry.trace)
        assert np.array(lane["marks"]) == pytest.approx(made.marks, rel=1e-5)
        assert lane["written"][-1] == len(entry.trace.token_ids)
    assert json.dumps(lanes)


def trees() -> list[Trace]:
    return [found.entry(name).trace for found in ALL for name in ("tree", "model", "plain")]


def test_nodes_have_their_path_their_row_of_the_mask_and_their_position():
    for trace in trees():
        for r, told in zip(trace.rounds, drafters_tree.wire(trace)["rounds"]):
            parents = tree_rounds.parents(r)
            sees = tree.mask(parents)
            for i, node in enumerate(told["nodes"]):
                assert [j for j, x in enumerate(node["sees"]) if x == "1"] == node["path"]
                assert node["path"] == np.flatnonzero(sees[i]).tolist()
                assert node["position"] == r.start + len(node["path"]) - 1
                assert node["verdict"] == r.drafted[i].verdict
            assert [t["text"] for t in told["written"]] == [t.text for t in r.written]


def test_the_tree_opens_where_a_later_guess_of_a_place_was_kept():
    for trace in trees():
        number, node = drafters_tree.telling(trace)
        assert drafters_tree.clamp(trace, {"round": number, "node": node}) == (number, node)
        r = trace.rounds[number - 1]
        late = [t for t in r.drafted if t.verdict == "accepted"]
        if node and late:
            assert r.drafted[node - 1].verdict == "accepted"


@pytest.mark.parametrize("place", [{}, {"round": None}, {"round": "x", "node": []}, {"node": -4}])
def test_a_place_that_is_none_is_the_beginning(place):
    trace = ALL[0].entry("tree").trace
    assert drafters_tree.clamp(trace, place) == (1, 0)
    last = drafters_tree.clamp(trace, {"round": 10**9, "node": 10**9})
    assert last == (len(trace.rounds), len(trace.rounds[-1].drafted))


def test_the_staircase_stands_where_the_rounds_began():
    for found in (c for c in ALL if c.greedy):
        made = drafters_charts.stairs(found)
        trace = found.entry("adaptive").trace
        if trace.token_ids != found.plain.trace.token_ids:
            assert made is None
            continue
        seen = found.foresight(trace.settings.drafter)
        for r, asked, kept, best in zip(trace.rounds, made.asked, made.kept, made.best):
            at = r.start - len(trace.prompt)
            assert (asked, kept) == (r.k, r.accepted)
            assert best <= seen.agree[at] and best == made.bar.k[at]
            assert kept == min(len(r.drafted), seen.agree[at])  # what it foresaw is what came


def test_hindsight_is_at_least_as_fast_as_what_the_run_did():
    for found in (c for c in ALL if c.greedy):
        if made := drafters_charts.stairs(found):
            trace, costs = found.entry("adaptive").trace, made.costs
            assert made.bar.speedup >= priced_speedup(trace, costs) - 1e-9


def test_sampled_contests_have_no_staircase(app):
    assert all(drafters_charts.stairs(found) is None for found in ALL if not found.greedy)
    at = app(PAGE, T="1", open="adaptive.certainty")
    assert not at.exception and "nothing to hold an adaptive k against" in texts(at)


def test_the_certainties_are_of_all_recorded_texts():
    found = drafters_charts.certainties(contest.load("chat"))
    for name, made in found.items():
        seen = [s for one in ALL if (s := one.foresight(name))]
        assert sum(b.count for b in made) == sum(x is not None for s in seen for x in s.sure)
        told = [a > 0 for s in seen for a, x in zip(s.agree, s.sure) if x is not None]
        assert sum(b.right for b in made) == sum(told)
        for row, b in zip(drafters_charts.bin_rows(name, made), [b for b in made if b.count]):
            low, high = wilson(b.right, b.count)
            assert row["95 % interval"] == f"{low:.2f} to {high:.2f}"


def test_a_contest_of_this_visit_takes_the_recordings_place(app):
    recorded = contest.load("chat")
    live = replace(
        recorded,
        entries=tuple(
            replace(e, trace=replace(e.trace, source=replace(e.trace.source, kind="live")))
            for e in recorded.entries[:3]
        ),
    )
    at = app(PAGE)
    at.session_state[drafters.LIVE] = {("chat", "greedy"): live}
    at.session_state[drafters.FRESH] = True
    at.run()
    assert not at.exception
    assert "Measured just now" in texts(at) and "Not run this time" in texts(at)
    assert len(sent(at, "lanes")["lanes"]) == len(live.entries)
    at.segmented_control(key="drafters which").set_value("recorded").run()
    assert "Measured just now" not in texts(at)


def test_published_numbers_stand_apart_from_ours(app):
    at = app(PAGE, open="published")
    [ours] = [t.value for t in at.table if "our way" in t.value]
    [theirs] = [t.value for t in at.table if "published method" in t.value]
    for way, chat in zip(ours["our way"], ours["A question"]):
        name = next(n for n, word in words.WORDS.items() if word == way)
        found = contest.load("chat")
        there = name in found.names
        assert chat == (
            f"{found.speedups(name)[1]:.2f}× · {found.entry(name).trace.tokens_per_pass:.2f}"
            if there
            else "not recorded"
        )
    akin = {method for cell in ours["akin to"] for method in cell.split(", ")}
    assert akin <= set(theirs["published method"])
    assert "**Published: Spec-Bench**" in texts(at) and "**Ours, recorded**" in texts(at)


def test_what_is_said_of_copying_is_true_of_the_recordings():
    """Below the published table: it pays where the answer repeats the prompt, hardly elsewhere."""
    speeds = {name: contest.load(name).speedups("lookup")[1] for name in RECORDED}
    assert speeds["copy"] > 1.5 > max(speeds["chat"], speeds["code"])


def test_the_winner_is_named_and_so_is_who_wrote_most_a_pass():
    for found in ALL:
        speeds = {"plain": 1.0} | {name: found.speedups(name)[1] for name in found.names}
        best = max(speeds, key=speeds.get)
        for guess in ("plain", *found.names):
            right, said = words.answer(found, found.names, guess)
            assert right == (speeds[guess] >= speeds[best] - words.SLIGHT)
            assert f"**{words.WORDS[best]}**, {speeds[best]:.2f}×" in said


def test_speedups_of_the_middle_turns_are_near_those_of_the_traces():
    """With one turn they are the same number, by two ways."""
    for found in ALL:
        one = replace(
            found,
            entries=tuple(replace(e, seconds=(e.trace.seconds.total,)) for e in found.entries),
        )
        for name in one.names:
            expected = measured_speedup(one.entry(name).trace, one.plain.trace)
            assert one.speedups(name) == pytest.approx((expected,) * 3)


def test_every_way_has_its_words():
    assert set(words.WORDS) == {"plain", *ENTRANTS}
    known = Chosen(contest.load("chat"), "greedy", (), ("heads",))
    assert drafters.absent(known) in (drafters.NO_HEADS, drafters.HEADS_LATER)


def test_heads_that_came_after_the_recording_are_not_denied(monkeypatch, tmp_path):
    known = Chosen(contest.load("chat"), "greedy", (), ("heads",))
    monkeypatch.setattr(drafters, "HEADS", tmp_path / "heads.safetensors")
    assert drafters.absent(known) == drafters.NO_HEADS
    drafters.HEADS.touch()
    assert drafters.absent(known) == drafters.HEADS_LATER


@pytest.mark.parametrize(
    ("text", "ways", "told"),
    [("", (), 0), ("tree.model", ("model", "tree"), 0), ("x.tree", ("tree",), 1),
     ("x", drafters.FIRST, 1)],
)  # fmt: skip
def test_ways_of_a_link(text, ways, told):
    found, notes = drafters.ways_of(text)
    assert found == ways and len(notes) == told
