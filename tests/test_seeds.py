"""A seed replays a run; runs that share a seed share numbers until a decision differs."""

from __future__ import annotations

import numpy as np
import pytest

from specdec.decode import speculate
from specdec.drafters import ModelDrafter
from specdec.trace import Round
from tests.pairs_np import (
    DRAFTERS,
    SOFT,
    drafting,
    ids_of,
    make_drafter,
    random_model,
    run_rounds,
    still,
)

EVERY = pytest.mark.parametrize("drafter", DRAFTERS)


@EVERY
def test_a_seed_replays_a_run_and_another_does_not(drafter: str) -> None:
    target = random_model(9, seed=2, sharpness=1)

    def run(seed: object) -> list[Round]:
        return run_rounds(
            target,
            make_drafter(drafter, target),
            [1],
            k=4,
            n=20,
            sampling=SOFT,
            rng=seed,
            clock=still,
        )

    assert run(1) == run(1)
    assert ids_of(run(1)) != ids_of(run(2))
    drawn = int(np.random.default_rng(8).integers(2**63))
    assert run(np.random.default_rng(8)) == run(drawn)


def test_a_second_run_on_the_same_weights_does_not_change_the_first() -> None:
    target = random_model(9, seed=2, sharpness=1)
    small = drafting(target)

    def start(seed: int):
        return speculate(
            target.scorer(),
            ModelDrafter(small.scorer()),
            [1, seed],
            k=3,
            sampling=SOFT,
            max_new_tokens=20,
            rng=seed,
            clock=still,
        )

    alone = [list(start(1)), list(start(2))]
    loops, together = [start(1), start(2)], [[], []]
    for _ in range(30):  # in turns
        for loop, rounds in zip(loops, together):
            rounds += [r for r in [next(loop, None)] if r]
    assert together == alone


def test_runs_that_differ_only_in_k_read_the_same_numbers_until_a_decision_differs() -> None:
    target = random_model(9, seed=2, sharpness=2)
    small = drafting(target)
    for seed in range(30):
        short, long = (
            run_rounds(target, small, [1, 2], k=k, n=20, sampling=SOFT, rng=seed, clock=still)
            for k in (2, 5)
        )
        a, b = short[0].drafted, long[0].drafted
        assert [(t.id, t.p, t.q) for t in a] == [(t.id, t.p, t.q) for t in b[:2]]
        if short[0].rejected:  # then both runs go on from the same text
            assert short[0].written == long[0].written
            assert [t.u for t in a] == [t.u for t in b[:2]]
            n = len(short[1].drafted)
            assert [t.id for t in short[1].drafted] == [t.id for t in long[1].drafted[:n]]


def test_a_longer_run_begins_like_a_shorter_one() -> None:
    target = random_model(9, seed=2, sharpness=2)
    for drafter in ("good", "lookup", "fixed"):
        runs = [
            ids_of(run_rounds(target, make_drafter(drafter, target), [1], k=4, n=n, sampling=SOFT))
            for n in range(1, 15)
        ]
        assert all(run == runs[-1][: len(run)] for run in runs)
