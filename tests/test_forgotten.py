"""Forgotten settings: the lab's loop is the engine's but for one law, and its bias is exact."""

from __future__ import annotations

from fractions import Fraction as F

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from specdec.arithmetic import normalised
from specdec.lab import forgotten
from specdec.lab.forgotten import PLACES, Laws, alpha, bias, by_name, judged_law, write
from specdec.lab.rules import TOP_K, limit
from specdec.lab.rules import by_name as rule_named
from specdec.law import Sampling
from tests.pairs_np import Model, drafting, ids_of, random_model, run_rounds

pytestmark = pytest.mark.long

SETTINGS = Sampling(temperature=0.6, top_p=0.8)
masses = st.lists(st.integers(0, 9), min_size=4, max_size=4).filter(any)


def law(weights) -> np.ndarray:
    return np.array([F(w, sum(weights)) for w in weights], dtype=object)


@st.composite
def four(draw) -> Laws:
    return Laws(*(law(draw(masses)) for _ in range(4)))


def by_hand(place: forgotten.Place, laws: Laws) -> list[F]:
    """The law of a judged token, token by token and draft by draft."""
    written = [F(0)] * 4
    over, under = place.over(laws), place.under(laws)
    left = [max(w - h, 0) for w, h in zip(place.wants(laws), place.has(laws))]
    fill = [x / sum(left) for x in left] if sum(left) else list(place.wants(laws))
    for x, chance in enumerate(place.draws(laws)):
        keep = 0 if over[x] == 0 else 1 if under[x] <= over[x] else over[x] / under[x]
        written[x] += chance * keep
        for y in range(4):
            written[y] += chance * (1 - keep) * fill[y]
    return written


@given(four())
def test_the_law_is_what_the_steps_add_up_to(laws: Laws) -> None:
    for place in PLACES:
        assert judged_law(place, laws).tolist() == by_hand(place, laws)


@given(four())
def test_forgotten_consistently_is_lossless(laws: Laws) -> None:
    """The drafter may draw from any q, if the ratio and the residual divide by the same."""
    for name in ("nowhere", "drafter", "bonus"):
        assert judged_law(by_name(name), laws).tolist() == laws.p.tolist()
    for name in forgotten.RIGHT:
        assert bias(by_name(name), laws) == (0, 0)
    assert judged_law(by_name("target"), laws).tolist() == laws.raw_p.tolist()


@given(masses, masses)
def test_a_cut_that_the_ratio_forgot_is_the_lab_s_raw_q(p, q) -> None:
    """The same fault as a rule of page 3; its residual takes the raw q too."""
    target, raw_q = law(p), law(q)
    largest = np.argsort(-raw_q, kind="stable")[:TOP_K]
    cut = raw_q * 0
    cut[largest] = raw_q[largest]
    laws = Laws(target, normalised(cut, cut.sum()), target, raw_q)
    place = forgotten.Place("", "", under=lambda laws: laws.raw_q, has=lambda laws: laws.raw_q)
    assert judged_law(place, laws).tolist() == limit(rule_named("raw q"), target, raw_q).tolist()


def test_every_other_place_bends_some_law() -> None:
    raw_p, raw_q = (np.log(row) for row in ([0.4, 0.3, 0.2, 0.1], [0.2, 0.1, 0.3, 0.4]))
    laws = Laws(
        *(SETTINGS.law(row) for row in (raw_p, raw_q)),
        *(forgotten.RAW.law(row) for row in (raw_p, raw_q)),
    )
    for place in PLACES:
        judged, bonus = bias(place, laws)
        right = place.name in forgotten.RIGHT
        assert bool(max(judged, bonus) < 1e-12) is right, place.name
        assert 0 < alpha(place, laws) <= 1


@pytest.mark.parametrize("k", [1, 3])
def test_nowhere_is_the_engine(k: int) -> None:
    target = random_model(9, seed=2)
    part = Model(9, drafting(target).logits, token_ids=[0, 2, 3, 7])
    for small in (drafting(target), part):
        for seed in range(20):
            options = {"k": k, "n": 25, "sampling": SETTINGS}
            right = run_rounds(target, small, [1, 2, 3], rng=seed, stop_ids=[5], **options)
            run = write(
                by_name("nowhere"),
                target.scorer(),
                small.scorer(),
                [1, 2, 3],
                seed=seed,
                stop_ids=[5],
                **options,
            )
            assert list(run.ids) == ids_of(right)
            assert run.accepted == sum(r.accepted for r in right)
            assert run.rejected == sum(r.rejected for r in right)


@pytest.mark.parametrize("place", PLACES, ids=lambda place: place.name)
def test_what_runs_is_what_is_added_up(place: forgotten.Place) -> None:
    """The first token of 4000 seeds: 5 standard deviations in each share."""
    target, n = random_model(4, seed=3, sharpness=1.0), 4000
    small = random_model(4, seed=8, sharpness=1.0)
    laws = Laws(
        *(SETTINGS.law(m.after([1, 2])) for m in (target, small)),
        *(forgotten.RAW.law(m.after([1, 2])) for m in (target, small)),
    )
    first = [
        write(
            place, target.scorer(capacity=9), small.scorer(capacity=9), [1, 2],
            k=1, n=1, sampling=SETTINGS, seed=seed,
        ).ids[0]
        for seed in range(n)
    ]  # fmt: skip
    shares = np.bincount(first, minlength=4) / n
    want = judged_law(place, laws)
    assert (np.abs(shares - want) <= 5 * np.sqrt(want * (1 - want) / n) + 1e-12).all()


def test_an_unknown_place_is_named() -> None:
    with pytest.raises(ValueError, match="There is no place 'here'"):
        by_name("here")
