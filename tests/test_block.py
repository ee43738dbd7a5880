"""Block verification (Sun et al. 2024): lossless, and on average it keeps no fewer."""

from __future__ import annotations

from fractions import Fraction as F
from itertools import product
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from specdec import rule
from specdec.block import block_tests, last_pass

quick = settings(deadline=None, max_examples=50)  # each goes through all drafts


def tree_of_laws(rng: Random, vocab: int, depth: int, like=None) -> dict[tuple, dict[int, F]]:
    """A law of the next token after every prefix of up to `depth` tokens; zeros happen."""
    laws = {}
    for prefix in (x for n in range(depth + 1) for x in product(range(vocab), repeat=n)):
        weights = [rng.choice([0, 0, 1, 2, 3, 5]) for _ in range(vocab)]
        weights[rng.randrange(vocab)] += 1
        laws[prefix] = {x: F(w, sum(weights)) for x, w in enumerate(weights)}
        if like is not None and rng.random() < 0.2:  # p = q somewhere
            laws[prefix] = like[prefix]
    return laws


def chance(laws: dict, tokens: tuple[int, ...], start: int = 0) -> F:
    """The chance of tokens[start:] after tokens[:start]."""
    result = F(1)
    for i in range(start, len(tokens)):
        result *= laws[tokens[:i]].get(tokens[i], 0)
    return result


def written(p: dict, q: dict, vocab: int, n: int, which: str) -> tuple[dict[tuple, F], F]:
    """The law of the n + 1 tokens after one round of n drafts that the target then continues,
    and the expected number of accepted drafts."""
    law = dict.fromkeys(product(range(vocab), repeat=n + 1), F(0))
    expected = F(0)
    for draft in product(range(vocab), repeat=n):
        drafted = chance(q, draft)
        if not drafted:
            continue
        p_rows = [p[draft[:i]] for i in range(n + 1)]
        q_rows = [q[draft[:i]] for i in range(n)]
        for probability, accepted, next_law in rule.outcomes(p_rows, q_rows, draft, which):
            expected += drafted * probability * accepted
            for y, mass in next_law.items():
                head = (*draft[:accepted], y)
                for tail in product(range(vocab), repeat=n - accepted):
                    whole = head + tail
                    law[whole] += drafted * probability * mass * chance(p, whole, accepted + 1)
    return law, expected


@quick
@given(st.randoms(use_true_random=False), st.sampled_from([(2, 2), (3, 2), (2, 3)]))
def test_the_block_is_written_with_the_targets_law(rng: Random, size: tuple[int, int]) -> None:
    vocab, n = size
    p = tree_of_laws(rng, vocab, n)
    q = tree_of_laws(rng, vocab, n, like=p)
    law, expected = written(p, q, vocab, n, "block")
    assert law == {tokens: chance(p, tokens) for tokens in law}
    walk, by_walk = written(p, q, vocab, n, "pq")
    assert walk == law
    assert expected >= by_walk


def test_the_papers_example() -> None:
    """Two tokens, laws that ignore the context: 11/9 accepted of two, 10/9 one by one."""
    prefixes = [(), (0,), (1,), *product((0, 1), repeat=2)]
    p = {prefix: {0: F(1, 3), 1: F(2, 3)} for prefix in prefixes}
    q = {prefix: {0: F(2, 3), 1: F(1, 3)} for prefix in prefixes}
    assert written(p, q, 2, 2, "block")[1] == F(11, 9)
    assert written(p, q, 2, 2, "pq")[1] == F(10, 9)


def test_a_token_may_fail_its_own_test_and_still_be_kept() -> None:
    p, q = np.array([1 / 3, 2 / 3]), np.array([2 / 3, 1 / 3])
    thresholds, _ = block_tests([p, p, p], [q, q], [0, 1])
    assert thresholds == [0, 1]  # joint ratio ½ · 2
    [(_, accepted, law)] = rule.outcomes([p, p, p], [q, q], [0, 1], "block", [0.9, 0.9])
    assert accepted == 2
    assert law is p
    [(_, accepted, _)] = rule.outcomes([p, p, p], [q, q], [0, 1], "pq", [0.9, 0.9])
    assert accepted == 0


@quick
@given(st.randoms(use_true_random=False), st.integers(1, 3))
def test_of_one_token_it_is_the_walk(rng: Random, vocab: int) -> None:
    p, q = (tree_of_laws(rng, vocab, 1) for _ in "pq")
    for x in range(vocab):
        rows = [p[()], p[(x,)]], [q[()]], [x]
        assert rule.outcomes(*rows, "block") == rule.outcomes(*rows, "pq")


@quick
@given(st.randoms(use_true_random=False), st.integers(1, 3))
def test_arrays_and_floats_agree_with_fractions(rng: Random, n: int) -> None:
    p, q = (tree_of_laws(rng, 3, n) for _ in "pq")
    for draft in product(range(3), repeat=n):
        p_rows, q_rows = [p[draft[:i]] for i in range(n + 1)], [q[draft[:i]] for i in range(n)]
        exact = rule.outcomes(p_rows, q_rows, draft, "block")
        for number, tolerance in ((F, 0), (float, 1e-12)):
            kind = object if number is F else float
            rows = [np.array(list(law.values()), kind) for law in p_rows + q_rows]
            arrays = rule.outcomes(rows[: n + 1], rows[n + 1 :], draft, "block")
            for (chance_, kept, law), (chance_a, kept_a, law_a) in zip(exact, arrays):
                assert kept == kept_a
                assert abs(chance_ - chance_a) <= tolerance
                if chance_ > 1e-9:  # else rounding decides whether the residual is empty
                    assert np.abs(np.array(list(law.values())) - law_a).max() <= tolerance * 1e3


@quick
@given(st.randoms(use_true_random=False), st.integers(1, 4))
def test_thresholds_are_chances_even_where_a_model_is_impossible(rng: Random, n: int) -> None:
    laws = [np.array(w) / sum(w) for w in ([1, 0, 0], [0, 1e-300, 1], [1, 2, 3], [0, 0, 1])]
    p_rows = [rng.choice(laws) for _ in range(n + 1)]
    q_rows = [rng.choice(laws) for _ in range(n)]
    thresholds, next_law = block_tests(p_rows, q_rows, [rng.randrange(3) for _ in range(n)])
    assert all(0 <= h <= 1 for h in thresholds)
    for kept in range(n + 1):
        assert next_law(kept).sum() == pytest.approx(1)
    assert sum(last_pass(thresholds)) == pytest.approx(1)


def test_greedy_laws_keep_the_agreeing_prefix() -> None:
    rows = np.eye(3)
    for agree in range(4):
        draft = [0] * agree + [1] * (3 - agree)
        q_rows = [rows[x] for x in draft]
        for uniform in (0.0, 1 - 2**-53):
            [(_, accepted, law)] = rule.outcomes(
                [rows[0]] * 4, q_rows, draft, "block", [uniform] * 3
            )
            assert accepted == agree
            assert law.tolist() == [1, 0, 0]


def test_self_drafting_is_always_accepted() -> None:
    p = np.array([0.5, 0.3, 0.2])
    [(_, accepted, _)] = rule.outcomes([p] * 4, [p] * 3, [2, 0, 1], "block", [1 - 2**-53] * 3)
    assert accepted == 3


def test_the_last_pass_is_counted_from_the_end() -> None:
    half = F(1, 2)
    assert last_pass([half, half]) == [F(1, 4), F(1, 4), half]
    assert last_pass([]) == [1]
