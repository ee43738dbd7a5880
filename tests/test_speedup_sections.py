"""The sections of page 4 without a browser: the link, pins, simulated rounds, the map."""

from __future__ import annotations

import csv
import io
from dataclasses import asdict

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from specdec import theory
from specdec.cloud import cloud
from specdec.ui import (
    speedup_at,
    speedup_map,
    speedup_pins,
    speedup_rounds,
)
from specdec.ui.live_curve import K_END, Point
from specdec.ui.speedup_map import ALPHAS
from tests.test_page_speedup import PAGE, POINTS, curve

pytestmark = pytest.mark.long

ALL = ".".join(speedup_at.SECTIONS)
PINS = (Point(4, 0.2, 0.05, 0.0), Point(8, 0.8, 0.2, 0.05))


# The link.


def test_a_link_opens_sections_with_their_numbers_and_pins(app):
    at = app(
        PAGE, k="6", alpha="0.7", open="rounds.back", n="200", seed="7", speed="1.9",
        pins=speedup_at.write_pins(PINS), link="1",
    )  # fmt: skip
    assert not at.exception and not at.info
    sent = curve(at)
    assert sent["pins"] == [asdict(pin) for pin in PINS]
    assert (sent["cloud"]["n"], sent["cloud"]["seed"], sent["cloud"]["alpha"]) == (200, 7, 0.7)
    assert at.number_input(key="speedup n").value == 200
    assert at.number_input(key="speedup speed").value == 1.9
    assert len(at.get("plotly_chart")) == 1  # the map stays closed


def test_the_shared_link_holds_what_is_open(app):
    at = app(PAGE, open="rounds", n="200", seed="7", pins="4_0.2_0.05_0", link="1")
    link = next(code.value for code in at.code if "speedup?" in code.value)
    for part in ("pins=4_0.2_0.05_0", "open=rounds", "n=200", "seed=7"):
        assert part in link


def test_everything_can_be_open_at_once(app):
    at = app(PAGE, open=ALL, link="1")
    assert not at.exception and not at.error and not at.info
    assert len(at.get("plotly_chart")) == 3


def test_closed_sections_draw_no_chart(app):
    at = app(PAGE)
    assert not at.get("plotly_chart")
    assert curve(at)["cloud"] is None


@pytest.mark.parametrize(
    "text", ["nan", "9", "4_0.8_0.05", "4_0.8_0.05_0_1", "4_2_0.05_0", "~", "<b>", "4_0.8_x_0"]
)
def test_what_is_no_pin_is_left_out_and_said(app, text):
    at = app(
        PAGE, pins=f"4_0.2_0.05_0~{text}", open="<script>.rounds.rounds", n="-3", seed="x", link="1"
    )
    assert not at.exception
    assert curve(at)["pins"] == [asdict(PINS[0])]
    said = "\n".join(info.value for info in at.info)
    assert "four pins are the most" in said
    assert "n goes from 10 to 10000: it is 10 here." in said
    assert "script" not in said
    assert curve(at)["cloud"]["n"] == 10


@settings(max_examples=40)
@given(st.lists(POINTS, max_size=4, unique=True))
def test_pins_go_through_a_link_without_loss(pins):
    assert speedup_at.read_pins(speedup_at.write_pins(tuple(pins))) == (tuple(pins), ())


def test_more_pins_than_four_are_cut_and_said():
    five = tuple(Point(k, 0.8, 0.05) for k in range(5))
    pins, notes = speedup_at.read_pins(speedup_at.write_pins(five))
    assert pins == five[:4]
    assert len(notes) == 1


def test_another_seed_changes_the_cloud_and_the_address(app):
    at = app(PAGE, open="rounds", n="100", seed="4", link="1")
    before = curve(at)["cloud"]["mean"]
    next(button for button in at.button if button.label == "Another seed").click().run()
    assert not at.exception
    assert curve(at)["cloud"]["seed"] == 5
    assert curve(at)["cloud"]["mean"] != before
    assert "5" in at.query_params["seed"]
    at.number_input(key="speedup n").set_value(2000).run()
    assert curve(at)["cloud"]["n"] == 2000
    assert curve(at)["cloud"]["seed"] == 5


def test_a_pin_gives_its_setting_back(app):
    at = app(PAGE, k="6", alpha="0.7", pins=speedup_at.write_pins(PINS), link="1")
    at.button(key="pin B").click().run()
    assert not at.exception
    assert curve(at)["point"] == asdict(PINS[1])
    assert curve(at)["pins"] == [asdict(pin) for pin in PINS]


# Pins and the file.


def test_the_pins_stand_beside_the_present_setting():
    rows = speedup_pins.rows(Point(4, 0.8, 0.05), PINS)
    assert [row["speed-up"] for row in rows] == [
        "2.80×",
        "1.04×",
        f"{theory.speedup(0.8, 8, 0.2, 0.05):.2f}×",
    ]
    assert [row["you ÷ it"] for row in rows][:2] == ["1.00", f"{2.8013333 / 1.0413333:.2f}"]
    assert rows[1]["best k"].startswith("1: ")
    assert speedup_pins.rows(Point(4, 0.8, 0.0), ())[0]["best k"] == "none"


def test_the_file_holds_every_digit_of_the_curve_and_of_the_pins():
    point = Point(4, 0.8, 0.05, 0.01)
    head, *lines = csv.reader(io.StringIO(speedup_pins.values(point, PINS)))
    assert len(head) == 4 + len(PINS)
    assert "alpha=0.2 c=0.05 v=0" in head[4]
    assert [int(line[0]) for line in lines] == list(range(K_END + 1))
    for k, line in enumerate(lines):
        assert float(line[1]) == theory.tokens_per_pass(0.8, k)
        assert float(line[3]) == theory.speedup(0.8, k, 0.05, 0.01)
        assert float(line[5]) == theory.speedup(0.8, k, 0.2, 0.05)


# Rounds.


def test_the_words_say_whether_the_closed_form_lies_in_the_band():
    said = {}
    for seed in range(60):
        rounds = cloud(0.8, 100, seed, K_END)
        words = speedup_rounds.verdict(rounds, 4)
        assert words.startswith("**✓**") is rounds.covers(4)
        assert f"{rounds.mean(4):.3f}" in words and "3.362" in words
        said[words[2]] = said.get(words[2], 0) + 1
    assert set(said) == {"✓", "✗"}  # both do happen
    assert "every round is alike" in speedup_rounds.verdict(cloud(1.0, 10, 0, K_END), 4)


def test_the_rows_and_bars_are_the_simulated_shares_beside_the_law():
    rounds = cloud(0.6, 250, 2, K_END)
    rows, figure = speedup_rounds.rows(rounds, 3), speedup_rounds.chart(rounds, 3)
    assert [int(row["rounds"]) for row in rows] == list(rounds.at(3))
    assert [row["law"] for row in rows] == ["0.400", "0.240", "0.144", "0.216"]
    assert [row["as a formula"].replace("\u00a0", " ") for row in rows] == [
        "α⁰ (1 − α)", "α¹ (1 − α)", "α² (1 − α)", "α³",
    ]  # fmt: skip
    assert sum(figure.data[0].y) == pytest.approx(1)
    assert list(figure.data[1].y) == pytest.approx([0.4, 0.24, 0.144, 0.216])


# The map.


@pytest.mark.parametrize(("c", "v"), [(0.05, 0.0), (0.0, 0.0), (0.3, 0.1), (1.0, 0.5)])
def test_the_map_is_the_closed_form_with_its_ridge_and_break_even(c, v):
    whole, ridge = speedup_map.map_of(c, v), speedup_map.ridge(ALPHAS, c, v)
    assert whole.speedups.shape == (len(ALPHAS), K_END + 1)
    for row, alpha, best in zip(whole.speedups, ALPHAS, ridge):
        assert row.tolist() == [theory.speedup(alpha, k, c, v) for k in range(K_END + 1)]
        if np.isfinite(best):
            assert row[int(best)] == pytest.approx(row.max())
        else:  # the maximum is beyond the map, or nowhere
            assert row[K_END] == pytest.approx(row.max())
    assert np.isnan(whole.even[0])
    for k, alpha in enumerate(whole.even[1:], 1):
        if np.isfinite(alpha):
            assert theory.speedup(alpha, k, c, v) == pytest.approx(1)
        else:
            assert whole.speedups[-1, k] < 1


@pytest.mark.parametrize(
    "point",
    [Point(), Point(0, 0.0, 0.0), Point(24, 1.0, 1.0, 0.5), Point(3, 0.6, 0.3, 0.1)],
)
def test_the_map_s_chart_shows_the_reader_and_both_sides_of_one(point):
    heat, *lines = speedup_map.chart(point).data
    exact = speedup_map.map_of(point.c, point.v).speedups.T  # [k, α]
    assert np.allclose(heat.customdata, exact, atol=1e-4)
    assert np.allclose(np.exp2(heat.z), exact, rtol=1e-4)
    you = next(line for line in lines if line.name == "you")
    assert (you.x[0], you.y[0]) == (point.alpha, point.k)
    shares = [share for share, _ in heat.colorscale]
    assert shares == sorted(shares) and (shares[0], shares[-1]) == (0, 1)
    if len(shares) == 3:  # the pale colour stands exactly at 1×
        assert heat.zmin + shares[1] * (heat.zmax - heat.zmin) == pytest.approx(0, abs=1e-9)
    for line in lines[:-1]:  # each line says what it is, beside itself
        assert [words.strip() for words in line.text if words] == [line.name]


def test_the_map_s_table_marks_what_is_slower():
    rows = speedup_map.rows(Point(4, 0.8, 0.05))
    row = next(row for row in rows if row["α"] == "0.8")
    assert (row["4"], row["8"], row["best k"]) == ("2.80×", "3.09×", "8")
    weak = next(row for row in rows if row["α"] == "0.2")
    assert (weak["6"], weak["best k"]) == ("▼\u00a00.96×", "1")
    assert speedup_map.rows(Point(4, 0.8, 0.0))[0]["best k"] == "none"
    for words, point in [("no k is best", Point(c=0.0)), ("no setting pays", Point(c=1.0))]:
        assert words in speedup_map.notice(point)
