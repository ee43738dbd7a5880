"""Trees of guesses: their arrays, and what the loop takes and refuses of them."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from specdec import tree
from specdec.constraint import Constraint, NothingAllowed
from specdec.drafters import FixedDrafter
from specdec.law import Sampling
from tests.apps import stage_traces as traces
from tests.pairs_np import SOFT, ids_of, run_rounds
from tests.twigs import PARENTS, TARGET, TOKENS, Twigs, verdicts

forests = st.integers(0, 9).flatmap(
    lambda n: st.tuples(*(st.integers(-1, i - 1) for i in range(n)))
)


@given(forests)
def test_depths_positions_paths_and_mask_say_the_same(parents: tuple[int, ...]) -> None:
    sees, depths = tree.mask(parents), tree.depths(parents)
    for i in range(len(parents)):
        path = tree.path(parents, i)
        assert path[-1] == i and parents[path[0]] == -1
        assert all(parents[b] == a for a, b in pairwise(path))
        assert np.flatnonzero(sees[i]).tolist() == path  # a node comes after its ancestors
        assert depths[i] == len(path) == tree.positions(parents, 7)[i] - 6
        assert tree.below(parents, i) == [j for j in range(len(parents)) if sees[j, i] and j != i]
    assert len(set(tree.places(parents))) == len(parents)
    assert tree.path(parents, -1) == []


def test_positions_follow_depth_not_index() -> None:
    """A root with children A and B, and A → C, at context n: n, n + 1, n + 1, n + 2."""
    assert tree.positions([-1, 0, 0, 1], 11) == [11, 12, 12, 13]


@given(st.integers(1, 4), st.integers(0, 12))
def test_shapes_have_their_size_and_width(width: int, n: int) -> None:
    for shape in (tree.spine(width, n), tree.full(width, n)):
        tree.check(shape, n)
        after = tree.children(shape)
        assert all(len(nodes) <= width for nodes in after.values())
        assert tree.depths(shape) == sorted(tree.depths(shape))
    assert tree.spine(1, n) == tree.full(1, n) == tree.chain(n)


@pytest.mark.parametrize("parents", [[0], [-1, 1], [-2], [-1]], ids=str)
def test_parents_that_are_none_are_refused(parents: list[int]) -> None:
    with pytest.raises(ValueError, match="parents"):
        tree.check(parents, 2 if parents == [-1] else len(parents))


@given(forests)
def test_a_drawn_tree_has_a_row_for_every_leaf_and_parents_amid_their_children(parents) -> None:
    rows, after = tree.rows(parents), tree.children(parents)
    leaves = [rows[i] for i in range(len(parents)) if i not in after]
    assert sorted(leaves) == list(range(len(leaves)))
    for parent, nodes in after.items():
        if parent >= 0:
            assert rows[parent] == (rows[nodes[0]] + rows[nodes[-1]]) / 2
    for level in set(tree.depths(parents)):
        there = [row for row, depth in zip(rows, tree.depths(parents)) if depth == level]
        assert len(set(there)) == len(there)  # no two nodes in one place


# ---- what the loop makes of them -------------------------------------------------------------


def test_a_tree_ends_where_nothing_may_follow() -> None:
    """2 0 and 1 are texts of the grammar: after them nothing may stand, whoever proposed it."""
    texts = {(): {1, 2}, (2,): {0}, (2, 0): set(), (1,): set()}
    grammar = Constraint("2 0 or 1", lambda written: texts.get(tuple(written), set()))
    for seed in range(8):
        options = {"sampling": Sampling(1.0, constraint=grammar), "rng": seed}
        drafter = Twigs([2, 1, 0, 3, 4], [-1, -1, 0, 1, 2])
        rounds = run_rounds(TARGET, drafter, [0], k=5, n=9, stop_ids=(0, 1), **options)
        assert ids_of(rounds) in ([2, 0], [1])
        if rounds[0].drafted[1].verdict == "accepted":
            assert verdicts(rounds[0])[3] == "d"  # 3 stands behind the end of the text
        with pytest.raises(NothingAllowed):
            run_rounds(TARGET, drafter, [0], k=5, n=9, **options)


@pytest.mark.parametrize("rule", ["match", "block"])
def test_a_tree_is_judged_by_pq_alone(rule: str) -> None:
    scorer = TARGET.scorer()
    with pytest.raises(ValueError, match=f"rule is {rule!r}, but a tree"):
        run_rounds(scorer, Twigs(TOKENS, PARENTS), [0, 1], k=6, n=5, rule=rule)
    assert scorer.fed == []


def test_a_target_that_knows_chains_only_is_named() -> None:
    with pytest.raises(ValueError, match="Bigram scores chains only"):
        run_rounds(traces.Bigram(np.zeros((5, 5))), Twigs(TOKENS, PARENTS), [0, 1], k=6, n=5)


def test_a_drafter_that_hides_its_trees_is_named() -> None:
    class Hiding(Twigs):
        branches = False

    with pytest.raises(ValueError, match="Hiding gave a tree, but does not say"):
        run_rounds(TARGET, Hiding(TOKENS, PARENTS), [0, 1], k=6, n=5)
    with pytest.raises(ValueError, match="parents"):
        run_rounds(TARGET, Twigs([1, 2], [-1, 1]), [0, 1], k=6, n=5)


def test_a_chain_of_a_drafter_that_may_branch_has_a_chains_numbers() -> None:
    class Chains(FixedDrafter):
        branches = True

    runs = [
        run_rounds(TARGET, drafter, [0, 1], k=3, n=20, sampling=SOFT, rng=4)
        for drafter in (Chains([2, 1, 0]), FixedDrafter([2, 1, 0]))
    ]
    one, other = ([(r.drafted, r.written) for r in rounds] for rounds in runs)
    assert one == other
