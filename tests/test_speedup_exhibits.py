"""The exhibits of page 4 without a browser: the way back, costs, tables, headlines, recordings."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings

from specdec import recordings, theory
from specdec.trace import Memory
from specdec.ui import (
    speedup_back,
    speedup_costs,
    speedup_headlines,
    speedup_runs,
    speedup_tables,
)
from specdec.ui.live_curve import Point
from tests.test_page_speedup import PAGE, POINTS, curve, texts

pytestmark = pytest.mark.long

# The way back.


@given(POINTS)
def test_a_speed_up_gives_its_alpha_back(point):
    speed = theory.speedup(point.alpha, point.k, point.c, point.v)
    found = speedup_back.back(speed, point.k, point.c, point.v)
    if point.k == 0:
        assert found.alpha is None
    else:
        again = theory.speedup(found.alpha, point.k, point.c, point.v)
        assert again == pytest.approx(speed, rel=1e-9)


@pytest.mark.parametrize(
    ("speed", "k", "words"),
    [
        (4.2, 4, "**✗ Impossible:** 4.2 × 1.2 = 5.040 tokens a pass, but a pass writes at most"),
        (0.5, 4, "**✗ No α does that:** 0.5 × 1.2 = 0.600 tokens a pass, but every pass writes"),
        (1.0, 0, "**k = 0 drafts nothing:**"),
        (2.8, 4, "**α = 0.800**, from 2.8 × 1.2 = 3.360 tokens a pass."),
    ],
)  # fmt: skip
def test_what_cannot_be_is_said_in_a_sentence(speed, k, words):
    found = speedup_back.back(speed, k, 0.05, 0.0)
    assert found.words.startswith(words)
    assert (found.alpha is None) is ("α = 0.800" not in words)


def test_the_way_back_ends_on_the_curve(app):
    at = app(PAGE, k="4", alpha="0.3", open="back", speed="2.8", link="1")
    next(button for button in at.button if button.label == "Put it on the curve").click().run()
    assert not at.exception
    point = Point(**curve(at)["point"])
    assert theory.speedup(point.alpha, 4, 0.05) == pytest.approx(2.8, abs=1e-4)
    at = app(PAGE, k="4", open="back", speed="9", link="1")
    assert "Impossible" in texts(at)
    assert not any(button.label == "Put it on the curve" for button in at.button)


# Costs.


@given(POINTS)
def test_the_bill_adds_up(point):
    target, drafter, thrown, _ = (row["now"] for row in speedup_costs.bill(point))
    tokens = theory.tokens_per_pass(point.alpha, point.k)
    assert float(target) == pytest.approx(1 / tokens, abs=5.001e-4)
    assert 1 / (point.k + 1) - 1e-3 <= float(target) <= 1
    assert int(drafter) == point.k
    assert float(thrown) == pytest.approx(point.k - tokens + 1, abs=5.001e-3)


@settings(max_examples=40)
@given(POINTS)
def test_the_gain_shrinks_as_v_rises(point):
    rows = speedup_costs.busy(point)
    speeds = [float(row[f"at k = {point.k}"].rstrip("×")) for row in rows]
    assert speeds == sorted(speeds, reverse=True)
    assert sum("you" in row["v"] for row in rows) == 1
    words = speedup_costs.busy_words(point)
    if "the gain is gone at" in words:
        even = theory.break_even_v(point.alpha, point.k, point.c)
        assert f"v = {even:.3g}" in words
    elif point.k and point.alpha > point.c:
        assert theory.speedup(point.alpha, point.k, point.c) <= 1 + 1e-9


def test_sizes_are_those_of_the_pair_in_mb():
    rows = speedup_costs.sizes(Memory(200_000_000, 10_000_000, 20_000, 1_000))
    assert list(rows[0].values()) == ["weights", "200.0", "10.0", "+5%"]
    assert list(rows[1].values()) == ["cache of 1000 tokens", "20.0", "1.0", "+5%"]


@pytest.mark.parametrize("memory", [None, Memory(2 * 10**8, 10**7, 20_000, 1_000)])
def test_the_pair_s_sizes_are_shown_or_said_to_be_unknown(app, monkeypatch, memory):
    recording = recordings.load("chat")
    source = replace(recording.speculative.source, memory=memory)
    known = replace(recording, speculative=replace(recording.speculative, source=source))
    monkeypatch.setattr(recordings, "load", lambda preset, way="model": known)
    at = app(PAGE)
    assert ("no sizes are known" in texts(at)) is (memory is None)
    assert any("200.0" in t.value.to_string() for t in at.table) is (memory is not None)
    assert ("recorded on" in texts(at)) is (memory is not None)


# Tables.


def test_every_cell_of_the_tables_carries_its_sign():
    assert all("✓" in row["arithmetic"] and "✓" in row["speed-up"] for row in speedup_tables.free())
    signs = [row["expected"].split()[1] for row in speedup_tables.expected()]
    assert (signs.count("✓"), signs.count("≈"), signs.count("✗")) == (9, 3, 0)
    assert [row["speed-up"].split()[1] for row in speedup_tables.timed()] == ["✗", "✓", "✓"]
    assert "by up to 29% and misses it by up to 32%" in speedup_tables.surprises()


def test_the_grid_of_best_k():
    """Computed by hand from the formula, over every k up to 64."""
    expected = {
        0.05: [(3, 1.63), (4, 1.92), (6, 2.35), (8, 3.09), (13, 4.67)],
        0.1: [(2, 1.46), (3, 1.67), (4, 1.98), (6, 2.47), (10, 3.43)],
        0.2: [(1, 1.25), (2, 1.40), (3, 1.58), (4, 1.87), (7, 2.37)],
    }
    for i, row in enumerate(speedup_tables.grid()):
        for c, column in expected.items():
            k, speed = column[i]
            assert row[f"c = {c:g}"] == f"k = {k}: {speed:.2f}×"


def test_the_slips_are_asked_before_they_are_told(app):
    at = app(PAGE, open="tables", link="1")
    assert "0.11" not in texts(at) and "1.875" not in texts(at)
    at.toggle(key="slip small c").set_value(True).run()
    assert "4 of 12 rows, all of the large drafter, have c = 0.11" in texts(at)
    at.toggle(key="slip ratio").set_value(True).run()
    assert "14.1 / 7.52 = 1.875" in texts(at)


def test_headlines_are_drawn_beside_their_measurements():
    figure = speedup_headlines.chart()
    stated, measured = figure.data
    assert max(x for x in stated.x if x) == 5.6
    assert max(x for x in measured.x if x) == 3.02
    assert [row["stated"] for row in speedup_headlines.rows()][3] == "2.2 to 3.6×"
    assert "Lookahead states 1.5 to 2.3×, measured 1.13 to 1.34×" in speedup_headlines.described()


def test_recorded_runs_stand_beside_their_prediction(app):
    at = app(PAGE, open="recorded", link="1")
    assert not at.exception
    runs, source = speedup_runs.recorded()
    table = next(t.value for t in at.table if "predicted" in t.value)
    assert len(table) == len(runs) >= 3
    assert f"Recorded on {source.when}" in texts(at)
    at.button(key=f"go “{runs[0].label}”").click().run()
    assert curve(at)["point"]["alpha"] == runs[0].alpha
