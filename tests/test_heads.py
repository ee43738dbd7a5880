"""Heads on the target: their laws are those without a cache, and every rule stays lossless."""

from __future__ import annotations

import numpy as np
import pytest

from specdec import decode, rule
from specdec.drafters import Heads
from specdec.law import Sampling
from specdec.models.heads import heads_model
from specdec.trace import Token
from specdec.uniforms import Uniforms
from tests.branching import every_generation
from tests.heads import naive_logits, tiny_heads, tiny_state, tiny_target
from tests.pairs_np import ids_of, run_rounds
from tests.tiny import one_thread

pytestmark = pytest.mark.long

SOFT = Sampling(temperature=1.0)
PROMPT = [1, 0, 2]


@pytest.fixture(autouse=True)
def _one_thread():
    with one_thread():
        yield


def greedy_ids(target, prompt: list[int], n: int) -> list[int]:
    """Plain decoding, every token by a whole new pass."""
    ids = list(prompt)
    for _ in range(n):
        ids.append(int(target.scorer().score(ids)[-1].argmax()))
    return ids[len(prompt) :]


class Watched(Heads):
    """Notes what was asked and what came."""

    def __init__(self, *args) -> None:
        super().__init__(*args)
        self.seen = []

    def propose(self, context, k, sampling, uniforms):
        draft = super().propose(context, k, sampling, uniforms)
        self.seen.append((list(context), draft))
        return draft


@pytest.mark.parametrize("taps", [(), (1, 2)], ids=str)
@pytest.mark.parametrize("k", [1, 2, 4])
def test_every_law_is_the_one_without_a_cache(k: int, taps: tuple[int, ...]) -> None:
    """Over a whole run with rejections: no entry is stale, missing or made of a guess."""
    ids = [7, 1, 3, 4, 9, 0]
    target, state = tiny_target(11), tiny_state(ids, taps)
    model = tiny_heads(target, ids, taps)
    scorer = target.scorer()
    drafter = Watched(scorer, model)
    rounds = run_rounds(scorer, drafter, PROMPT, k=k, n=24, sampling=SOFT, rng=5)
    assert len(drafter.seen) == len(rounds) and any(r.accepted for r in rounds)
    assert any(r.accepted < len(r.drafted) for r in rounds)
    for context, draft in drafter.seen:
        wanted = naive_logits(target, state, context, list(draft.tokens[:-1]))
        for law, logits in zip(draft.laws, wanted, strict=True):
            assert np.allclose(law[sorted(ids)], SOFT.law(logits), atol=1e-5)
            assert law[[2, 5, 6, 8, 10]].sum() == 0
    assert all(r.draft_passes == len(r.drafted) for r in rounds)


def test_lengths_stay_a_true_prefix_of_the_text() -> None:
    target = tiny_target(11)
    scorer = target.scorer()
    drafter = Heads(scorer, tiny_heads(target, [0, 1, 2, 3]))
    for r in decode.speculate(
        scorer, drafter, PROMPT, k=3, sampling=SOFT, max_new_tokens=20, tops=0, rng=2
    ):
        assert r.lengths.drafter[1] == r.start <= r.lengths.target[1]


@pytest.mark.parametrize("k", [1, 3, 6])
@pytest.mark.parametrize("prompt", [[2], [1, 0, 2, 2, 5]], ids=str)
def test_greedy_text_is_plain_decodings(prompt: list[int], k: int) -> None:
    target = tiny_target(11, seed=3)
    scorer = target.scorer()
    drafter = Heads(scorer, tiny_heads(target, [0, 2, 4, 5, 6, 8]))
    rounds = run_rounds(scorer, drafter, prompt, k=k, n=30)
    assert ids_of(rounds) == greedy_ids(target, prompt, 30)


V = 3


def law_of_two(target, model, k: int, which: str, monkeypatch) -> np.ndarray:
    """The law [V, V] of the first two tokens that the loop writes, over all uniforms."""

    def run() -> list[int]:
        scorer = target.scorer()
        loop = decode.speculate(
            scorer,
            Heads(scorer, model),
            PROMPT,
            k=k,
            sampling=SOFT,
            max_new_tokens=2,
            rule=which,
            tops=0,
        )
        return [token.id for r in loop for token in r.written]

    bare = lambda what, **_: ((), tuple(Token(x, "") for x in what.new[: what.kept]))  # noqa: E731
    monkeypatch.setattr(decode, "record", bare)
    law = np.zeros((V, V))
    for chance, (first, second) in every_generation(run, monkeypatch):
        law[first, second] += chance
    return law


@pytest.mark.parametrize(("k", "ids"), [(1, [0, 1, 2]), (2, [0, 2])], ids=str)
@pytest.mark.parametrize("which", rule.RULES)
def test_two_tokens_have_exactly_the_targets_law(which, k, ids, monkeypatch) -> None:
    target = tiny_target(V, seed=7)
    law = law_of_two(target, tiny_heads(target, ids), k, which, monkeypatch)
    first = SOFT.law(target.scorer().score(PROMPT)[-1])
    wanted = [p * SOFT.law(target.scorer().score([*PROMPT, x])[-1]) for x, p in enumerate(first)]
    assert np.abs(law - np.array(wanted)).max() < 1e-5


def test_a_pass_that_nobody_followed_costs_quality_not_truth() -> None:
    """Its entries are missing, those after it stand at their true positions."""
    target, ids = tiny_target(11), [0, 1, 2, 3]
    scorer = target.scorer()
    heads = Heads(scorer, tiny_heads(target, ids))
    scorer.score([1, 0])
    heads.follow([1, 0])
    scorer.score([2, 3])  # nobody looks
    scorer.score([4, 5])
    draft = heads.propose([1, 0, 2, 3, 4, 5, 6], 2, SOFT, Uniforms(0))
    assert len(draft.tokens) == 2 and heads.cache.positions == [0, 4, 5] and heads.length == 7
    heads.rollback(6)
    assert heads.cache.positions == [0, 4] and heads.length == 6
    heads.rollback(1)
    assert heads.length == 0


def test_without_new_features_there_is_no_draft() -> None:
    target = tiny_target(11)
    scorer = target.scorer()
    heads = Heads(scorer, tiny_heads(target, [0, 1]))
    assert list(heads.propose([1], 3, SOFT, Uniforms(0)).tokens) == []
    scorer.score([1, 2])
    assert list(heads.propose([1, 2, 3, 4], 3, SOFT, Uniforms(0)).tokens) == []
    assert len(heads.propose([1, 2, 3], 3, SOFT, Uniforms(0)).tokens) == 0, "seen already"


def test_a_cache_that_grows_keeps_its_entries(monkeypatch) -> None:
    monkeypatch.setattr("specdec.models.heads_cache.FIRST", 2)
    target, ids = tiny_target(11), [0, 1, 2, 3, 4]
    scorer, state = target.scorer(), tiny_state(ids)
    drafter = Watched(scorer, tiny_heads(target, ids))
    run_rounds(scorer, drafter, PROMPT, k=3, n=20, sampling=SOFT, rng=1)
    context, draft = drafter.seen[-1]
    wanted = naive_logits(target, state, context, list(draft.tokens[:-1]))
    assert np.allclose(draft.laws[:, ids], [SOFT.law(row) for row in wanted], atol=1e-5)


def test_missing_heads_are_named() -> None:
    with pytest.raises(ValueError, match="no heads in .*nothing.safetensors"):
        heads_model(tiny_target(5), "nothing.safetensors")


@pytest.mark.parametrize("confidence", [0.0, 0.3, 1.0])
def test_a_draft_ends_with_the_first_token_that_is_unsure(confidence: float) -> None:
    target, ids = tiny_target(11), [0, 1, 2, 3, 4]
    scorer, state = target.scorer(), tiny_state(ids)
    scorer.score([1, 0, 2])
    draft = Heads(scorer, tiny_heads(target, ids), confidence).propose(
        [1, 0, 2, 5], 6, SOFT, Uniforms(3)
    )
    tokens = list(draft.tokens)
    rows = naive_logits(target, state, [1, 0, 2, 5], tokens[:-1])
    unsure = [SOFT.law(row).max() < confidence for row in rows]
    assert not any(unsure[:-1]) and (unsure[-1] or len(tokens) == 6)
