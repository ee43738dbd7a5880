"""From logits to the one law, against a slow and obvious oracle."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from specdec import rule
from specdec.law import Sampling, draw

LEVELS = [-np.inf, -30.0, -2.0, -1.0, 0.0, 0.5, 1.0, 2.0, 3.0]  # few of them, so that ties happen


def oracle(logits: list[float], s: Sampling) -> list[float]:
    """The definition word by word, in Python's own floats."""
    ids = sorted(
        range(len(logits)), key=lambda i: (-logits[i], i)
    )  # likeliest first, lower id first
    if s.temperature < 1e-5:
        return [float(i == ids[0]) for i in range(len(logits))]
    best = logits[ids[0]]
    weight = [math.exp((x - best) / s.temperature) for x in logits]
    if s.top_k:
        head = set(ids[: s.top_k])
        weight = [w if i in head else 0.0 for i, w in enumerate(weight)]
    total = math.fsum(weight)
    law = [w / total for w in weight]
    if s.top_p < 1:
        kept, mass = set(), 0.0
        for i in ids:
            if mass >= s.top_p:
                break
            kept.add(i)
            mass += law[i]
        law = [p if i in kept else 0.0 for i, p in enumerate(law)]
    floor = s.min_p * max(law)
    law = [p if p >= floor else 0.0 for p in law]
    total = math.fsum(law)
    return [p / total for p in law]


# Numbers that no sum of a few of these probabilities meets, so that no test hangs on a rounding.
NUCLEUS = st.sampled_from([0.05, 0.1234567, 0.31234567, 0.5123457, 0.7654321, 0.9123456, 0.9999, 1])
SAMPLING = st.builds(
    Sampling,
    temperature=st.sampled_from([0.0, 0.3, 0.7, 1.0, 1.9, 50.0]),
    top_k=st.integers(0, 12),
    top_p=NUCLEUS,
    min_p=st.sampled_from([0.0, 0.013579, 0.2345678, 0.8765432]),
)


def some_logits(values: st.SearchStrategy) -> st.SearchStrategy:
    finite = values.filter(np.isfinite)
    return st.tuples(st.lists(values, max_size=9), finite, st.lists(values, max_size=9)).map(
        lambda parts: [*parts[0], parts[1], *parts[2]]
    )


@settings(max_examples=300)
@given(some_logits(st.sampled_from(LEVELS)), SAMPLING)
@example([0.0, 0.0, 0.0, 0.0], Sampling(1.0, top_k=3, top_p=0.31234567))
def test_the_law_is_the_definition(logits: list[float], sampling: Sampling) -> None:
    law = sampling.law(np.array(logits))
    assert law.dtype == np.float64
    assert np.allclose(law, oracle(logits, sampling), rtol=1e-12, atol=1e-15)
    assert law.sum() == pytest.approx(1, abs=1e-12)


@given(some_logits(st.floats(-80, 80, width=32)), SAMPLING, st.sampled_from(["f2", "f4", "f8"]))
def test_any_finite_logits_give_a_law(logits: list[float], sampling: Sampling, kind: str) -> None:
    logits = np.array(logits, kind)
    law = sampling.law(logits)
    assert np.isfinite(law).all()
    assert (law >= 0).all()
    assert law.sum() == pytest.approx(1, abs=1e-12)
    best = float(logits[np.argmax(law)])  # or one so near that float64 sees a tie
    assert best == pytest.approx(float(logits.max()), abs=1e-12)
    if sampling.top_k:
        assert np.count_nonzero(law) <= sampling.top_k


@settings(max_examples=60)
@given(st.integers(0, 2**32 - 1), SAMPLING)
def test_a_large_vocabulary_is_no_other_case(seed: int, sampling: Sampling) -> None:
    """Long tails: the head that is sorted is a part, the answer is that of a full sort."""
    rng = np.random.default_rng(seed)
    logits = np.round(rng.normal(size=3000) * rng.choice([0.1, 2, 8]), 1)  # many ties
    want = oracle(logits.tolist(), sampling)
    assert np.allclose(sampling.law(logits), want, rtol=1e-9, atol=1e-15)


# ---- each setting, and their order -----------------------------------------------------------


def test_order_of_the_settings() -> None:
    """One law where every other order would give another answer."""
    logits = np.log([0.4, 0.3, 0.2, 0.1])
    # Temperature before top-p: at T = 1/2 the law is [16, 9, 4, 1] / 30, and .53 + .30 ≥ .8.
    assert np.count_nonzero(Sampling(1.0, top_p=0.8).law(logits)) == 3
    assert np.count_nonzero(Sampling(0.5, top_p=0.8).law(logits)) == 2
    # Top-k before top-p: of [4, 3] / 7 the first alone has .57 ≥ .5; of the whole it has .4.
    assert np.count_nonzero(Sampling(1.0, top_p=0.5).law(logits)) == 2
    assert np.count_nonzero(Sampling(1.0, top_k=2, top_p=0.5).law(logits)) == 1
    # Temperature before min-p: .1 is a quarter of the maximum at T = 1, a sixteenth at T = 1/2.
    assert np.count_nonzero(Sampling(1.0, min_p=0.2).law(logits)) == 4
    assert np.count_nonzero(Sampling(0.5, min_p=0.2).law(logits)) == 3
    # The last step renormalises.
    law = Sampling(1.0, top_k=3, top_p=0.7, min_p=0.1).law(logits)
    assert np.allclose(law, [4 / 7, 3 / 7, 0, 0])


@pytest.mark.parametrize("k", [1, 2, 3, 4, 5, 9])
def test_top_k_keeps_exactly_k_and_the_lower_id_wins_a_tie(k: int) -> None:
    law = Sampling(1.0, top_k=k).law(np.array([1.0, 2.0, 2.0, 2.0, 1.0]))
    assert np.flatnonzero(law).tolist() == sorted([1, 2, 3, 0, 4][:k])


def test_top_p_keeps_the_smallest_set_and_the_lower_id_wins_a_tie() -> None:
    equal = np.zeros(8)  # eighths, exact in binary
    for p, n in ((0.125, 1), (0.126, 2), (0.25, 2), (0.5, 4), (0.51, 5), (0.876, 8), (1.0, 8)):
        law = Sampling(1.0, top_p=p).law(equal)
        assert np.flatnonzero(law).tolist() == list(range(n))
        assert np.allclose(law[:n], 1 / n)


def test_top_p_keeps_one_token_however_small_it_is() -> None:
    assert Sampling(1.0, top_p=1e-9).law(np.array([0.0, 1.0])).tolist() == [0, 1]


def test_top_p_just_below_one_keeps_what_has_mass() -> None:
    law = Sampling(1.0, top_p=1 - 2**-53).law(np.full(49_152, 1.0))
    assert np.count_nonzero(law) >= 49_151


def test_min_p_is_against_the_maximum() -> None:
    logits = np.log([0.5, 0.25, 0.125, 0.0625])
    assert np.count_nonzero(Sampling(1.0, min_p=0.24).law(logits)) == 3
    assert np.count_nonzero(Sampling(1.0, min_p=0.26).law(logits)) == 2
    assert Sampling(1.0, min_p=1.0).law(np.array([1.0, 3.0, 3.0])).tolist() == [0, 0.5, 0.5]


@pytest.mark.parametrize("temperature", [0, 1e-8, 1e-6, 9.9e-6])
def test_temperatures_under_the_limit_are_greedy_at_the_lowest_id(temperature: float) -> None:
    sampling = Sampling(temperature, top_k=3, top_p=0.9, min_p=0.1)
    assert sampling.greedy
    for logits in ([1.0, 3.0, 3.0], [-np.inf, 1e4, 1e4], [1e-30, 2e-30, 0.0]):
        assert sampling.law(np.array(logits)).tolist() == [0, 1, 0]


@pytest.mark.parametrize("temperature", [1e-5, 1e-4, 1e-2])
@pytest.mark.parametrize("scale", [1.0, 1e4, 1e30])
def test_small_temperatures_do_not_overflow(temperature: float, scale: float) -> None:
    sampling = Sampling(temperature)
    assert not sampling.greedy
    law = sampling.law(np.array([-3.0, 2.0, 1.0, -np.inf]) * scale)
    assert np.allclose(law, [0, 1, 0, 0], rtol=0, atol=1e-40)


def test_half_precision_logits_are_widened_first() -> None:
    """60000 − (−60000) overflows float16, and float16 has no 1/3."""
    law = Sampling(1.0).law(np.array([60_000, -60_000, 60_000, 60_000], np.float16))
    assert law.tolist() == [1 / 3, 0, 1 / 3, 1 / 3]


def test_logits_are_left_as_they_were() -> None:
    logits = np.array([1.0, 2.0, 3.0])
    logits.flags.writeable = False
    for sampling in (Sampling(), Sampling(0.7, top_k=2, top_p=0.9, min_p=0.01)):
        sampling.law(logits)
    assert logits.tolist() == [1, 2, 3]


@pytest.mark.parametrize(
    "sampling", [Sampling(), Sampling(1.0), Sampling(0.7, 3, 0.9, 0.1)], ids=str
)
@pytest.mark.parametrize(
    "logits",
    [
        [1, math.nan, 2],
        [math.nan, 1, 2],
        [1, 2, math.inf],
        [math.nan] * 3,
        [-math.inf] * 3,
        [math.inf, math.nan, 0],
    ],
    ids=str,
)
def test_logits_that_are_no_numbers_are_refused_in_words(sampling: Sampling, logits: list) -> None:
    with pytest.raises(ValueError, match="logits"):
        sampling.law(np.array(logits))


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("temperature", -0.1),
        ("temperature", math.nan),
        ("temperature", math.inf),
        ("top_k", -1),
        ("top_k", 2.5),
        ("top_k", math.nan),
        ("top_k", math.inf),
        ("top_p", 0.0),
        ("top_p", 1.01),
        ("top_p", math.nan),
        ("min_p", -0.01),
        ("min_p", 1.5),
        ("min_p", math.nan),
    ],
)
def test_a_setting_out_of_range_is_named_with_its_value(setting: str, value: float) -> None:
    with pytest.raises(ValueError, match=f"{setting} is {value}; it must be"):
        Sampling(**{setting: value})


# ---- draws -----------------------------------------------------------------------------------


@given(st.lists(st.integers(0, 5), min_size=1, max_size=9).filter(any), st.integers(0, 2**53 - 1))
def test_a_draw_is_the_inverse_cdf_in_id_order(weights: list[int], bits: int) -> None:
    u = bits * 2.0**-53
    at, reached = 0, weights[0]
    while reached <= u * sum(weights):
        at += 1
        reached += weights[at]
    assert draw(np.array(weights, float), u) == at


def test_a_token_owns_the_lower_end_of_its_interval() -> None:
    law = np.array([0.25, 0.0, 0.25, 0.5])
    ends = [0.0, 0.25, 0.5]
    assert [draw(law, u) for u in ends] == [0, 2, 3]
    assert [draw(law, np.nextafter(u, 0)) for u in ends[1:]] == [0, 2]


@pytest.mark.parametrize("u", [0.0, 0.25, 1 - 2**-53])
@pytest.mark.parametrize("law", [[0, 0, 1, 0], [0, 0.5, 0.5, 0], [0, 1e-300, 1e-300, 0]], ids=str)
def test_a_token_without_mass_is_never_drawn(u: float, law: list[float]) -> None:
    assert law[draw(np.array(law), u)] > 0


def test_a_law_that_sums_to_less_by_rounding_still_gives_a_token() -> None:
    law = np.full(10, 0.1)  # the running sum is 0.9999999999999999
    assert draw(law, 1 - 2**-53) == 9
    assert draw(law * (1 - 1e-9), 1 - 2**-53) == 9


def test_a_vocabulary_of_8193_with_all_mass_on_id_0() -> None:
    """The draft, id 0 with certainty, is rejected all the same: what replaces it is an id."""
    p = np.zeros(8193)
    p[0] = 1.0
    for q_rows in (None, [p]):
        [(_, accepted, law)] = rule.outcomes([p, p], q_rows, [0], uniforms=[1.0])  # forced
        assert accepted == 0
        assert draw(law, 1 - 2**-53) == draw(law, 0.0) == 0


def test_the_shares_of_draws_are_the_law() -> None:
    """A grid of n midpoints hits a token of probability p(x) p(x) · n times, give or take one."""
    law = Sampling(0.8, top_k=5, top_p=0.95).law(np.array([0.1, 2.0, -1.0, 1.5, 0.3, 0.2, 2.0]))
    n = 2000
    counts = np.bincount([draw(law, (j + 0.5) / n) for j in range(n)], minlength=7)
    assert np.abs(counts - law * n).max() <= 1
