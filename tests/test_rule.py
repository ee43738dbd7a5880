"""The rule for one position and for a round: exact, by enumeration and in fractions."""

from __future__ import annotations

from fractions import Fraction as F
from functools import cache
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from specdec import rule

P, Q = np.array([0.5, 0.3, 0.2]), np.array([0.2, 0.3, 0.5])  # toy A
P_EXACT = {0: F(5, 10), 1: F(3, 10), 2: F(2, 10)}
Q_EXACT = {0: F(2, 10), 1: F(3, 10), 2: F(5, 10)}
KILN = {"held": F(6, 10), "cooled": F(3, 10), "shone": F(1, 10)}
KILN_DRAFT = {"held": F(2, 10), "cooled": F(7, 10), "shone": F(1, 10)}


@cache
def exact_law(keys: str = "abcde") -> st.SearchStrategy[dict[str, F]]:
    """A law in fractions over some of the keys; zeros and missing keys happen."""

    def shares(weights: dict[str, int]) -> dict[str, F]:
        total = sum(weights.values())
        if total == 0:
            return {next(iter(weights)): F(1)}
        return {x: F(w, total) for x, w in weights.items()}

    return st.dictionaries(st.sampled_from(keys), st.integers(0, 9), min_size=1).map(shares)


@cache
def float_law(size: int) -> st.SearchStrategy[np.ndarray]:
    """A law [size] in float64, with zeros and very small masses."""

    def shares(weights: list[float], sure: int) -> np.ndarray:
        law = np.array(weights) + np.eye(size)[sure]
        return law / law.sum()

    weight = st.one_of(st.just(0.0), st.floats(1e-30, 1.0))
    weights = st.lists(weight, min_size=size, max_size=size)
    return st.builds(shares, weights, st.integers(0, size - 1))


def as_law(law: dict) -> dict:
    """A mapping without its zeros: what is missing is 0."""
    return {x: mass for x, mass in law.items() if mass}


# ---- one position ----------------------------------------------------------------------------


def test_toy_a_numbers() -> None:
    assert rule.overlap(P, Q) == pytest.approx(0.7, abs=1e-15)
    assert rule.residual(P, Q).tolist() == [1, 0, 0]
    assert [rule.acceptance(P, Q, x) for x in range(3)] == [1, 1, 0.4]
    assert np.allclose(rule.output_distribution(P, Q), P, rtol=0, atol=1e-15)


def test_toy_a_in_fractions() -> None:
    assert rule.overlap(P_EXACT, Q_EXACT) == F(7, 10)
    assert rule.residual(P_EXACT, Q_EXACT) == {0: 1, 1: 0, 2: 0}
    assert rule.acceptance(P_EXACT, Q_EXACT, 2) == F(2, 5)
    assert rule.output_distribution(P_EXACT, Q_EXACT) == P_EXACT


def test_the_kiln_example() -> None:
    assert rule.acceptance(KILN, KILN_DRAFT, "cooled") == F(3, 7)
    assert rule.residual(KILN, KILN_DRAFT) == {"held": 1, "cooled": 0, "shone": 0}
    assert rule.overlap(KILN, KILN_DRAFT) == F(3, 5)
    written = rule.output_distribution(KILN, KILN_DRAFT)
    assert {x: str(mass) for x, mass in written.items()} == {
        "held": "3/5",
        "cooled": "3/10",
        "shone": "1/10",
    }


@given(exact_law(), exact_law())
def test_the_output_is_p_in_fractions(p: dict, q: dict) -> None:
    written = rule.output_distribution(p, q)
    assert written == p
    assert all(isinstance(mass, (int, F)) for mass in written.values())


@given(exact_law(), exact_law())
def test_mappings_and_arrays_agree(p: dict, q: dict) -> None:
    keys = "abcde"
    p_row, q_row = (np.array([law.get(x, F(0)) for x in keys], object) for law in (p, q))
    assert list(rule.output_distribution(p_row, q_row)) == list(p_row)
    assert rule.overlap(p_row, q_row) == rule.overlap(p, q)
    by_key = rule.residual(p, q)
    assert list(rule.residual(p_row, q_row)) == [by_key.get(x, 0) for x in keys]
    for i, x in enumerate(keys):
        assert rule.acceptance(p_row, q_row, i) == rule.acceptance(p, q, x)


@given(st.data(), st.integers(1, 8))
def test_the_output_is_p_in_floats(data: st.DataObject, size: int) -> None:
    p, q = data.draw(float_law(size)), data.draw(float_law(size))
    assert np.allclose(rule.output_distribution(p, q), p, rtol=0, atol=1e-12)
    residual = rule.residual(p, q)
    assert np.isfinite(residual).all()
    assert (residual >= 0).all()
    assert residual.sum() == pytest.approx(1, abs=1e-9)
    assert rule.overlap(p, q) == pytest.approx(1 - np.abs(p - q).sum() / 2, abs=1e-9)
    accepted = sum(q[x] * rule.acceptance(p, q, x) for x in range(size))
    assert rule.overlap(p, q) == pytest.approx(accepted, abs=1e-9)


@given(exact_law())
def test_p_equal_to_q_leaves_p_where_the_residual_would_be_zero_over_zero(p: dict) -> None:
    assert as_law(rule.residual(p, p)) == as_law(p)
    assert rule.overlap(p, p) == 1
    row = np.array(list(p.values()), float)
    assert rule.residual(row, row).tolist() == row.tolist()


@pytest.mark.parametrize("number", [int, float, F], ids=lambda kind: kind.__name__)
def test_zero_cases(number: type) -> None:
    one, zero = number(1), number(0)
    for p, q in (({0: one}, {1: one}), (np.array([one, zero, zero]), np.array([zero, one, zero]))):
        assert rule.acceptance(p, q, 0) == 1  # q = 0 < p
        assert rule.acceptance(p, q, 1) == 0  # p = 0 < q
        assert rule.acceptance(p, q, 2) == 0  # 0 / 0
        assert rule.overlap(p, q) == 0
        left = rule.residual(p, q)
        assert [left[x] for x in p] == [1] if isinstance(p, dict) else left.tolist() == [1, 0, 0]


def test_a_token_without_mass_is_rejected_even_at_u_zero() -> None:
    p, q = np.array([1.0, 0.0]), np.array([0.5, 0.5])
    [(_, accepted, law)] = rule.outcomes([p, p], [q], [1], uniforms=[0.0])
    assert accepted == 0
    assert law.tolist() == [1, 0]


def test_ints_stay_exact() -> None:
    assert rule.acceptance({0: 1, 1: 2}, {0: 3}, 0) == F(1, 3)
    assert rule.residual({0: 1, 1: 2}, {0: 3, 1: 1}) == {0: 0, 1: 1}
    assert rule.residual({0: 3, 1: 2, 2: 1}, {0: 1, 1: 1}) == {0: F(1, 2), 1: F(1, 4), 2: F(1, 4)}
    left = rule.residual(np.array([3, 2, 1]), np.array([1, 1, 0]))
    assert list(left) == [F(1, 2), F(1, 4), F(1, 4)]
    assert rule.overlap(np.array([3, 2]), np.array([1, 4])) == 3
    unsigned = rule.residual(np.array([1, 0], np.uint8), np.array([0, 1], np.uint8))
    assert list(unsigned) == [1, 0]  # 0 − 1 does not wrap around


@pytest.mark.parametrize("q", [[0.25, 0.75], [F(1, 4), F(3, 4)]], ids=["float", "fraction"])
def test_a_whole_numbered_law_is_not_cut_to_whole_numbers(q: list) -> None:
    sure = np.array([1, 0])
    assert list(rule.output_distribution(sure, np.array(q))) == [1, 0]
    assert list(rule.output_distribution(np.array([0, 1]), np.array(q))) == [0, 1]
    soft = np.array(q)
    assert list(rule.output_distribution(soft, sure)) == q


def test_named_tokens_unknown_to_one_of_the_models() -> None:
    p, q = {"a": F(1, 2), "b": F(1, 2)}, {"b": F(1, 4), "c": F(3, 4)}
    assert rule.acceptance(p, q, "a") == 1
    assert rule.acceptance(p, q, "c") == 0
    assert rule.overlap(p, q) == rule.overlap(q, p) == F(1, 4)
    assert rule.output_distribution(p, q) == p  # and not a key more


# ---- faults of other implementations ---------------------------------------------------------


def written_law(p, q_drawn, q_tested) -> np.ndarray:
    """The law of one position if the draft comes from q_drawn but is tested with q_tested."""
    written = np.zeros(len(p))
    for x, chance in enumerate(q_drawn):
        for probability, accepted, law in rule.outcomes([p, p], [q_tested], [x]):
            written += chance * probability * (np.eye(len(p))[x] if accepted else law)
    return written


def test_drafter_forced_to_greedy_needs_the_one_hot_q() -> None:
    greedy = np.array([0.0, 0.0, 1.0])  # argmax q
    assert np.allclose(written_law(P, greedy, greedy), P, rtol=0, atol=1e-15)
    assert np.allclose(written_law(P, greedy, Q), [0.6, 0, 0.4])  # the fault, for contrast


def test_no_q_means_a_sure_drafter() -> None:
    assert rule.outcomes([P, P], None, [2])[0][0] == 1 - P[2]
    [(_, _, law)] = rule.outcomes([P, P], None, [2], uniforms=[P[2]])
    assert np.allclose(law, [0.625, 0.375, 0])
    named = rule.outcomes([KILN, KILN], None, ["cooled"])
    assert named[0][:2] == (F(7, 10), 0)
    assert as_law(named[0][2]) == {"held": F(6, 7), "shone": F(1, 7)}


def test_replacing_from_p_instead_of_the_residual_would_show() -> None:
    wrong = sum(
        q_x * (rule.acceptance(P, Q, x) * np.eye(3)[x] + (1 - rule.acceptance(P, Q, x)) * P)
        for x, q_x in enumerate(Q)
    )
    assert np.allclose(wrong, [0.35, 0.39, 0.26])
    assert not np.allclose(wrong, P, atol=0.05)


def test_fixed_candidates_one_after_the_other_are_lossless() -> None:
    """Candidates 2 then 1, each with certainty: accept with p(x), else strike x out and go on."""
    law, reached, written = P, 1.0, np.zeros(3)
    for x in (2, 1):
        (rejected, _, left), (kept, _, _) = rule.outcomes([law, law], None, [x])
        written[x] += reached * kept
        reached, law = reached * rejected, left
    assert np.allclose(written + reached * law, P, rtol=0, atol=1e-15)


# ---- a round ---------------------------------------------------------------------------------


@given(st.data(), st.integers(0, 3))
def test_outcomes_are_a_law(data: st.DataObject, n: int) -> None:
    keys = "abc"
    p_rows = [data.draw(exact_law(keys)) for _ in range(n + 1)]
    soft = data.draw(st.booleans())
    q_rows = [data.draw(exact_law(keys)) for _ in range(n)] if soft else None
    draft = [data.draw(st.sampled_from(keys)) for _ in range(n)]
    outcomes = rule.outcomes(p_rows, q_rows, draft)
    assert sum(probability for probability, _, _ in outcomes) == 1
    assert all(0 <= probability <= 1 for probability, _, _ in outcomes)
    assert [accepted for _, accepted, _ in outcomes] == list(range(n + 1))
    assert all(sum(law.values()) == 1 for _, _, law in outcomes)
    assert outcomes[-1][2] == p_rows[n]  # after all were accepted: the target's own law


@settings(max_examples=30)
@given(st.data(), st.integers(1, 3))
def test_uniforms_pick_each_outcome_with_its_probability(data: st.DataObject, n: int) -> None:
    """Over a grid on which every threshold lies, the shares are the probabilities."""
    grid = 6
    p_rows = [data.draw(st.permutations([F(1, 6), F(2, 6), F(3, 6)])) for _ in range(n + 1)]
    p_rows = [np.array(row, object) for row in p_rows]
    q_rows = [np.array([F(1, 3)] * 3, object) for _ in range(n)]
    draft = data.draw(st.lists(st.integers(0, 2), min_size=n, max_size=n))
    every = rule.outcomes(p_rows, q_rows, draft)
    shares = [F(0)] * (n + 1)
    cells = [F(2 * j + 1, 2 * grid) for j in range(grid)]
    for uniforms in product(cells, repeat=n):
        [(probability, accepted, law)] = rule.outcomes(p_rows, q_rows, draft, uniforms=uniforms)
        assert probability == 1
        shares[accepted] += F(1, grid**n)
        assert list(law) == list(every[accepted][2])
    assert shares == [probability for probability, _, _ in every]


def test_a_test_is_strict() -> None:
    """u = p / q itself is a rejection: [0, p/q) has the length p/q."""
    [(_, at, _)] = rule.outcomes([P, P], [Q], [2], uniforms=[0.2 / 0.5])
    [(_, below, _)] = rule.outcomes([P, P], [Q], [2], uniforms=[np.nextafter(0.2 / 0.5, 0)])
    assert (at, below) == (0, 1)


def test_a_sure_token_is_kept_at_the_largest_uniform() -> None:
    [(_, accepted, _)] = rule.outcomes([P, P], [Q], [0], uniforms=[1 - 2**-53])
    assert accepted == 1


def test_nothing_drafted_is_the_targets_own_law() -> None:
    for q_rows in ([], None):
        [(probability, accepted, law)] = rule.outcomes([P], q_rows, [], uniforms=[])
        assert (probability, accepted) == (1, 0)
        assert law is P


def test_an_unknown_rule_is_named() -> None:
    with pytest.raises(ValueError, match="'typical'"):
        rule.outcomes([P, P], [Q], [0], "typical")
