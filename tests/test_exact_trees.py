"""Trees of guesses: the text has exactly the target's law, whatever the shape and its q.

Through `tree_rule.outcomes` in fractions, and through the loop itself over all uniforms.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from fractions import Fraction as F
from functools import cache
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from specdec import decode, rule, tree, tree_rule
from specdec.drafters import Combined, Draft, ModelDrafter, PromptLookup, Tree
from specdec.law import Sampling
from tests.branching import every_generation, every_way
from tests.pairs_np import LawScorer
from tests.test_exact import Laws, seeded, wanted
from tests.test_exact_rules import ids_alone

pytestmark = pytest.mark.long

SIZE = 3
TOY_P = [F(5, 10), F(3, 10), F(2, 10)]
TOY_Q = [F(2, 10), F(3, 10), F(5, 10)]

# ---- through tree_rule.outcomes --------------------------------------------------------------

SHAPES = [
    [-1],
    [-1, -1],
    [-1, 0],
    [-1, -1, -1],
    [-1, -1, 0],
    [-1, -1, 1],
    [-1, -1, 0, 0],
    [-1, 0, -1],
]


def rest(q: list[F], taken: list[int]) -> list[F] | None:
    """q without what was drawn before; None if nothing is left."""
    left = [F(0) if x in taken else mass for x, mass in enumerate(q)]
    return [mass / sum(left) for mass in left] if sum(left) else None


def drawn(q: Laws, parents: list[int], before: tuple[int, ...]) -> Iterator[tuple]:
    """(chance, tokens, laws) of all trees of this shape, siblings drawn without replacement.

    Where a law has too few tokens the tree of this enumeration is not counted at all: the laws here
    have no zeros, and at most three siblings.
    """
    found = [(F(1), [], [])]
    for i, parent in enumerate(parents):
        grown = []
        for chance, tokens, laws in found:
            history = (*before, *(tokens[j] for j in tree.path(parents, parent)))
            taken = [tokens[j] for j in range(i) if parents[j] == parent]
            law = rest(q(history), taken)
            grown += [
                (chance * mass, [*tokens, x], [*laws, law]) for x, mass in enumerate(law) if mass
            ]
        found = grown
    yield from found


def chosen(tokens: list[int]) -> Callable:
    """The same tree whatever the text: drawn from nothing."""
    return lambda parents, before: [(F(1), tokens, None)]


def written(p: Laws, draft: Callable, parents: list[int], n: int) -> Counter:
    """The law of the first n tokens, over as many rounds as it takes."""
    done, open_ = Counter(), [((), F(1))]
    while open_:
        prefix, reached = open_.pop()
        if len(prefix) >= n:
            done[prefix[:n]] += reached
            continue
        for chance, tokens, laws in draft(parents, prefix):
            after = [
                np.array(p((*prefix, *(tokens[i] for i in tree.path(parents, node)))), object)
                for node in range(-1, len(tokens))
            ]
            q_rows = None if laws is None else [np.array(law, object) for law in laws]
            for share, path, law in tree_rule.outcomes(after, q_rows, tokens, parents):
                for x, mass in enumerate(law):
                    if mass:
                        longer = (*prefix, *(tokens[i] for i in path), x)
                        open_.append((longer, reached * chance * share * mass))
    return done


@pytest.mark.parametrize("parents", SHAPES, ids=str)
def test_two_tokens_of_a_drawn_tree_are_the_targets(parents: list[int]) -> None:
    p, q = seeded(3, SIZE), seeded(4, SIZE, zeros=False)
    assert written(p, lambda *at: drawn(q, *at), parents, 2) == wanted(p, SIZE, 2)


@settings(max_examples=30)
@given(
    seed=st.integers(0, 10**6),
    parents=st.sampled_from(SHAPES),
    tokens=st.lists(st.integers(0, SIZE - 1), min_size=4, max_size=4),
)
def test_two_tokens_of_a_chosen_tree_are_the_targets(
    seed: int, parents: list[int], tokens: list[int]
) -> None:
    """Also where a guess stands twice: the second time its chance is 0."""
    p = seeded(seed, SIZE)
    assert written(p, chosen(tokens[: len(parents)]), parents, 2) == wanted(p, SIZE, 2)


@pytest.mark.parametrize("which", ["drawn", "chosen"])
@pytest.mark.parametrize("n", [1, 2, 3])
def test_a_chain_is_a_tree(n: int, which: str) -> None:
    rng = Random(n)
    laws = [np.array(seeded(rng.randrange(99), SIZE)(()), object) for _ in range(2 * n + 1)]
    p_rows, q_rows = laws[: n + 1], laws[n + 1 :] if which == "drawn" else None
    draft = [rng.randrange(SIZE) for _ in range(n)]
    as_tree = tree_rule.outcomes(p_rows, q_rows, draft, tree.chain(n))
    as_chain = rule.outcomes(p_rows, q_rows, draft)
    assert all(path == list(range(len(path))) for _, path, _ in as_tree)
    assert {len(path): (c, law.tolist()) for c, path, law in as_tree} == {
        accepted: (c, law.tolist()) for c, accepted, law in as_chain if c
    }


def by_toy(tokens: list[int], q_rows: list | None) -> list[F]:
    """What Toy A's target writes with these siblings."""
    p = np.array(TOY_P, object)
    law = np.zeros(SIZE, object)
    for chance, path, left in tree_rule.outcomes([p] * 4, q_rows, tokens, [-1] * len(tokens)):
        law += chance * (np.eye(SIZE, dtype=int)[tokens[path[0]]] if path else left)
    return law.tolist()


def test_a_fixed_list_of_candidates_is_judged_by_p_alone() -> None:
    """q = 1 is right for top-k trees: EAGLE #329 and three more held it to be a bug."""
    assert by_toy([2, 1], None) == TOY_P


def test_the_forbidden_mix_bends_the_law() -> None:
    """Chosen by q's maximum, judged as if drawn from q: [.6, 0, .4] instead of [.5, .3, .2]."""
    q = np.array(TOY_Q, object)
    assert by_toy([2], [q]) == [F(6, 10), 0, F(4, 10)]
    second = np.array(rest(TOY_Q, [2]), object)
    assert by_toy([2, 1], [q, second]) != TOY_P  # nor does a second guess mend it
    assert by_toy([2], None) == TOY_P


def test_siblings_drawn_without_replacement_need_q_without_the_first() -> None:
    """Judged by the whole q again, the second sibling bends the law."""
    p, q = np.array([F(6, 10), F(3, 10), F(1, 10)]), [F(1, 10), F(2, 10), F(7, 10)]
    right, wrong = [F(0)] * SIZE, [F(0)] * SIZE
    for x, mass in enumerate(q):
        for y, then in enumerate(rest(q, [x])):
            for law, second in ((right, rest(q, [x])), (wrong, q)):
                rows = [np.array(q, object), np.array(second, object)]
                for chance, path, left in tree_rule.outcomes([p] * 3, rows, [x, y], [-1, -1]):
                    kept = np.eye(SIZE, dtype=int)[[x, y][path[0]]] if path else left
                    for z in range(SIZE):
                        law[z] += mass * then * chance * kept[z]
    assert right == p.tolist()
    assert wrong != right


@settings(max_examples=40)
@given(st.randoms(use_true_random=False), st.sampled_from(SHAPES), st.booleans())
def test_settled_rounds_are_the_outcomes_with_their_chances(
    rng: Random, parents: list[int], soft: bool
) -> None:
    """Over all uniforms each outcome comes as often as `outcomes` says: what is proved, runs."""

    def law() -> dict[str, F]:
        weights = [rng.choice([0, 1, 2, 3]) for _ in "abc"]
        weights[rng.randrange(3)] += 1
        return {x: F(w, sum(weights)) for x, w in zip("abc", weights)}

    n = len(parents)
    p_rows, q_rows = [law() for _ in range(n + 1)], [law() for _ in range(n)] if soft else None
    draft = [rng.choice("abc") for _ in range(n)]

    def settled(world) -> tuple[tuple[int, ...], dict]:
        uniforms = [world.uniform(i) for i in range(n)]
        [(chance, path, left)] = tree_rule.outcomes(p_rows, q_rows, draft, parents, uniforms)
        assert chance == 1
        return tuple(path), left

    def joint(found) -> Counter:
        result = Counter()
        for chance, path, left in found:
            for y, mass in left.items():
                result[tuple(path), y] += chance * mass
        return +result

    ways = [(chance, *result) for chance, result in every_way(settled)]
    assert joint(ways) == joint(tree_rule.outcomes(p_rows, q_rows, draft, parents))


# ---- through the loop ------------------------------------------------------------------------

PROMPT = [0, 1, 2, 0]


@cache
def laws(seed: int, size: int = SIZE):
    """A law after every prefix; zeros happen."""

    @cache
    def law(prefix: tuple[int, ...]) -> np.ndarray:
        rng = Random(f"{seed} {prefix}")
        weights = np.array([rng.choice([0, 1, 2, 3, 5]) for _ in range(size)], float)
        weights[rng.randrange(size)] += 1
        return weights / weights.sum()

    return law


def error(seed: int, make: Callable, k: int, monkeypatch) -> float:
    """How far the law of the loop's first two tokens is from the target's."""

    def run() -> list[int]:
        loop = decode.speculate(
            LawScorer(laws(seed), SIZE),
            make(seed),
            PROMPT,
            k=k,
            sampling=Sampling(temperature=1.0),
            max_new_tokens=2,
            tops=0,
        )
        return [token.id for r in loop for token in r.written]

    monkeypatch.setattr(decode, "record", ids_alone)
    found = np.zeros((SIZE, SIZE))
    for chance, (first, second) in every_generation(run, monkeypatch):
        found[first, second] += chance
    p = laws(seed)
    right = np.array([p(tuple(PROMPT))[a] * p((*PROMPT, a)) for a in range(SIZE)])
    return float(np.abs(found - right).max())


def small(seed: int) -> ModelDrafter:
    return ModelDrafter(LawScorer(laws(seed + 1000), SIZE))


TREES = {
    "confident": lambda seed: Tree(small(seed)),
    "spine": lambda seed: Tree(small(seed), shape="spine"),
    "full": lambda seed: Tree(small(seed), shape="full"),
    "wide": lambda seed: Tree(small(seed), 3, "full"),
    "drawn spine": lambda seed: Tree(small(seed), 2, "spine", sampled=True),
    "drawn full": lambda seed: Tree(small(seed), 2, "full", sampled=True),
    "drawn wide": lambda seed: Tree(small(seed), 3, "full", sampled=True),
    "copy or tree": lambda seed: Combined(PromptLookup(), Tree(small(seed))),
}


@pytest.mark.parametrize("k", [1, 2, 4])
@pytest.mark.parametrize("name", TREES)
def test_two_tokens_over_two_rounds_have_exactly_the_targets_law(
    name: str, k: int, monkeypatch
) -> None:
    for seed in range(2 if k < 3 else 1):
        assert error(seed, TREES[name], k, monkeypatch) < 1e-12


class Mixed(Tree):
    """The forbidden mix: the likeliest tokens, judged as if they had been drawn."""

    def propose(self, context, k, sampling, uniforms) -> Draft:
        draft = super().propose(context, k, sampling, uniforms)
        self.rollback(len(context) - 1)
        q = sampling.law(self.drafter.first(context))
        return Draft(draft.tokens, np.array([q] * len(draft.tokens)), draft.parents)


class Choosy(Tree):
    """A shape that follows what was drawn: of three drawn guesses only the two best are kept."""

    def propose(self, context, k, sampling, uniforms) -> Draft:
        draft = super().propose(context, 3, sampling, uniforms)
        q = draft.laws[0]
        kept = sorted(np.argsort(-q[list(draft.tokens)], kind="stable")[:k])
        return Draft([draft.tokens[i] for i in kept], draft.laws[kept], [-1] * len(kept))


class Twice(Tree):
    """Draws all guesses with the same number: the second is not drawn from its law."""

    def propose(self, context, k, sampling, uniforms) -> Draft:
        return super().propose(context, k, sampling, lambda at, why, child: uniforms(at, why))


@pytest.mark.parametrize(
    ("wrong", "options"),
    [(Mixed, (1,)), (Choosy, (3, "full", True)), (Twice, (2, "full", True))],
    ids=["mixed", "choosy", "one number"],
)
def test_the_enumeration_sees_what_is_wrong(wrong: type, options: tuple, monkeypatch) -> None:
    def make(seed: int) -> Tree:
        return wrong(small(seed), *options)

    assert max(error(seed, make, 2, monkeypatch) for seed in (3, 5, 6)) > 0.01
