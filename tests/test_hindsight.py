"""The best k in hindsight: against all ways to write the text, and by hand."""

from __future__ import annotations

from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specdec import theory
from specdec.hindsight import agreement, hindsight

costs = st.integers(0, 8).map(lambda x: x / 8)  # exact in floats
texts = st.lists(st.integers(0, 4), min_size=1, max_size=7)


def by_enumeration(agree: list[int], each: float) -> float:
    """The cheapest of all sequences of k's, wrong drafts and drafts beyond the end included."""

    @cache
    def left(i: int) -> float:
        if i >= len(agree):
            return 0.0
        return min(1 + k * each + left(i + min(k, agree[i]) + 1) for k in range(len(agree) + 2))

    return left(0)


@given(texts, costs, costs)
def test_no_other_ks_are_cheaper(agree: list[int], c: float, v: float) -> None:
    found = hindsight(agree, c, v)
    assert found.passes[0] == pytest.approx(by_enumeration(agree, c + v), abs=1e-9)
    assert found.speedup == pytest.approx(len(agree) / found.passes[0])


@given(texts, costs)
def test_its_own_ks_cost_what_it_says(agree: list[int], c: float) -> None:
    found, at, cost = hindsight(agree, c), 0, 0.0
    while at < len(agree):
        k = found.k[at]
        assert k <= agree[at]  # a token known to be wrong is never drafted
        cost, at = cost + 1 + k * c, at + k + 1
    assert cost == pytest.approx(found.passes[0])


@pytest.mark.parametrize("k", [1, 3, 7])
def test_where_all_is_right_and_free_it_is_the_closed_form(k: int) -> None:
    n = 4 * (k + 1)
    found = hindsight([k] * n, c=0.0)
    assert found.speedup == theory.speedup(1.0, k, 0.0) == k + 1


def test_a_draft_that_costs_as_much_as_it_saves_is_not_made() -> None:
    assert hindsight([1, 1, 1], c=1.0).k == (0, 0, 0)
    assert hindsight([1, 1], c=0.9).k == (1, 0)


def test_the_end_of_the_text_cuts_a_draft() -> None:
    found = hindsight([9, 9], c=0.25)
    assert found.k == (1, 0) and found.passes == (1.25, 1.0)


@pytest.mark.parametrize("wrong", [([], 0.1), ([-1], 0.1), ([1], -0.1), ([1], float("nan"))])
def test_what_is_no_text_or_no_cost_is_refused(wrong) -> None:
    with pytest.raises(ValueError):
        hindsight(*wrong)


def test_agreement_ends_at_the_first_wrong_token_and_with_the_text() -> None:
    text = [5, 6, 7]
    assert agreement([[5, 6, 7, 8], [6, 0, 7], []], text) == (3, 1, 0)
