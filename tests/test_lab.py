"""The losslessness lab: exact limits of right and wrong rules, and their draws."""

from __future__ import annotations

import math
from fractions import Fraction as F
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from specdec import lab, rule
from specdec.lab.band import band, expected_variation
from specdec.lab.draws import Draws, check, points_to, simulate
from specdec.lab.play import CHUNK, OnePosition, TwoPositions
from specdec.lab.two import two

pytestmark = pytest.mark.long

quick = settings(deadline=None)
RIGHT = [r.name for r in lab.RULES if r.lossless]
WRONG = [r.name for r in lab.RULES if not r.lossless]


def law(*tenths: int) -> np.ndarray:
    """A law in tenths."""
    return lab.exact_law([F(n, 10) for n in tenths])


TOY_A = law(5, 3, 2), law(2, 3, 5)


def exact_laws() -> st.SearchStrategy[tuple[np.ndarray, np.ndarray]]:
    """p and q over the same 1 to 6 tokens; zeros happen."""

    def shares(size: int, weights: list[int], sure: int) -> np.ndarray:
        mine = [w + (i == sure % size) for i, w in enumerate(weights[:size])]
        return lab.exact_law([F(w, sum(mine)) for w in mine])

    weights = st.lists(st.integers(0, 9), min_size=6, max_size=6), st.integers(0, 5)
    pair = st.tuples(st.integers(1, 6), *weights, *weights)
    return pair.map(lambda x: (shares(*x[:3]), shares(x[0], *x[3:])))


def limit(name: str, p: np.ndarray, q: np.ndarray) -> list[F]:
    return list(lab.limit(lab.by_name(name), p, q))


# ---- exact limits ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "numbers"),
    [
        ("from p", [0.35, 0.39, 0.26]),
        ("p ≥ q", [0.7, 0.3, 0]),
        ("always", [0.2, 0.3, 0.5]),
        ("soft q", [0.6, 0, 0.4]),
        ("raw q", [0.375, 0.375, 0.25]),
        ("only x", [0.3875, 0.4125, 0.2]),
        ("confidence", [0.55, 0.15, 0.3]),
        ("typical", [0.2, 0.3, 0.5]),
    ],
)
def test_wrong_rules_on_toy_a(name: str, numbers: list[float]) -> None:
    assert limit(name, *TOY_A) == [F(str(x)) for x in numbers]


@pytest.mark.parametrize("name", RIGHT)
def test_right_rules_on_toy_a(name: str) -> None:
    assert limit(name, *TOY_A) == list(TOY_A[0])


def test_acceptance_on_toy_a() -> None:
    kept = {r.name: lab.accepted(r, *TOY_A) for r in lab.RULES}
    assert kept["target"] is None
    assert (kept["pq"], kept["match"], kept["one-hot"]) == (F(7, 10), F(29, 100), F(2, 10))


def test_a_confidence_stop_that_drops_the_judged_token() -> None:
    p, q = law(5, 5), law(9, 1)
    assert limit("confidence", p, q) == [F(55, 100), F(45, 100)]


@quick
@given(exact_laws(), st.sampled_from(RIGHT))
def test_a_right_rule_is_right_for_all_laws(laws: tuple, name: str) -> None:
    assert limit(name, *laws) == list(laws[0])


@quick
@given(exact_laws(), st.sampled_from(WRONG))
def test_a_wrong_rule_still_writes_a_law(laws: tuple, name: str) -> None:
    written = limit(name, *laws)
    assert sum(written) == 1
    assert all(0 <= mass <= 1 for mass in written)
    assert 0 <= lab.accepted(lab.by_name(name), *laws) <= 1


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_rule_is_wrong_somewhere(name: str) -> None:
    assert limit(name, *TOY_A) != list(TOY_A[0])


@quick
@given(exact_laws(), st.data())
def test_what_only_a_sure_drafter_makes_right(laws: tuple, data: st.DataObject) -> None:
    p, _ = laws
    q = rule.one_hot(p, data.draw(st.integers(0, len(p) - 1)))
    for name in ("only x", "soft q", "confidence", "raw q"):
        assert limit(name, p, q) == list(p)


@quick
@given(exact_laws())
def test_a_drafter_equal_to_the_target_hides_most_faults(laws: tuple) -> None:
    p, _ = laws
    for name in ("from p", "p ≥ q", "always", "only x"):
        assert limit(name, p, p) == list(p)


@quick
@given(exact_laws())
def test_the_labs_right_rules_are_the_engines(laws: tuple) -> None:
    p, q = laws
    assert limit("pq", p, q) == list(rule.output_distribution(p, q))
    for name, which, q_rows in (("pq", "pq", [q]), ("match", "match", [q])):
        kept = sum(
            q[x]
            * sum(c for c, accepted, _ in rule.outcomes([p, p], q_rows, [x], which) if accepted)
            for x in range(len(p))
        )
        assert lab.accepted(lab.by_name(name), p, q) == kept
    assert lab.accepted(lab.by_name("pq"), p, q) == rule.overlap(p, q)
    assert lab.accepted(lab.by_name("match"), p, q) == (p * q).sum()


def test_raw_q_draws_from_the_two_likeliest_lower_ids_first() -> None:
    q = law(3, 3, 3, 1)
    assert list(lab.by_name("raw q").drafts(q, q)) == [F(1, 2), F(1, 2), 0, 0]


def test_typical_acceptance_lowers_its_bound_where_p_is_spread() -> None:
    """A sure p: the hard bound 0.09 counts. A flat p over 20: 0.3 · e^−H = 0.015 < 0.05."""
    typical = lab.by_name("typical")
    sharp = lab.exact_law([F(90, 100), F(9, 100), F(1, 100)])
    assert list(typical.acceptance(sharp, sharp)) == [1, 0, 0]  # 0.09 is not more than 0.09
    flat = lab.exact_law([F(1, 20)] * 20)
    assert list(typical.acceptance(flat, flat)) == [1] * 20
    assert list(typical.replacement(sharp, sharp, 2)) == [1, 0, 0]


def test_laws_are_checked_in_words() -> None:
    for masses, words in (
        ([F(1, 2), F(1, 3)], "sums to 0.833333, not to 1"),
        ([0.5, 0.4], "sums to 0.9"),
        ([F(3, 2), F(-1, 2)], "negative"),
        ([math.nan, 1.0], "no number"),
        ([], "0 tokens"),
        ([F(1, 65)] * 65, "65 tokens"),
    ):
        with pytest.raises(ValueError, match=words):
            lab.exact_law(masses)
    third = lab.exact_law([1 / 3, 1 / 3, 1 / 3])
    assert sum(third) == 1  # floats are made exact
    with pytest.raises(ValueError, match="no rule 'magic'; it has target, pq"):
        lab.by_name("magic")


def test_variation() -> None:
    assert lab.variation(*TOY_A) == F(3, 10) == 1 - rule.overlap(*TOY_A)


# ---- draws -----------------------------------------------------------------------------------


def last(table, n: int, seed: int = 7) -> Draws:
    return list(simulate(table, n, seed))[-1]


@pytest.mark.parametrize("name", [r.name for r in lab.RULES])
def test_draws_go_to_the_exact_limit(name: str) -> None:
    """n = 200 000, seed 7: share of tokens and of kept drafts.

    Total variation: mean ≤ ½ √(V/n), and it exceeds its mean by √(ln 10⁹ / 2n) with chance 10⁻⁹.
    """
    n, r = 200_000, lab.by_name(name)
    p = law(4, 1, 3, 0, 2)
    q = law(1, 4, 0, 2, 3)
    draws = last(OnePosition(r, p, q), n)
    written = np.array(draws.counts) / n
    away = float(lab.variation(written, lab.limit(r, p, q).astype(float)))
    slack = math.sqrt(math.log(1e9) / (2 * n))
    assert away < 0.5 * math.sqrt(len(p) / n) + slack
    share = lab.accepted(r, p, q)
    assert abs(draws.accepted / n - (0 if share is None else float(share))) < slack
    assert draws.points[-1] == (n, pytest.approx(np.abs(written - p.astype(float)).sum() / 2))


@pytest.mark.parametrize("which", rule.RULES)
def test_draws_of_two_positions_go_to_the_exact_limit(which: str) -> None:
    """n = 200 000, seed 7; bounds as above, accepted drafts are 0 to 2."""
    n, (p, q) = 200_000, TOY_A
    draws, exact = last(TwoPositions(which, p, q), n), two(which, p, q)
    slack = math.sqrt(math.log(1e9) / (2 * n))
    assert draws.points[-1][1] < 0.5 * math.sqrt(9 / n) + slack
    assert abs(draws.accepted / n - float(exact.expected)) < 2 * slack


def test_a_wrong_rule_stays_away_and_a_right_one_falls() -> None:
    """Toy A, seed 7: the error of "from p" settles at 3/20, that of the rule falls like 1/√n."""
    wrong = dict(last(OnePosition(lab.by_name("from p"), *TOY_A), 10**6).points)
    right = dict(last(OnePosition(lab.by_name("pq"), *TOY_A), 10**6).points)
    assert abs(wrong[10**6] - 0.15) < 0.005
    assert right[10**6] < 0.005 < 0.02 < right[10]


def test_the_same_seed_draws_the_same_and_more_draws_begin_with_them() -> None:
    table = OnePosition(lab.by_name("pq"), *TOY_A)
    few, many = last(table, 1000), last(table, CHUNK + 1000)
    assert few == last(table, 1000)
    assert few.points == tuple(point for point in many.points if point[0] <= 1000)
    assert few != last(table, 1000, seed=8)
    assert sum(many.counts) == many.n == CHUNK + 1000


def test_two_rules_do_not_share_their_numbers() -> None:
    counts = {last(OnePosition(lab.by_name(n), *TOY_A), 1000).counts for n in RIGHT}
    assert len(counts) == len(RIGHT)


def test_a_reader_may_stop_between_chunks() -> None:
    steps = simulate(OnePosition(lab.by_name("pq"), *TOY_A), 10**6, 0)
    assert next(steps).n == CHUNK
    part = next(steps)
    assert part.n == 2 * CHUNK == sum(part.counts)
    assert part.points[-1][0] <= part.n
    steps.close()


def test_a_token_without_mass_is_never_written() -> None:
    p, q = law(0, 10, 0), law(4, 2, 4)
    assert last(OnePosition(lab.by_name("pq"), p, q), 50_000).counts == (0, 50_000, 0)


def test_numbers_out_of_range_are_refused_in_words() -> None:
    for n, seed, words in (
        (0, 0, "0 draws"),
        (10**6 + 1, 0, "1000001 draws"),
        (5, -1, "seed is -1"),
    ):
        with pytest.raises(ValueError, match=words):
            check(n, seed)


# ---- the band --------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [1, 2, 5, 9])
def test_the_mean_error_of_honest_draws_by_enumeration(n: int) -> None:
    p = [F(5, 10), F(3, 10), F(2, 10)]
    mean = F(0)
    for a, b in product(range(n + 1), repeat=2):
        if (c := n - a - b) >= 0:
            ways = math.comb(n, a) * math.comb(n - a, b)
            errors = [abs(F(count, n) - mass) for count, mass in zip((a, b, c), p)]
            mean += ways * p[0] ** a * p[1] ** b * p[2] ** c * sum(errors) / 2
    assert expected_variation(np.array(p, float), n) == pytest.approx(float(mean), rel=1e-12)


def test_the_band_holds_what_it_says() -> None:
    """20 000 other experiments a point: 1 % outside; 0.4 % to 1.7 % allows 4000 worlds' error.

    Few draws have few possible errors: there the band is wider than it need be, never narrower.
    """
    p, points = TOY_A[0].astype(float), (100, 1000, 10_000)
    found, rng = band(p, points), np.random.default_rng(99)
    for n, low, mean, high in zip(found.n, found.low, found.mean, found.high):
        errors = np.abs(rng.multinomial(n, p, size=20_000) / n - p).sum(axis=1) / 2
        assert 0.004 * (n > 100) < ((errors < low) | (errors > high)).mean() < 0.017
        assert errors.mean() == pytest.approx(mean, rel=0.02)
        assert high < mean + math.sqrt(math.log(200) / (2 * n))  # McDiarmid
        assert low < mean < high


def test_the_band_of_a_sure_law_is_zero() -> None:
    found = band(np.array([1.0, 0.0]), (10, 1000))
    assert found.low == found.mean == found.high == (0, 0)


def test_points_are_even_on_a_log_scale_and_end_at_n() -> None:
    assert points_to(7) == (7,)
    assert points_to(100) == (10, 12, 15, 19, 25, 31, 39, 50, 63, 79, 100)
    assert points_to(10**6)[-1] == 10**6
    assert len(points_to(10**6)) == len(set(points_to(10**6))) == 51


# ---- two positions ---------------------------------------------------------------------------


@settings(deadline=None, max_examples=40)
@given(exact_laws())
def test_every_rule_writes_two_tokens_exactly_and_block_keeps_no_fewer(laws: tuple) -> None:
    p, q = laws
    found = {which: two(which, p, q) for which in rule.RULES}
    for result in found.values():
        assert (result.law == np.outer(p, p)).all()
    alpha, same = rule.overlap(p, q), (p * q).sum()
    assert found["pq"].expected == alpha + alpha**2
    assert found["match"].expected == same + same**2
    assert found["block"].expected >= found["pq"].expected


def test_toy_a_in_two_positions() -> None:
    assert [two(which, *TOY_A).expected for which in rule.RULES] == [
        F(119, 100),
        F(3741, 10_000),
        F(5, 4),
    ]
