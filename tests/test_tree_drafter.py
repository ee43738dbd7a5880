"""What a tree drafter proposes: its shapes, its laws, and where they come from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from specdec import tree
from specdec.constraint import Constraint
from specdec.drafters import Draft, ModelDrafter, Tree
from specdec.law import Sampling
from specdec.uniforms import Uniforms
from tests.pairs_np import GREEDY, SOFT, random_model


def grown(k: int, *options, sampling: Sampling = SOFT, seed: int = 0) -> Draft:
    drafter = Tree(ModelDrafter(random_model(9, 3).scorer()), *options)
    draft = drafter.propose([1, 2], k, sampling, Uniforms(seed))
    assert drafter.length == 2, "the tree's own entries are dropped"
    return draft


def law(ids: Sequence[int], sampling: Sampling = SOFT) -> np.ndarray:
    return sampling.law(random_model(9, 3).after([1, 2, *ids]))


@pytest.mark.parametrize("shape", ["spine", "full"])
@pytest.mark.parametrize("k", [1, 3, 6, 7])
def test_chosen_guesses_are_the_likeliest(shape: str, k: int) -> None:
    for sampling in (SOFT, GREEDY, Sampling(0.7, top_k=1)):  # also where the law has one token
        draft = grown(k, 2, shape, sampling=sampling)
        assert draft.laws is None
        assert draft.parents == {"spine": tree.spine, "full": tree.full}[shape](2, k)
        for parent, nodes in tree.children(draft.parents).items():
            p = law([draft.tokens[i] for i in tree.path(draft.parents, parent)])
            assert [draft.tokens[i] for i in nodes] == np.argsort(-p)[: len(nodes)].tolist()
        assert draft.passes == len(set(tree.depths(draft.parents)))


@pytest.mark.parametrize("width", [1, 2, 3])
@pytest.mark.parametrize("k", [1, 4, 7])
def test_a_confident_tree_has_the_k_best_of_what_grew(width: int, k: int) -> None:
    """By definition: per level the `width` best are grown, of all guesses the k best are kept."""
    found, level = {(): 1.0}, [()]
    for _ in range(1 + (k - 1) // width):
        new = {}
        for path in level:
            p = law(path)
            for x in np.argsort(-p)[:width]:
                new[(*path, int(x))] = found[path] * p[x]
        found |= new
        level = sorted(new, key=new.get, reverse=True)[:width]
    del found[()]
    wanted = set(sorted(found, key=found.get, reverse=True)[:k])
    draft = grown(k, width)
    tree.check(draft.parents, len(draft.tokens))
    paths = [tree.path(draft.parents, i) for i in range(len(draft.tokens))]
    assert {tuple(draft.tokens[i] for i in path) for path in paths} == wanted
    assert draft.passes == 1 + (k - 1) // width
    assert draft.tokens == grown(k, width, sampling=GREEDY).tokens  # whatever the temperature


@pytest.mark.parametrize("shape", ["spine", "full"])
def test_drawn_guesses_have_the_laws_that_they_were_drawn_from(shape: str) -> None:
    for seed in range(10):
        draft = grown(6, 3, shape, True, seed=seed)
        assert len(draft.tokens) == 6
        for parent, nodes in tree.children(draft.parents).items():
            q = law([draft.tokens[i] for i in tree.path(draft.parents, parent)])
            for i in nodes:
                assert draft.laws[i] == pytest.approx(q)
                assert q[draft.tokens[i]] > 0
                q = np.where(np.arange(9) == draft.tokens[i], 0, q)
                q /= q.sum()


def test_a_law_with_too_few_tokens_leaves_places_empty() -> None:
    draft = grown(7, 3, "full", True, sampling=Sampling(1.0, top_k=2))
    assert {len(nodes) for nodes in tree.children(draft.parents).values()} <= {1, 2}
    assert len(tree.children(draft.parents)[-1]) == 2
    greedy = grown(7, 3, "full", True, sampling=GREEDY)
    assert greedy.parents == tree.chain(len(greedy.tokens)) and (greedy.laws.max(1) == 1).all()


def test_a_grammar_prunes_every_branch() -> None:
    odd = Constraint("odd, then even", lambda written: {1, 3} if len(written) % 2 else {4})
    for options in ((3,), (3, "full"), (3, "full", True)):
        draft = grown(9, *options, sampling=replace(SOFT, constraint=odd, prompt_length=2))
        depths = tree.depths(draft.parents)
        assert {x for x, d in zip(draft.tokens, depths) if d == 1} == {4}
        assert {x for x, d in zip(draft.tokens, depths) if d == 2} == {1, 3}
    never = Constraint("nothing", lambda written: set())
    assert grown(4, sampling=replace(SOFT, constraint=never, prompt_length=2)).tokens == []


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ((0,), "width is 0"),
        ((2, "star"), "shape is star; it must be one of confident, spine, full"),
        ((2, "confident", True), "'confident' is not"),
    ],
    ids=str,
)
def test_trees_that_cannot_be_grown_are_named(options: tuple, named: str) -> None:
    with pytest.raises(ValueError, match=named):
        grown(3, *options)
