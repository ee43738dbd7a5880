"""Whole generations under every lossless rule: the loop that runs is enumerated, and writes p."""

from __future__ import annotations

from fractions import Fraction as F
from functools import cache
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from specdec import decode, rule
from specdec.drafters import FixedDrafter, ModelDrafter, PromptLookup
from specdec.law import Sampling
from specdec.trace import Token
from tests.branching import every_generation, every_way
from tests.pairs_np import LawScorer, drafting, ids_of, random_model, run_rounds

pytestmark = pytest.mark.long

PROMPT, V = [0, 1, 2, 0], 3
SAMPLED = Sampling(temperature=1.0)


@cache
def laws(seed: int):
    """A law [V] after every prefix; zeros happen."""

    @cache
    def law(prefix: tuple[int, ...]) -> np.ndarray:
        rng = Random(f"{seed} {prefix}")
        weights = np.array([rng.choice([0, 1, 2, 3, 5]) for _ in range(V)], float)
        weights[rng.randrange(V)] += 1
        return weights / weights.sum()

    return law


def soft(seed: int) -> ModelDrafter:
    """Draws from its law."""
    return ModelDrafter(LawScorer(laws(seed + 1000), V))


DRAFTERS = {
    "soft": soft,
    "one-hot": lambda seed: FixedDrafter([seed % V, (seed + 1) % V, seed % V]),
    "lookup": lambda seed: PromptLookup(),
}


def two_tokens(seed: int, drafter, which: str, k: int, monkeypatch, **options) -> np.ndarray:
    """The law [V, V] of the first two tokens that the loop writes, however many rounds it takes."""

    def run() -> list[int]:
        loop = decode.speculate(
            LawScorer(laws(seed), V),
            drafter(seed),
            PROMPT,
            k=k,
            sampling=SAMPLED,
            max_new_tokens=2,
            rule=which,
            tops=0,
        )
        return [token.id for r in loop for token in r.written]

    monkeypatch.setattr(decode, "record", ids_alone)
    law = np.zeros((V, V))
    for chance, (first, second) in every_generation(run, monkeypatch, **options):
        law[first, second] += chance
    return law


def ids_alone(what, **_) -> tuple:
    """A record without uniforms: one that is undecided is not a number."""
    return (), tuple(Token(x, "") for x in what.new[: what.kept])


def exact(seed: int) -> np.ndarray:
    """p of two tokens."""
    first = laws(seed)(tuple(PROMPT))
    return np.array([first[a] * laws(seed)((*PROMPT, a)) for a in range(V)])


@pytest.mark.parametrize("k", [1, 2, 3])
@pytest.mark.parametrize("drafter", DRAFTERS)
@pytest.mark.parametrize("which", rule.RULES)
def test_two_tokens_over_two_rounds_have_exactly_the_targets_law(
    which: str, drafter: str, k: int, monkeypatch
) -> None:
    for seed in range(3 if k < 3 else 1):
        law = two_tokens(seed, DRAFTERS[drafter], which, k, monkeypatch)
        assert np.abs(law - exact(seed)).max() < 1e-12


def test_block_needs_new_uniforms_in_every_round(monkeypatch) -> None:
    """It looks ahead, so a position that it drafts again must not meet its old numbers."""
    errors = [
        np.abs(two_tokens(s, soft, "block", 2, monkeypatch, rounds=False) - exact(s)).max()
        for s in range(3)
    ]
    assert max(errors) > 0.01


# ---- what is proved is what runs -------------------------------------------------------------


@settings(deadline=None, max_examples=40)
@given(st.randoms(use_true_random=False), st.sampled_from(rule.RULES), st.integers(0, 2))
def test_settled_rounds_are_the_outcomes_with_their_chances(
    rng: Random, which: str, n: int
) -> None:
    """Over all uniforms: each outcome as often as `outcomes` says, and its next token likewise."""

    def law() -> dict[str, F]:
        weights = [rng.choice([0, 1, 2, 3]) for _ in "abc"]
        weights[rng.randrange(3)] += 1
        return {x: F(w, sum(weights)) for x, w in zip("abc", weights)}

    p_rows, q_rows = [law() for _ in range(n + 1)], [law() for _ in range(n)]
    draft = [rng.choice("abc") for _ in range(n)]

    def settled(world) -> tuple[int, dict]:
        uniforms = [world.uniform(i) for i in range(n)]
        [(chance, accepted, left)] = rule.outcomes(p_rows, q_rows, draft, which, uniforms)
        assert chance == 1
        return accepted, left

    def joint(found) -> dict[tuple[int, str], F]:
        result = {}
        for chance, accepted, left in found:
            for y, mass in left.items():
                if chance * mass:
                    result[accepted, y] = result.get((accepted, y), 0) + chance * mass
        return result

    ways = [(chance, *result) for chance, result in every_way(settled)]
    assert joint(ways) == joint(rule.outcomes(p_rows, q_rows, draft, which))


# ---- sampler-match ---------------------------------------------------------------------------


@pytest.mark.parametrize("sampling", [Sampling(), SAMPLED, Sampling(0.8, top_k=4, top_p=0.9)])
@pytest.mark.parametrize("k", [1, 3, 6])
def test_match_writes_what_plain_decoding_writes_with_the_same_seed(
    k: int, sampling: Sampling
) -> None:
    target = random_model(7, seed=3)
    drafters = drafting(target, error=0.5), PromptLookup(), FixedDrafter([1, 2, 3, 4, 5, 6])
    for seed in range(5):
        options = {"n": 30, "sampling": sampling, "rng": seed}
        plain = ids_of(run_rounds(target, None, [1, 2, 1], k=0, **options))
        for drafter in drafters:
            match = run_rounds(target, drafter, [1, 2, 1], k=k, rule="match", **options)
            assert ids_of(match) == plain


def test_match_is_right_and_keeps_the_sum_of_pq() -> None:
    """Toy A: output p, acceptance 0.29 where the ratio test has 0.70."""
    p = {0: F(5, 10), 1: F(3, 10), 2: F(2, 10)}
    q = {0: F(2, 10), 1: F(3, 10), 2: F(5, 10)}
    written, kept = dict.fromkeys(p, F(0)), F(0)
    for x, chance in q.items():
        for probability, accepted, law in rule.outcomes([p, p], [q], [x], "match"):
            kept += chance * probability * accepted
            for y, mass in ({x: 1} if accepted else law).items():
                written[y] += chance * probability * mass
    assert written == p
    assert kept == F(29, 100)


def test_a_failed_match_is_replaced_by_the_very_token_that_failed_it() -> None:
    p = np.array([0.5, 0.3, 0.2])
    for u, own in ((0.0, 0), (0.49, 0), (0.5, 1), (0.79, 1), (0.9, 2)):
        [(_, accepted, law)] = rule.outcomes([p, p], None, [1], "match", [u])
        assert accepted == (own == 1)
        assert law is p if accepted else law.tolist() == np.eye(3)[own].tolist()


# ---- what the trace says ---------------------------------------------------------------------


@pytest.mark.parametrize("which", rule.RULES)
def test_the_record_fits_the_rule(which: str) -> None:
    target = random_model(5, seed=1, sharpness=2.0)
    seen = set()
    for seed in range(10):
        rounds = run_rounds(
            target,
            drafting(target),
            [1, 2],
            k=3,
            n=24,
            sampling=SAMPLED,
            rng=seed,
            rule=which,
            tops=5,
        )
        for r in rounds[:-1]:  # the last may be cut
            assert r.rule == which
            passed = [d.u is not None and d.u < d.threshold for d in r.drafted]
            seen |= {(d.verdict, ok) for d, ok in zip(r.drafted, passed)}
            if which == "pq":
                assert [d.verdict == "accepted" for d in r.drafted] == passed
            elif which == "match":  # the target's own draw: the token itself, or what replaced it
                for own, d in zip(r.written, r.drafted):
                    assert d.threshold == d.p
                    assert d.u == own.u
                    assert (own.id == d.id) == (d.verdict == "accepted")
            else:  # the last test passed decides, and every test is on record
                last = max((i for i, ok in enumerate(passed, 1) if ok), default=0)
                assert r.accepted == last
                assert all(d.u is not None for d in r.drafted)
            for d in r.drafted:
                assert 0 <= d.threshold <= 1
                assert d.residual_top.rest + sum(x for _, _, x in d.residual_top.entries) == (
                    pytest.approx(1)
                )
    assert ("accepted", False) in seen if which == "block" else ("accepted", True) in seen


@pytest.mark.parametrize("which", rule.RULES)
def test_greedy_is_plain_greedy_under_every_rule(which: str) -> None:
    target = random_model(6, seed=9)
    plain = ids_of(run_rounds(target, None, [1, 2], k=0, n=30))
    for seed in range(3):
        rounds = run_rounds(target, drafting(target), [1, 2], k=4, n=30, rule=which, rng=seed)
        assert ids_of(rounds) == plain
        assert all(d.u is None for r in rounds for d in r.drafted)


@pytest.mark.parametrize("which", rule.RULES)
def test_the_same_seed_gives_the_same_rounds(which: str) -> None:
    target = random_model(6, seed=2)

    def run(seed: int):
        rounds = run_rounds(
            target, drafting(target), [3], k=3, n=30, sampling=SAMPLED, rule=which, rng=seed
        )
        return [(r.drafted, r.written) for r in rounds]

    assert run(5) == run(5)
    assert run(5) != run(6)


def test_an_unknown_rule_is_refused_in_words() -> None:
    target = random_model(4)
    with pytest.raises(ValueError, match="There is no rule 'typical'; there are 'pq', 'match'"):
        run_rounds(target, FixedDrafter([1]), [1], k=1, n=3, rule="typical")
