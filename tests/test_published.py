"""Published tables: every cell computed again, and the two slips in them."""

from __future__ import annotations

import pytest

from specdec import theory
from specdec.published import DEVICES, Printed, published

TABLES = published()


@pytest.mark.parametrize(
    ("text", "ends"), [("2.46", (2.455, 2.465)), ("3.2", (3.15, 3.25)), ("4", (3.5, 4.5))]
)
def test_a_printed_number_stands_for_those_that_round_to_it(text, ends):
    printed = Printed(text)
    assert printed.ends == pytest.approx(ends)
    low, high = printed.ends
    assert printed.stands_for(low) and printed.stands_for(high)
    assert not printed.stands_for(low - 1e-6) and not printed.stands_for(high + 1e-6)
    assert printed.stands_for(low - 1, low + 1e-6) and not printed.stands_for(low - 2, low - 1)


def test_table_1_comes_out_to_the_digit():
    assert len(TABLES.ops) == 6
    for row in TABLES.ops:
        ops, speed = row.values()
        assert f"{ops:.2f}" == row.ops.text
        assert f"{speed:.2f}" == row.speed.text


def test_all_rows_of_tables_2_and_4_agree_or_are_explained_by_rounding():
    assert len(TABLES.runs) == 12
    found = [run.agreement() for run in TABLES.runs]
    assert found.count("agrees") == 9
    assert found.count("explained") == 3
    for run in TABLES.runs:
        off = abs(run.formula() - run.expected.value)
        assert (off <= 0.05) is (run.agreement() == "agrees")
    slips = [(r.drafter, r.temperature) for r in TABLES.runs if r.agreement() == "explained"]
    assert slips == [("base", 1), ("large", 1), ("large", 1)]


def test_a_wrong_cell_would_be_seen():
    run = TABLES.runs[0]
    assert run.agreement() == "agrees"
    assert type(run)(**{**vars(run), "expected": Printed("3.5")}).agreement() == "differs"


def test_our_best_k_is_best_and_at_least_as_fast_as_the_paper_s():
    found = [run.best()[0] for run in TABLES.runs]
    assert found == [9, 9, 6, 6, 6, 4, 7, 7, 4, 5, 4, 3]
    for run in TABLES.runs:
        speeds = theory.speedup(run.alpha.value, range(65), run.c.value)
        assert run.best()[1] == pytest.approx(max(speeds))
        assert run.best()[1] >= run.formula()


def test_measured_beats_the_formula_by_29_percent_and_misses_it_by_32():
    surprises = [run.surprise() for run in TABLES.runs]
    assert f"{max(surprises):.0%}" == "29%"
    assert f"{min(surprises):.0%}" == "-32%"


def test_four_rows_deny_that_c_is_below_0_05():
    large = [run for run in TABLES.runs if run.c.value >= 0.05]
    assert {(run.drafter, run.c.text) for run in large} == {("large", "0.11")}
    assert len(large) == 4


def test_one_of_chinchilla_s_ratios_does_not_follow_from_its_times():
    assert [row.agreement() for row in TABLES.timings] == ["differs", "agrees", "agrees"]
    wrong = TABLES.timings[0]
    assert wrong.ratio() == 1.875
    assert wrong.speed.text == "1.92"


def test_the_alphas_behind_chinchilla_s_times_give_them_back():
    assert [f"{row.alpha():.2f}" for row in TABLES.timings] == ["0.71", "0.75", "0.85"]
    for row in TABLES.timings:
        c = row.drafter.value / row.target.value
        assert theory.speedup(row.alpha(), row.k, c) == pytest.approx(row.ratio())


def test_every_headline_is_above_every_measurement_of_it():
    assert len(TABLES.headlines) == 6
    for line in TABLES.headlines:
        assert len(line.bench) == len(DEVICES)
        assert line.low <= line.high
        assert max(line.measured) < line.low, line.method


def test_every_source_has_a_mark_that_the_screen_can_say():
    from specdec.ui.speedup_tables import MARKS

    assert {source.mark for source in TABLES.sources.values()} <= set(MARKS)
    assert TABLES.sources["chen"].mark == "reported"


def test_the_bench_by_kind_of_text_has_the_totals_of_the_headlines():
    bench = published().bench
    at = DEVICES.index(bench.device)
    totals = {line.method: line.bench[at] for line in published().headlines}
    for row in bench.rows:
        assert len(row.speed) == len(bench.kinds)
        speeds = [x.value for x in row.speed]
        assert min(speeds) < row.overall.value < max(speeds)
        assert row.overall.value == totals.get(row.method, row.overall.value)
        assert row.tokens.value > row.overall.value  # a pass's tokens bound its speed-up
    assert set(totals) < {row.method for row in bench.rows}
    assert [r.overall.value for r in bench.rows] == sorted(
        (r.overall.value for r in bench.rows), reverse=True
    )
