"""The round loop: greedy is the target's, the record is right, bad input gets a sentence."""

from __future__ import annotations

from dataclasses import replace
from itertools import count

import numpy as np
import pytest

from specdec.decode import speculate
from specdec.drafters import Draft, FixedDrafter, ModelDrafter, PromptLookup
from specdec.law import Sampling
from specdec.trace import Seconds
from tests.pairs_np import (
    DRAFTERS,
    GREEDY,
    SOFT,
    Model,
    Swapping,
    drafting,
    ids_of,
    make_drafter,
    plain_ids,
    random_model,
    run_rounds,
    trace_of,
)

BOTH = pytest.mark.parametrize("sampling", [GREEDY, SOFT], ids=["greedy", "sampling"])
EVERY = pytest.mark.parametrize("drafter", DRAFTERS)


@EVERY
@pytest.mark.parametrize("temperature", [0, 1e-8, 1e-6, 1e-4])
def test_forty_of_forty_tokens_are_the_targets(drafter: str, temperature: float) -> None:
    target = random_model(9, seed=4)
    want = plain_ids(target, [0, 1], 40)
    for seed in range(2):
        rounds = run_rounds(
            target,
            make_drafter(drafter, target),
            [0, 1],
            k=4,
            n=40,
            sampling=Sampling(temperature),
            rng=seed,
        )
        assert ids_of(rounds) == want


@EVERY
def test_top_k_of_one_is_greedy_for_every_seed(drafter: str) -> None:
    """Settings applied to the bonus token alone would show here."""
    target = random_model(9, seed=4)
    want = plain_ids(target, [3], 12)
    for seed in range(10):
        rounds = run_rounds(
            target, make_drafter(drafter, target), [3], k=4, n=12, sampling=Sampling(1, 1), rng=seed
        )
        assert ids_of(rounds) == want


@EVERY
@BOTH
def test_no_token_outside_top_k_is_ever_written(drafter: str, sampling: Sampling) -> None:
    target, two = random_model(9, seed=5, sharpness=0.5), replace(sampling, top_k=2)
    for seed in range(5):
        out = ids_of(
            run_rounds(
                target, make_drafter(drafter, target), [3], k=4, n=20, sampling=two, rng=seed
            )
        )
        for i, token in enumerate(out):
            assert token in np.argsort(-target.after([3, *out[:i]]))[:2]


@BOTH
@pytest.mark.parametrize("k", [1, 2, 3, 4, 7])
def test_a_model_drafting_for_itself_is_always_accepted(k: int, sampling: Sampling) -> None:
    target = random_model(9, seed=6)
    for n in (1, 7, 40):
        rounds = run_rounds(target, target, [1, 2], k=k, n=n, sampling=sampling)
        trace = trace_of(rounds)
        assert trace.alpha == 1
        assert trace.target_passes == -(-n // (k + 1))
        assert len(trace.token_ids) == n


def test_forty_tokens_at_k_four_are_eight_passes() -> None:
    """The bonus token's place in the drafter's cache was never filled: acceptance decayed."""
    target = random_model(9, seed=6)
    rounds = run_rounds(target, target, [1], k=4, n=40)
    assert [r.accepted for r in rounds] == [4] * 8
    assert [r.lengths.drafter for r in rounds[:3]] == [(0, 4), (4, 9), (9, 14)]


@BOTH
def test_swapping_the_drafter_in_the_middle_of_a_run(sampling: Sampling) -> None:
    """Greedy output does not change; when itself drafts, all is accepted, however late it came."""
    target = random_model(9, seed=7)
    mixed = Swapping(make_drafter("bad", target), PromptLookup(), make_drafter("itself", target))
    rounds = run_rounds(target, mixed, [1, 2, 3], k=3, n=40, sampling=sampling)
    if sampling.greedy:
        assert ids_of(rounds) == plain_ids(target, [1, 2, 3], 40)
    own = [r for r in rounds if (r.index + 1) % 3 == 2 and r.stop_reason is None]
    assert own
    assert all(r.accepted == 3 for r in own)


@EVERY
def test_greedy_does_not_depend_on_the_seed(drafter: str) -> None:
    target = random_model(9, seed=4)
    runs = [
        run_rounds(target, make_drafter(drafter, target), [1], k=4, n=30, rng=s) for s in range(8)
    ]
    assert len({tuple(ids_of(rounds)) for rounds in runs}) == 1
    assert all(t.u is None for r in runs[0] for t in (*r.drafted, *r.written))


# ---- the record ------------------------------------------------------------------------------


def test_seconds_are_told_by_the_clock_and_prefill_apart() -> None:
    target = random_model(9, seed=2)
    rounds = run_rounds(target, target, [1, 2], k=2, n=9, clock=count().__next__)
    assert [r.seconds for r in rounds] == [Seconds(1, 1, 1, prefill) for prefill in (1, 0, 0)]


@pytest.mark.parametrize("tops", [0, 1, 3, 10])
def test_as_many_of_each_law_as_asked(tops: int) -> None:
    target = random_model(30, seed=2, sharpness=0.5)
    rounds = run_rounds(target, drafting(target), [1, 2], k=2, n=9, sampling=SOFT, tops=tops)
    for r in rounds:
        heads = [t.p_top for t in (*r.drafted, *r.written)] + [t.q_top for t in r.drafted]
        assert all((top is None) if tops == 0 else len(top.entries) == tops for top in heads)


def test_the_head_of_a_law_is_its_likeliest_ids() -> None:
    target = random_model(2000, seed=2, sharpness=0.1)  # no id reaches 1e-3
    [r] = run_rounds(target, None, [1], k=0, n=1, sampling=SOFT, tops=10)
    law = SOFT.law(target.after([1]))
    best = np.argsort(-law, kind="stable")[:10]
    assert [i for i, _, _ in r.written[0].p_top.entries] == best.tolist()
    assert r.written[0].p_top.rest == pytest.approx(1 - law[best].sum())


def test_plain_decoding_is_rounds_of_one_bonus_token() -> None:
    target = random_model(9, seed=2)
    rounds = run_rounds(target, None, [1, 2], k=0, n=12, sampling=SOFT)
    assert [[t.kind for t in r.written] for r in rounds] == [["bonus"]] * 12
    assert all((r.drafted, r.lengths.drafter, r.draft_passes) == ((), None, 0) for r in rounds)
    trace = trace_of(rounds)
    assert (trace.alpha, trace.draft_yield, trace.tokens_per_pass) == (None, None, 1)


# ---- bad input -------------------------------------------------------------------------------


class Says:
    """A drafter that proposes whatever it is told to."""

    def __init__(self, draft: Draft) -> None:
        self.draft = draft

    def propose(self, context, k, sampling, uniforms) -> Draft:
        return self.draft


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        ({"k": -1}, "k is -1"),
        ({"k": 1.5}, "k is 1.5"),
        ({"k": float("nan")}, "k is nan"),
        ({"k": float("inf")}, "k is inf"),
        ({"max_new_tokens": 0}, "max_new_tokens is 0"),
        ({"max_new_tokens": -3}, "max_new_tokens is -3"),
        ({"max_new_tokens": 2.5}, "max_new_tokens is 2.5"),
        ({"max_new_tokens": float("nan")}, "max_new_tokens is nan"),
        ({"prompt_ids": []}, "no tokens"),
        ({"prompt_ids": [0, 9]}, "id 9"),
        ({"prompt_ids": [-1, 0]}, "id -1"),
        ({"prompt_ids": [0] * 40}, "40 tokens"),
        ({"drafter": None}, "no drafter"),
        ({"rng": -5}, "seed is -5"),
        ({"rule": "typical"}, "'typical'"),
    ],
    ids=str,
)
def test_bad_input_is_refused_before_any_forward(wrong: dict, named: str) -> None:
    target = random_model(9, context=40)
    scorer, draft = target.scorer(), target.scorer()
    asked = {"drafter": ModelDrafter(draft), "prompt_ids": [0, 1], "k": 2, "sampling": GREEDY}
    with pytest.raises(ValueError, match=named):
        next(speculate(scorer, **(asked | {"max_new_tokens": 5} | wrong)))
    assert (scorer.fed, draft.fed) == ([], [])


@pytest.mark.parametrize("who", ["target", "drafter"])
def test_a_cache_that_is_not_empty_is_refused(who: str) -> None:
    target = random_model(9)
    scorer, draft = target.scorer(), target.scorer()
    (scorer if who == "target" else draft).score([1, 2, 3])
    with pytest.raises(ValueError, match="3 tokens"):
        run_rounds(scorer, ModelDrafter(draft), [1], k=2, n=3)


@pytest.mark.parametrize(
    "draft",
    [
        Draft([1, 2, 3, 4]),
        Draft([9]),
        Draft([-1]),
        Draft([1, 2], np.full((2, 8), 1 / 8)),
        Draft([1, 2], np.full((1, 9), 1 / 9)),
    ],
    ids=["too many", "past the vocabulary", "negative", "narrow laws", "too few laws"],
)
def test_a_drafter_that_breaks_its_promise_is_named(draft: Draft) -> None:
    with pytest.raises(ValueError, match="drafter"):
        run_rounds(random_model(9), Says(draft), [1], k=3, n=5)


def test_fewer_tokens_than_asked_are_fine() -> None:
    target = random_model(9, seed=2)
    want = plain_ids(target, [1], 12)
    for draft in (Draft([]), Draft([want[0]]), Draft([], np.zeros((0, 9)))):
        assert ids_of(run_rounds(target, Says(draft), [1], k=3, n=12)) == want


@BOTH
@pytest.mark.parametrize("value", [np.nan, np.inf], ids=str)
def test_logits_that_are_no_numbers_end_the_run_in_words(sampling: Sampling, value: float) -> None:
    def logits(state: int, n: int) -> np.ndarray:
        row = np.zeros(9)
        row[3] = value if n > 5 else 0
        return row

    written = []
    with pytest.raises(ValueError, match="logits"):
        for r in speculate(
            Model(9, logits).scorer(),
            FixedDrafter([0, 0]),
            [1, 2],
            k=2,
            sampling=sampling,
            max_new_tokens=30,
        ):
            written += [token.id for token in r.written]
    assert all(0 <= token < 9 for token in written)
