"""Predict, then reveal: every answer is what the trace holds, and the score is exact."""

from __future__ import annotations

import math
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specdec import predict
from specdec.predict_score import EDGES, Answer, brier, score, streaks

pytestmark = pytest.mark.long

POOLS = [(kind, hint) for kind in predict.KINDS for hint in predict.HINTS]


@pytest.mark.parametrize(("kind", "hint"), POOLS)
def test_every_answer_is_what_the_trace_holds(kind, hint):
    places = predict.pool(kind, hint)
    assert len(places) > 30 and len(set(places)) == len(places)
    for step in range(len(places)):
        asked = predict.question(7, 3 * step + predict.KINDS.index(kind), hint)
        r, right = asked.place.of_round, asked.choices[asked.right]
        assert asked.kind == kind
        if kind == "judge":
            assert right.text == r.drafted[asked.place.token].verdict
        if kind == "count":
            assert right.text == str(len(r.written))
        if kind == "word":
            assert right.text == r.written[-1].text


@pytest.mark.parametrize(("kind", "hint"), POOLS)
def test_a_series_asks_all_of_a_pool_before_it_begins_anew(kind, hint):
    n, first = len(predict.pool(kind, hint)), predict.KINDS.index(kind)
    asked = [predict.question(3, first + 3 * i, hint).place for i in range(n + 1)]
    assert set(asked) == set(predict.pool(kind, hint)) and asked[n] == asked[0]


def test_a_question_is_a_function_of_its_address_and_a_seed_changes_it():
    assert predict.question(5, 4) == predict.question(5, 4)
    assert len({predict.question(seed, 4).place for seed in range(20)}) > 10


@pytest.mark.parametrize(("kind", "hint"), POOLS)
def test_chances_are_the_rules_own(kind, hint):
    for step in range(60):
        asked = predict.question(11, 3 * step + predict.KINDS.index(kind), hint)
        total, right = sum(c.chance for c in asked.choices), asked.choices[asked.right]
        assert right.chance > 0
        if kind != "word":
            assert total == pytest.approx(1)
        else:
            assert total <= 1 + 1e-9
        if hint == "laws":
            assert right.chance < 1 and not asked.greedy
        if asked.greedy:
            assert right.chance == 1


def test_the_chances_of_a_rounds_length_are_products_of_thresholds():
    for place in predict.pool("count", "laws"):
        h = [token.threshold for token in place.of_round.drafted]
        expected = [math.prod(h[:a]) * (1 - (h[a] if a < len(h) else 0)) for a in range(len(h) + 1)]
        assert predict.lengths(place.of_round) == pytest.approx(expected)


def test_a_lost_token_is_among_the_words_and_has_no_chance():
    for place in predict.pool("word"):
        asked = predict._word(place, "0|0")
        for lost in asked.drafted:
            [at] = [i for i, c in enumerate(asked.choices) if c.chance == 0]
            assert asked.choices[at].text == lost.text and at != asked.right


def test_the_text_before_is_the_runs_own():
    for kind in predict.KINDS:
        for place in predict.pool(kind)[::17]:
            asked = getattr(predict, f"_{kind}")(place, "0|0")
            text = "".join(token.text for token in place.trace.written)
            assert text.startswith(asked.before)


def test_no_answer_stands_out_everywhere():
    """Of 300 questions every kind has several right answers: the first is not always it."""
    found = {kind: Counter() for kind in predict.KINDS}
    for step in range(300):
        asked = predict.question(0, step)
        found[asked.kind][asked.right] += 1
    assert all(len(counts) >= 2 for counts in found.values())
    assert max(found["word"].values()) < 60


@given(st.lists(st.tuples(st.integers(0, 100), st.booleans()), min_size=1, max_size=40))
def test_a_score_is_what_its_definition_says(rows):
    found = score([Answer(sure / 100, right) for sure, right in rows])
    assert found.n == len(rows) and found.right == sum(right for _, right in rows)
    assert found.brier == pytest.approx(sum((s / 100 - r) ** 2 for s, r in rows) / len(rows))
    assert sum(b.count for b in found.bins) == found.n
    assert sum(b.right for b in found.bins) == found.right
    assert found.chances is None and found.told == 0
    runs = "".join("x" if right else " " for _, right in rows).split(" ")
    assert (found.streak, found.longest) == (len(runs[-1]), max(map(len, runs)))


def test_the_rules_chances_have_a_score_of_their_own():
    found = score([Answer(0.5, True, 0.8), Answer(1.0, False, 0.1), Answer(1.0, True)])
    assert found.told == 2 and found.chances == pytest.approx((0.2**2 + 0.1**2) / 2)


def test_a_sure_reader_who_is_right_is_perfect_and_a_bin_has_its_upper_end():
    found = score([Answer(1.0, True)] * 3)
    assert (found.brier, found.gap, found.rate) == (0, 0, 1)
    assert found.bins[-1].count == 3 and EDGES[-1] == 1


def test_no_answers_have_no_score_and_nonsense_is_named():
    assert score([]) is None and streaks([]) == (0, 0)
    with pytest.raises(ValueError, match="no score"):
        brier([], [])
    with pytest.raises(ValueError, match="it is 1.5"):
        Answer(1.5, True)
