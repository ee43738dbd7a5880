"""The law of the first two tokens is the target's, exactly: over two rounds, by enumeration.

Twice: through `rule.outcomes`, all branches in fractions; and through the loop itself, run on every
cell of a grid that no decision falls inside.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from fractions import Fraction as F
from itertools import pairwise, product
from math import prod

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from specdec import accept, decode, rule
from specdec.drafters import FixedDrafter, ModelDrafter, PromptLookup
from specdec.law import Sampling
from specdec.trace import Round
from specdec.uniforms import DRAFT, REPLACE, TEST
from tests.pairs_np import LawScorer, mixed

pytestmark = pytest.mark.long

Prefix = tuple[int, ...]
Laws = Callable[[Prefix], list[F]]

# ---- through rule.outcomes -------------------------------------------------------------------


def drafts(q: Laws | None, fixed: Prefix, prefix: Prefix, k: int) -> list[tuple[F, Prefix]]:
    """All drafts of k tokens with their chances: from q, or one that is fixed."""
    if q is None:
        return [(F(1), fixed[:k])]
    found = [(F(1), ())]
    for _ in range(k):
        found = [
            (chance * mass, (*draft, x))
            for chance, draft in found
            for x, mass in enumerate(q((*prefix, *draft)))
            if mass
        ]
    return found


def written(p: Laws, q: Laws | None, fixed: Prefix, k: int, n: int) -> Counter:
    """The law of the first n tokens: all drafts, all outcomes, as many rounds as it takes."""
    done, open_ = Counter(), [((), F(1))]
    while open_:
        prefix, reached = open_.pop()
        if len(prefix) >= n:
            done[prefix[:n]] += reached
            continue
        for chance, draft in drafts(q, fixed, prefix, k):
            at = [(*prefix, *draft[:i]) for i in range(len(draft) + 1)]
            p_rows = [np.array(p(x), object) for x in at]
            q_rows = None if q is None else [np.array(q(x), object) for x in at[:-1]]
            for share, accepted, law in rule.outcomes(p_rows, q_rows, draft):
                for x, mass in enumerate(law):
                    if share and mass:
                        longer = (*prefix, *draft[:accepted], x)
                        open_.append((longer, reached * chance * share * mass))
    return done


def wanted(p: Laws, size: int, n: int) -> Counter:
    """The law of the first n tokens by the target alone."""
    law = Counter()
    for tokens in product(range(size), repeat=n):
        law[tokens] = prod(p(tokens[:i])[x] for i, x in enumerate(tokens))
    return +law  # without what has no chance


def seeded(seed: int, size: int, zeros: bool = True) -> Laws:
    """Another law of small whole weights after every prefix."""

    def law(prefix: Prefix) -> list[F]:
        state = mixed(seed)
        for x in prefix:
            state = mixed(state + 77 * x + 1)
        weights = [(state >> 8 * i) % 5 if zeros else (state >> 8 * i) % 4 + 1 for i in range(size)]
        weights[state % size] += 1
        return [F(w, sum(weights)) for w in weights]

    return law


@settings(max_examples=12)
@given(seed=st.integers(0, 10**6), k=st.integers(1, 3))
def test_two_tokens_with_soft_q_are_the_targets(seed: int, k: int) -> None:
    p, q = seeded(seed, 3), seeded(seed + 1, 3)
    assert written(p, q, (), k, 2) == wanted(p, 3, 2)


@given(
    seed=st.integers(0, 10**6),
    fixed=st.lists(st.integers(0, 2), min_size=1, max_size=3),
)
def test_two_tokens_with_one_hot_q_are_the_targets(seed: int, fixed: list[int]) -> None:
    p = seeded(seed, 3)
    assert written(p, None, tuple(fixed), len(fixed), 2) == wanted(p, 3, 2)


def test_three_tokens_over_three_rounds() -> None:
    p, q = seeded(4, 2), seeded(5, 2)
    for k in (1, 2):
        assert written(p, q, (), k, 3) == wanted(p, 2, 3)


def test_the_enumeration_would_see_a_wrong_q() -> None:
    """Drawn from one law and tested with another: the written law is off."""
    p, q, other = (seeded(seed, 3, zeros=False) for seed in (4, 5, 6))
    p_row, tested = np.array(p(()), object), np.array(other(()), object)
    law = np.zeros(3, object)
    for x, chance in enumerate(q(())):
        for share, accepted, next_law in rule.outcomes([p_row, p_row], [tested], [x]):
            law += chance * share * (np.eye(3, dtype=int)[x] if accepted else next_law)
    assert law.sum() == 1
    assert law.tolist() != p(())


# ---- through the loop ------------------------------------------------------------------------

SIZE = 3
PROMPT = (0,)


# In quarters and halves, by the last token (None: the prompt's). Ratios p ÷ q are 0, 1/2 and up
# from 1; residuals are one token, two alike, quarters; of one pair the residual is nothing.
P = {None: [2, 1, 1], 0: [1, 1, 2], 1: [1, 3, 0], 2: [0, 2, 2]}
Q = {None: [1, 0, 1], 0: [0, 0, 2], 1: [0, 0, 2], 2: [0, 1, 1]}


def p_laws(prefix: Prefix) -> list[F]:
    """The target's law after a prefix that begins with the prompt."""
    return [F(w, 4) for w in P[prefix[-1] if len(prefix) > 1 else None]]


def q_laws(prefix: Prefix) -> list[F]:
    """The drafter's."""
    return [F(w, 2) for w in Q[prefix[-1] if len(prefix) > 1 else None]]


class Numbers:
    """Stands for the uniforms: what the grid says at its addresses, 1/2 elsewhere."""

    def __init__(self, cells: dict[tuple[int, int], float]) -> None:
        self.cells = cells

    def __call__(self, position: int, purpose: int) -> float:
        return self.cells.get((position, purpose), 0.5)


def grid(points: list[F]) -> list[tuple[F, F]]:
    """Cells between 0, these points and 1: (middle, length)."""
    edges = sorted({F(0), *points, F(1)})
    return [((a + b) / 2, b - a) for a, b in pairwise(edges)]


QUARTERS = grid([F(1, 4), F(1, 2), F(3, 4)])
HALVES = grid([F(1, 2)])
MIXED = grid([F(1, 4), F(1, 3), F(1, 2), F(2, 3), F(3, 4)])  # a residual of quarters has thirds
SURE_CELLS = {(at, why): c for at in (1, 2) for why, c in ((TEST, QUARTERS), (REPLACE, MIXED))}
SOFT_CELLS = {(at, why): HALVES for at in (1, 2) for why in (DRAFT, TEST)}
SOFT_CELLS |= {(at, REPLACE): QUARTERS for at in (1, 2)}


def loop(drafter, k: int, n: int) -> Iterator[Round]:
    """The loop on these laws, with whatever stands for its uniforms."""
    return decode.speculate(
        LawScorer(p_laws, SIZE),
        drafter,
        PROMPT,
        k=k,
        sampling=Sampling(temperature=1.0),
        max_new_tokens=n,
        tops=0,
    )


def law_by_loop(monkeypatch, make_drafter: Callable, k: int, cells: dict) -> Counter:
    """The law of the first two tokens that the loop writes, over the whole grid."""
    law = Counter()
    for values in product(*cells.values()):
        numbers = {at: float(u) for at, (u, _) in zip(cells, values)}
        monkeypatch.setattr(decode, "Uniforms", lambda rng, n=numbers: Numbers(n))
        tokens = tuple(token.id for r in loop(make_drafter(), k, 2) for token in r.written)
        law[tokens] += prod(length for _, length in values)
    return law


def p_after_prompt(prefix: Prefix) -> list[F]:
    return p_laws((*PROMPT, *prefix))


@pytest.mark.parametrize("k", [1, 2, 3])
def test_the_loop_writes_two_tokens_of_the_target_with_a_soft_drafter(monkeypatch, k: int) -> None:
    """A position drafted again meets its own numbers again; that is part of what is shown."""
    law = law_by_loop(monkeypatch, lambda: ModelDrafter(LawScorer(q_laws, SIZE)), k, SOFT_CELLS)
    assert law == wanted(p_after_prompt, SIZE, 2)


class Echo(PromptLookup):
    """Prompt lookup behind a longer text, so that it finds something from the first round on."""

    def propose(self, context, k, sampling, uniforms):
        return super().propose([0, 2, 1, 0, 1, 1, 2, 0, *context], k, sampling, uniforms)


@pytest.mark.parametrize("k", [1, 2, 3])
@pytest.mark.parametrize(
    "drafter", [Echo, lambda: FixedDrafter([1, 2, 1])], ids=["lookup", "fixed"]
)
def test_the_loop_writes_two_tokens_of_the_target_with_a_sure_drafter(
    monkeypatch, k: int, drafter: Callable
) -> None:
    assert law_by_loop(monkeypatch, drafter, k, SURE_CELLS) == wanted(p_after_prompt, SIZE, 2)


def test_the_grid_would_see_one_number_used_for_two_purposes(monkeypatch) -> None:
    monkeypatch.setattr(accept, "TEST", DRAFT)
    cells = {(at, why): c for at in (1, 2) for why, c in ((DRAFT, QUARTERS), (REPLACE, MIXED))}
    law = law_by_loop(monkeypatch, lambda: ModelDrafter(LawScorer(q_laws, SIZE)), 1, cells)
    assert law != wanted(p_after_prompt, SIZE, 2)


@pytest.mark.parametrize("k", [1, 2, 3])
def test_a_round_of_the_loop_is_an_outcome_of_the_rule(monkeypatch, k: int) -> None:
    """For each draft: the shares of (accepted, next token) are those of `rule.outcomes`."""
    for draws in product([0.25, 0.75], repeat=k):
        drawn = {(at + 1, DRAFT): u for at, u in enumerate(draws)}
        seen = Counter()
        for *tests, (u, share) in product(*[HALVES] * k, QUARTERS):
            numbers = {(at, REPLACE): float(u) for at in range(1, k + 2)} | drawn
            for i, (test, length) in enumerate(tests):
                numbers[i + 1, TEST] = float(test)
                share *= length
            monkeypatch.setattr(decode, "Uniforms", lambda rng, n=numbers: Numbers(n))
            first = next(loop(ModelDrafter(LawScorer(q_laws, SIZE)), k, n=k + 1))
            seen[first.accepted, first.written[-1].id] += share
        draft = tuple(token.id for token in first.drafted)
        at = [(*PROMPT, *draft[:i]) for i in range(k + 1)]
        p_rows, q_rows = ([np.array(laws(x), object) for x in at] for laws in (p_laws, q_laws))
        expected = Counter()
        for probability, accepted, law in rule.outcomes(p_rows, q_rows[:k], draft):
            for x, mass in enumerate(law):
                expected[accepted, x] += probability * mass
        assert seen == +expected  # without what has no chance
