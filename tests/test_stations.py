"""Stations 2, 3, 6 and 8 of page 8: what they show is what was recorded, or what the laws say."""

from __future__ import annotations

import json
from collections import Counter

import pytest
from machines import by_hand, measured, run

from specdec import arms, batch, recordings, theory, wasted
from specdec.between import Drafter
from specdec.lab import past_the_end
from specdec.ui.machine import LAST, recorded
from specdec.ui.stations import batch as batches
from specdec.ui.stations import endings, ends
from specdec.ui.stations.endings_charts import key_of

pytestmark = pytest.mark.long

PAGE = "pages/8_pitfalls.py"


def texts(at) -> str:
    return "\n".join(m.value for m in [*at.markdown, *at.caption, *at.info, *at.error])


def chart(at, place: int):
    return json.loads(at.get("plotly_chart")[place].proto.spec)["data"]


def table(at, column: str):
    return next(t.value for t in at.table if column in t.value.columns)


# 2, a long draft


@pytest.mark.parametrize("place", range(5))
def test_the_map_has_every_draft_pass_of_the_recorded_rounds(app, place):
    arm = arms.load("long").arms[place]
    at = app(PAGE, station="long", k=str(arm.asked.k))
    [cells] = chart(at, 0)
    glyphs = Counter(glyph for row in cells["text"] for glyph in row)
    shown = wasted.counted(arm.steps[:24])
    assert [glyphs[g] for g in "✓✗–"] == [shown.accepted, shown.rejected, shown.discarded]
    ends = arm.ends
    assert f"**{ends.wasted} of {ends.accepted + ends.wasted}** draft passes" in texts(at)
    assert f"**{arm.speedup:.2f}×** by the clock" in texts(at)


def test_a_recorded_long_draft_wastes_more_and_is_slower():
    found = arms.load("long")
    shares = [arm.ends.wasted / (arm.ends.accepted + arm.ends.wasted) for arm in found.arms]
    assert shares == sorted(shares)
    assert found.arms[-1].speedup < found.arms[0].speedup
    assert found.source.kind == "recorded"


def test_sliders_show_the_closed_forms_and_say_that_it_is_simulated(app):
    at = app(PAGE, station="long", open="own", k="8", alpha="0.5", c="0.1")
    assert "**Simulated:**" in texts(at)
    rows = table(at, "speed-up, formula").set_index("k")
    assert rows.loc["8", "speed-up, formula"] == f"{theory.speedup(0.5, 8, 0.1):.2f}×"
    assert rows.loc["8", "discarded"] == f"{wasted.expected(0.5, 8).discarded:.2f}"
    best = theory.best_k(0.5, 0.1)
    assert f"{best}, the best" in rows.index and f"**Draft k = {best}.**" in texts(at)
    areas = {trace["name"]: trace for trace in chart(at, 1)}
    assert set(areas) == {"✓ accepted", "✗ rejected", "– discarded"}


def test_the_article_s_weak_drafter_comes_out_to_the_digit(app):
    at = app(PAGE, station="long")
    assert "α = 0.2, k = 4, c = 0.05 gives 1.04×; the best k there is 1, with 1.14×" in texts(at)


def test_a_drafter_for_whom_no_k_pays_is_told_so(app):
    at = app(PAGE, station="long", open="own", alpha="0.1", c="0.3")
    assert "**Don't speculate with this drafter:**" in texts(at)
    assert not any("the best" in k for k in table(at, "speed-up, formula")["k"])


# 3, a large batch


def test_the_best_k_by_batch_is_the_machine_s(app):
    at = app(PAGE, station="batch", batch="8")
    [timed] = [r for r in recorded().of("model") if r.k == 4]
    rows = table(at, "best k").set_index("B")
    for size in batch.BATCHES:
        k, speed, _ = batch.best(recorded(), timed, size)
        assert rows.loc[str(size), "best k"] == (str(k) if k else "0: don't")
        assert rows.loc[str(size), "speed-up there"] == f"{speed:.2f}×"
    assert "Recorded on" in texts(at) and "**published** figures, not this machine's" in texts(at)


def test_a_measurement_of_this_visit_takes_the_place_of_the_recorded_one(app):
    at = app(PAGE, station="batch")
    assert any("Measure this machine" in link.proto.label for link in at.main.get("page_link"))
    at.session_state[LAST] = measured()
    at.run()
    assert not at.exception
    assert "Measured in this visit · a test" in texts(at) and "Recorded on" not in texts(at)


@pytest.mark.parametrize(
    ("seconds", "stop"),
    [
        ((1.0, 2.0, 5.0, 17.0), 1),  # every token costs a whole pass: no guess ever pays
        ((1.0, 1.0, 5.0, 17.0), 2),  # a second token is free, and a second reader takes its place
        ((1.0, 1.0, 1.0, 1.0), None),  # all free
    ],
)
def test_the_batch_at_which_drafting_stops_is_found(seconds, stop):
    timed = run("model", 4, [(4, 2, 1, 3), (4, 4, 0, 5)], (1.0, 1.0))
    found = by_hand(timed, seconds=seconds)
    assert batches.stops_at(found, timed) == stop


# 6, the end inside a draft


@pytest.mark.parametrize("kind", ends.KINDS)
@pytest.mark.parametrize("text", ends.TEXTS)
def test_ours_is_the_text_until_its_end_and_the_rest_is_surplus(app, text, kind):
    at = app(PAGE, station="ends", open=f"{text}-{kind}", n="12", drafter="oracle", k="7")
    assert not at.exception
    plain = ends.told(text)
    ours, more = at.code[0].value, at.code[1].value
    whole = "".join(token.text for token in plain.written)
    if kind == "length":
        assert ours == "".join(token.text for token in plain.written[:12])
        assert whole.startswith(ours + more) and len(more) > 1
    assert whole.startswith(ours)


def test_the_recorded_text_goes_on_past_its_end():
    plain = ends.told("model")
    at = plain.token_ids.index(ends.eos("model"))
    assert plain.source.kind == "recorded" and at < len(plain.token_ids) - 8
    short = recordings.load("copy", "lookup").plain  # of another machine, ended by that token
    assert plain.token_ids[: at + 1] == short.token_ids


def test_a_lookup_drafts_the_real_end_and_runs_over_it():
    """The prompt holds an end of its own, behind the text that is copied: a lookup copies it."""
    past = {
        k: len(past_the_end.run(ends.told("model"), past_the_end.Ends(64, ends.eos("model")), k=k)
               .surplus)
        for k in range(1, 9)
    }  # fmt: skip
    assert max(past.values()) > 0


def test_a_stop_string_that_is_not_there_is_said(app):
    at = app(PAGE, station="ends", open="model-stop", prompt="xyzzy")
    assert "“xyzzy” does not occur in this text: the limit ends it." in texts(at)


def test_a_stop_string_from_a_link_is_no_markup(app):
    at = app(PAGE, station="ends", open="toy-stop", prompt="![a](b)")
    assert not at.exception and "![a](b)" not in texts(at)


def test_counts_before_the_cut_are_beside_those_after_it(app):
    at = app(PAGE, station="ends", open="toy-eos", drafter="oracle", k="4", n="12")
    rows = table(at, "ours, after the cut").set_index("")
    assert rows.loc["written"].tolist() == ["7", "10", "10"]
    assert rows.loc["accepted"].tolist() == ["6", "8", "8"]


# 8, too good and too weak


def test_the_way_begins_and_ends_at_recorded_drafters(app):
    found = arms.load("endings")
    for step, arm in (("0", found.arms[2]), ("100", found.arms[-1])):
        at = app(PAGE, station="endings", step=step, k="4")
        start = f"**α = {arm.alpha:.2f}, c = {arm.costs.c:.2f}, v = {arm.costs.v:.3f}:**"
        assert start in texts(at)
        assert f"**{Drafter.of(arm).speedup(4):.2f}×**" in texts(at)


def test_the_recording_goes_from_too_weak_to_too_slow():
    found = arms.load("endings")
    weak, slow = found.arms[2], found.arms[-1]
    assert key_of(weak) == "exit-5" and weak.alpha < 0.1 and weak.speedup < 1
    assert key_of(slow) == "target" and slow.alpha == 1.0 and slow.speedup < 1
    assert slow.costs.c > weak.costs.c
    assert found.source.kind == "recorded"


def test_every_drafter_has_its_break_even(app):
    at = app(PAGE, station="endings")
    rows = table(at, "drafter")
    for (_, row), arm in zip(rows.iterrows(), arms.load("endings").arms, strict=True):
        even = theory.break_even_alpha(4, arm.costs.c, arm.costs.v)
        assert row["break-even α, k = 4"] == ("none" if even is None else f"{even:.2f}")
        assert row["measured"] == f"{arm.speedup:.2f}×"


@pytest.mark.parametrize("ends_", ["lookup~model", "model~exit-29", "target~target"])
def test_a_link_opens_two_drafters(app, ends_):
    at = app(PAGE, station="endings", open=ends_, step="25", k="3")
    one, other = ends_.split("~")
    assert (at.selectbox(key="endings from").value, at.selectbox(key="endings to").value) == (
        one,
        other,
    )
    assert not at.exception


@pytest.mark.parametrize("name", endings.ENDINGS)
def test_the_article_s_two_endings_are_on_its_tables(app, name):
    at = app(PAGE, station="endings", k="4")
    at.radio(key="endings scene").set_value(name).run()
    said = {"weak": "6 target passes and 24 draft passes", "perfect": "2 target passes and"}
    assert said[name] in texts(at)
