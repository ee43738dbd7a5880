"""Trees and early exits on a real Llama: masks, positions, kept keys, shared caches."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from specdec import tree, tree_rounds
from specdec.decode import speculate
from specdec.drafters import Combined, EarlyExit, Heads, ModelDrafter, PromptLookup, Tree
from specdec.models.heads import HeadsModel
from specdec.uniforms import Uniforms
from tests.heads import naive_logits, tiny_heads, tiny_state, tiny_target
from tests.pairs_np import GREEDY, SOFT, ids_of, run_rounds, trace_of
from tests.test_heads import greedy_ids
from tests.tiny import one_thread

pytestmark = pytest.mark.long

PROMPT, V = [1, 0, 2, 2], 11
HEAD_IDS = [0, 2, 4, 5, 6, 8, 9]


@pytest.fixture(autouse=True)
def _one_thread():
    with one_thread():
        yield


@pytest.fixture(scope="module")
def target():
    with one_thread():
        return tiny_target(V, seed=3)


@pytest.fixture(scope="module")
def plain(target) -> list[int]:
    with one_thread():
        return greedy_ids(target, PROMPT, 14)


def small(target) -> ModelDrafter:
    """The target's first two layers as a model of their own."""
    return ModelDrafter(target.first(2).scorer())


MAKERS: dict[str, Callable] = {
    "confident": lambda target, scorer: Tree(small(target)),
    "spine": lambda target, scorer: Tree(small(target), 3, "spine"),
    "full": lambda target, scorer: Tree(small(target), 2, "full"),
    "drawn": lambda target, scorer: Tree(small(target), 2, "full", sampled=True),
    "heads": lambda target, scorer: Tree(Heads(scorer, tiny_heads(target, HEAD_IDS)), 3),
    "early exit": lambda target, scorer: EarlyExit(scorer, 2),
    "copy or heads": lambda target, scorer: Combined(
        PromptLookup(), Heads(scorer, tiny_heads(target, HEAD_IDS))
    ),
    "copy or model": lambda target, scorer: Combined(PromptLookup(), small(target)),
}
EVERY = pytest.mark.parametrize("name", MAKERS)


@EVERY
@pytest.mark.parametrize("k", [1, 2, 3, 4, 5])
def test_greedy_text_is_plain_decodings(name: str, k: int, target, plain: list[int]) -> None:
    for rows in (None, 8)[: 1 + (k == 5)]:
        scorer = target.scorer(rows=rows, capacity=len(PROMPT) + 14 + 8)
        rounds = run_rounds(scorer, MAKERS[name](target, scorer), PROMPT, k=k, n=14)
        assert ids_of(rounds) == plain
        assert scorer.length == len(PROMPT) + 14 - 1


@EVERY
def test_after_every_round_the_cache_is_that_of_the_text(name: str, target) -> None:
    """What follows the text by the run's own cache: as by a fresh one, at any round."""
    scorer = target.scorer()
    ids, branched = list(PROMPT), 0
    loop = speculate(
        scorer,
        MAKERS[name](target, scorer),
        PROMPT,
        k=6,
        sampling=SOFT,
        max_new_tokens=24,
        rng=7,
        tops=0,
    )
    for r in loop:
        ids += [token.id for token in r.written]
        branched += r.accepted > 0 and r.drafted[0].verdict == "rejected"
        fresh = target.scorer()
        want = fresh.score(ids)[-1]
        got = scorer.score(ids[-1:])[-1]
        scorer.rollback(len(ids) - 1)
        assert np.allclose(got, want, atol=2e-5)
    if name in ("confident", "spine", "full", "drawn"):  # the heads are random
        assert branched, "no younger sibling was ever kept"


def test_the_features_of_a_kept_path_are_those_of_the_chain(target) -> None:
    scorer, chain = target.scorer(), target.scorer()
    scorer.feed(PROMPT)
    scorer.score([3, 4, 5, 6, 7], [-1, 0, 0, 2, -1])
    scorer.keep([0, 2, 3])
    chain.feed(PROMPT)
    chain.score([3, 5, 6])
    assert scorer.features_from == chain.features_from == len(PROMPT)
    assert np.allclose(scorer.features, chain.features, atol=1e-5)
    scorer.keep([0])  # of what was kept
    assert np.allclose(scorer.features, chain.features[:1], atol=1e-5)


def test_heads_draft_every_node_as_the_end_of_its_own_path() -> None:
    """Over a whole run, so that features come from kept paths of earlier trees too."""
    target, state = tiny_target(V, seed=3), tiny_state(HEAD_IDS, (1, 2))
    scorer, seen = target.scorer(), []

    class Watched(Heads):
        def first(self, context):
            seen.append((list(context), [], super().first(context)))
            return seen[-1][2]

        def level(self, tokens, parents, new):
            rows = super().level(tokens, parents, new)
            for i, row in enumerate(rows, start=len(tokens) - new):
                path = [tokens[j] for j in tree.path(parents, i)]
                seen.append((seen[-1][0], path, row))
            return rows

    drafter = Tree(Watched(scorer, HeadsModel(target, state)), 3)
    rounds = run_rounds(scorer, drafter, PROMPT, k=8, n=12, sampling=SOFT, rng=1)
    assert any(tree_rounds.path(r) not in ([], tree.chain(9)[1 : r.accepted + 1]) for r in rounds)
    assert max(len(path) for _, path, _ in seen) == 2
    for context, path, row in seen:
        want = naive_logits(target, state, context, path)[-1]
        assert np.allclose(row, want, atol=1e-4)


# ---- early exit ------------------------------------------------------------------------------


def test_an_exit_after_all_layers_is_always_accepted(target) -> None:
    for sampling in (GREEDY, SOFT):
        scorer = target.scorer()
        rounds = run_rounds(scorer, EarlyExit(scorer, 3), PROMPT, k=4, n=20, sampling=sampling)
        assert trace_of(rounds).alpha == 1 and len(rounds) == 4
        assert all(r.lengths.drafter is None and r.draft_passes == 4 for r in rounds)


@pytest.mark.parametrize("first", [2, 256])
@pytest.mark.parametrize("rows", [None, 8])
def test_every_early_law_is_the_one_without_a_cache(
    rows: int | None, first: int, target, monkeypatch
) -> None:
    """Also where the cache grows in the middle of a draft."""
    monkeypatch.setattr("specdec.models.scorer.FIRST", first)
    seen = []

    class Watched(EarlyExit):
        def propose(self, context, k, sampling, uniforms):
            draft = super().propose(context, k, sampling, uniforms)
            seen.append((list(context), draft))
            return draft

    scorer = target.scorer(rows=rows, capacity=rows and 60)
    rounds = run_rounds(scorer, Watched(scorer, 2), PROMPT, k=4, n=20, sampling=SOFT, rng=3)
    assert any(0 < r.accepted < 4 for r in rounds)
    for context, draft in seen:
        ids = list(context)
        for law, x in zip(draft.laws, draft.tokens):
            want = SOFT.law(target.first(2).scorer().score(ids)[-1])
            assert np.allclose(law, want, atol=1e-5)
            ids.append(x)


def test_early_guesses_of_several_tokens_see_each_other(target) -> None:
    one, other = target.scorer(), target.scorer()
    for scorer in (one, other):
        scorer.feed(PROMPT)
    steps = [one.early([x], 2, i)[0] for i, x in enumerate([3, 4, 5])]
    assert np.allclose(other.early([3, 4, 5], 2), steps, atol=1e-5)
    assert one.length == other.length == len(PROMPT)
    assert np.allclose(one.score([6, 7]), other.score([6, 7]), atol=1e-6)


def test_an_exit_costs_no_weights(target) -> None:
    early = target.first(1)
    assert early.layers[0] is target.layers[0] and early.head is target.head
    assert len(target.layers) == 3 and len(early.layers) == 1


def test_a_confident_exit_stops_after_a_doubtful_token(target) -> None:
    scorer = target.scorer()
    scorer.feed(PROMPT)
    whole = EarlyExit(scorer, 2).propose([*PROMPT, 3], 5, SOFT, Uniforms(2))
    bound = float(whole.laws[1].max()) + 1e-6
    short = EarlyExit(scorer, 2, bound).propose([*PROMPT, 3], 5, SOFT, Uniforms(2))
    n = next(i for i, law in enumerate(whole.laws) if law.max() < bound) + 1
    assert list(short.tokens) == list(whole.tokens[:n])


@pytest.mark.parametrize(("n", "words"), [(0, "n is 0.*1 to 3"), (4, "n is 4"), (1.5, "n is 1.5")])
def test_layers_that_are_not_there_are_named(n: float, words: str, target) -> None:
    with pytest.raises(ValueError, match=words):
        EarlyExit(target.scorer(), n)


def test_a_target_that_cannot_be_left_early_is_named() -> None:
    with pytest.raises(ValueError, match="object cannot be left early"):
        EarlyExit(object(), 1)
