"""What each drafter proposes, whatever the rule makes of it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from specdec.drafters import Draft, FixedDrafter, ModelDrafter, PromptLookup
from specdec.law import Sampling, draw
from specdec.uniforms import DRAFT, Uniforms
from tests.pairs_np import Model, drafting, ids_of, plain_ids, random_model, run_rounds

SOFT = Sampling(temperature=1.0)


def proposed(
    drafter, context: list[int], k: int, sampling: Sampling = SOFT, seed: int = 0
) -> Draft:
    return drafter.propose(context, k, sampling, Uniforms(seed))


def copied(context: list[int], k: int, n: int = 3) -> list[int]:
    return list(proposed(PromptLookup(n), context, k).tokens)


# ---- prompt lookup ---------------------------------------------------------------------------


def test_a_constant_run_is_copied_k_at_a_time() -> None:
    assert copied([7] * 20, 5) == [7] * 5
    assert copied([7, 7], 5) == [7] * 5  # the copy runs on into itself


def test_the_longest_match_is_taken() -> None:
    assert copied([1, 2, 3, 9, 9, 1, 2, 3], 5) == [9, 9, 1, 2, 3]
    assert copied([3, 8, 1, 2, 3, 9, 0, 2, 3], 2) == [9, 0]  # "2 3", not the earlier "3"


def test_the_first_match_is_taken_not_the_latest() -> None:
    assert copied([1, 2, 5, 1, 2, 6, 1, 2], 2) == [5, 1]


def test_the_longest_allowed_match_is_respected() -> None:
    context = [3, 8, 2, 3, 7, 1, 2, 3, 9, 1, 2, 3]
    assert [copied(context, 1, n)[0] for n in (1, 2, 3)] == [8, 7, 9]


@pytest.mark.parametrize("context", [[1], [1, 2, 3, 4], [1, 1, 2]], ids=str)
def test_no_match_is_an_empty_draft(context: list[int]) -> None:
    assert copied(context, 4) == []


def test_the_end_of_the_context_does_not_match_itself() -> None:
    assert copied([5, 1, 2, 3], 3) == []
    assert copied([1, 2, 1, 2], 4) == [1, 2, 1, 2]


def longest_first(ids: list[int], k: int, most: int) -> list[int]:
    """The definition, one comparison at a time."""
    for n in range(most, 0, -1):
        for start in range(len(ids) - n):
            if n < len(ids) and ids[start : start + n] == ids[-n:]:
                grown = list(ids)
                for i in range(k):
                    grown.append(grown[start + n + i])
                return grown[len(ids) :]
    return []


@settings(max_examples=200)
@given(st.lists(st.integers(0, 3), min_size=1, max_size=14), st.integers(0, 7), st.integers(1, 5))
def test_lookup_is_its_definition(ids: list[int], k: int, n: int) -> None:
    draft = proposed(PromptLookup(n), ids, k)
    assert list(draft.tokens) == longest_first(ids, k, n)
    assert draft.laws is None
    assert draft.passes == 0


def test_the_context_is_left_as_it_was() -> None:
    context = [1, 2, 1, 2]
    copied(context, 4)
    assert context == [1, 2, 1, 2]
    assert copied(np.array(context), 2) == [1, 2]


def test_a_longest_match_of_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="max_ngram is 0"):
        PromptLookup(0)


# ---- fixed -----------------------------------------------------------------------------------


def test_a_fixed_drafter_says_the_first_k() -> None:
    drafter = FixedDrafter([4, 5, 6])
    assert [list(proposed(drafter, [1], k).tokens) for k in (1, 3, 9)] == [
        [4],
        [4, 5, 6],
        [4, 5, 6],
    ]
    assert proposed(drafter, [1], 2).laws is None


# ---- a small model ---------------------------------------------------------------------------


def test_each_token_is_drawn_from_the_law_it_is_tested_with() -> None:
    """The law after top-k, not the raw one: the array that is returned is the array drawn from."""
    model = random_model(9, seed=3)
    sampling = Sampling(0.8, top_k=4, top_p=0.9)
    for seed in range(20):
        draft = proposed(ModelDrafter(model.scorer()), [1, 2], 5, sampling, seed)
        ids = [1, 2]
        for law, token in zip(draft.laws, draft.tokens):
            assert law.tolist() == sampling.law(model.after(ids)).tolist()
            assert token == draw(law, Uniforms(seed)(len(ids), DRAFT))
            ids.append(token)
        assert draft.passes == 5


def test_at_temperature_zero_there_is_a_draft_with_one_hot_laws() -> None:
    for temperature in (0, 1e-8, 1e-6):
        draft = proposed(ModelDrafter(random_model().scorer()), [1], 4, Sampling(temperature))
        assert draft.tokens == plain_ids(random_model(), [1], 4)
        assert draft.laws.tolist() == np.eye(7)[draft.tokens].tolist()


def test_only_what_the_cache_lacks_is_fed() -> None:
    scorer = random_model().scorer()
    drafter = ModelDrafter(scorer)
    drafter.prefill([1, 2, 3])
    first = proposed(drafter, [1, 2, 3, 4], 3).tokens
    assert scorer.fed == [3, 1, 1, 1]
    assert scorer.cached == [1, 2, 3, 4, *first[:2]]
    drafter.rollback(5)  # the first was accepted, then came 0 instead
    proposed(drafter, [1, 2, 3, 4, first[0], 0], 2)
    assert scorer.fed[4:] == [1, 1]
    proposed(drafter, scorer.cached + [6, 5, 4], 1)  # three tokens behind: one pass over three
    assert scorer.fed[6:] == [3]


def reduced(model: Model, token_ids: list[int]) -> Model:
    """The same model with logits for these ids only."""
    return Model(model.vocab_size, model.logits, name="reduced", token_ids=token_ids)


def test_a_reduced_vocabulary_never_proposes_the_rest() -> None:
    some = [1, 3, 4, 6]
    model = reduced(random_model(9), some)
    for seed in range(10):
        draft = proposed(ModelDrafter(model.scorer(), 9), [0], 6, SOFT, seed)
        assert draft.laws.shape == (6, 9)
        assert np.allclose(draft.laws.sum(axis=1), 1)
        assert set(draft.tokens) <= set(some)
        assert not draft.laws[:, [0, 2, 5, 7, 8]].any()


def test_a_reduced_vocabulary_stays_lossless() -> None:
    """Greedy output is the target's, ids included that the drafter has no column for."""
    target = random_model(9)
    want = plain_ids(target, [0], 60)
    draft = reduced(drafting(target, error=0.5), [0, 2, 3, 5, 7, 8])
    rounds = run_rounds(target, draft, [0], k=4, n=60)
    assert ids_of(rounds) == want
    assert {1, 4, 6} & set(want)
    assert sum(r.accepted for r in rounds) > 10


@pytest.mark.parametrize(("drafter_size", "target_size"), [(128, 96), (96, 128)])
@pytest.mark.parametrize("told", [True, False], ids=["told", "not told"])
def test_two_vocabularies_that_differ_are_named_before_any_forward(
    drafter_size: int, target_size: int, told: bool
) -> None:
    target, draft = random_model(target_size), random_model(drafter_size)
    scorers = target.scorer(), draft.scorer()
    with pytest.raises(
        ValueError, match=f"{drafter_size}.*{target_size}|{target_size}.*{drafter_size}"
    ):
        drafter = ModelDrafter(scorers[1], target_size) if told else ModelDrafter(scorers[1])
        run_rounds(scorers[0], drafter, [0, 1, 2], k=3, n=5)
    assert [s.fed for s in scorers] == [[], []]


def test_a_reduced_vocabulary_of_a_larger_one_is_named_before_any_forward() -> None:
    draft = reduced(random_model(20), [1, 5, 12]).scorer()
    with pytest.raises(ValueError, match="12"):
        run_rounds(random_model(9), ModelDrafter(draft, 9), [0], k=2, n=4)
    assert draft.fed == []


@pytest.mark.parametrize("context", [3, 6, 9, 12])
def test_a_drafter_with_a_shorter_context_falls_silent(context: int) -> None:
    """The text goes on without it, one token a pass, and stays the target's."""
    target = random_model(9, seed=8)
    small = Model(9, target.logits, context=context)
    rounds = run_rounds(target, small, [0, 1, 2, 3], k=4, n=20)
    assert ids_of(rounds) == plain_ids(target, [0, 1, 2, 3], 20)
    assert all(scorer.length <= context for scorer in small.scorers)
    assert all(max(r.lengths.drafter) <= context for r in rounds)
    if context >= 6:
        assert rounds[0].accepted > 0
    assert rounds[-1].drafted == ()
