"""A walk through questions: places, and an honest clock."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from specdec import walk


def test_the_clock_runs_from_a_question_to_its_answer_and_not_after():
    at = walk.start(2).at(0, 100.0).on(107.0)
    assert at.spent == (7.0, None) and at.answered and at.since is None
    at = at.on(160.0).on(162.5)  # reading took 53 s: not counted
    assert at.spent == (7.0, 2.5) and at.ended
    assert at.on(999.0) == at


def test_going_back_keeps_the_first_time():
    at = walk.start(2).at(0, 0.0).on(5.0)
    again = at.at(0, 10.0)
    assert again.since is None and again.on(50.0).spent == (5.0, None)


def test_an_answer_that_a_link_opened_has_no_time():
    at = walk.start(3).at(3, 10.0)
    assert at.question == 1 and at.revealed == 2 and at.spent == (None,) * 3
    assert at.on(11.0).on(15.0).spent == (None, None, 4.0)


@given(st.integers(1, 12), st.integers(-5, 40), st.integers(0, 30))
def test_every_place_is_on_the_way_and_the_end_is_reached(n, place, more):
    at = walk.start(n).at(place, 0.0)
    assert 0 <= at.place < 2 * n and at.revealed == (at.place + 1) // 2
    for i in range(more):
        at = at.on(float(i))
    assert at.place <= 2 * n - 1
    assert all(spent is None or spent >= 0 for spent in at.spent)
