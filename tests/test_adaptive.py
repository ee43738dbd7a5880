"""k from round to round: each policy by hand, the loop that asks it, the stop inside a draft."""

from __future__ import annotations

from dataclasses import dataclass, replace
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import specdec
from specdec import adaptive, theory
from specdec.adaptive import MARGIN, REST, Constant, Ema, Heuristic, Policy, name_of, named
from specdec.drafters import FixedDrafter, ModelDrafter
from specdec.law import Sampling
from specdec.trace import Trace
from tests.pairs_np import (
    DRAFTERS,
    LawScorer,
    drafting,
    ids_of,
    make_drafter,
    plain_ids,
    random_model,
    random_pair,
    run_rounds,
    scripted,
    text_pair,
)


def ks(policy: Policy, outcomes: list[tuple[int, int]]) -> list[int]:
    """k before the first round and after each."""
    found = [policy.k]
    for accepted, rejected in outcomes:
        policy = policy.after(accepted, rejected)
        found.append(policy.k)
    return found


# ---- the policies ----------------------------------------------------------------------------


def test_a_constant_stays() -> None:
    assert ks(Constant(3), [(3, 0), (0, 1), (0, 0)]) == [3] * 4


def test_the_heuristic_by_hand() -> None:
    """Two more after a whole draft, one less after a rejection; from 1 to the most; else as was."""
    outcomes = [(5, 0), (7, 0), (2, 1), (0, 0), *[(0, 1)] * 8, (1, 0)]
    assert ks(Heuristic(k=5, most=8), outcomes) == [5, 7, 8, 7, 7, 6, 5, 4, 3, 2, 1, 1, 1, 3]


def test_the_heuristic_is_that_of_transformers() -> None:
    """Its own update on every outcome of a draft, as far as its k has no upper end."""
    from transformers.generation.candidate_generator import AssistedCandidateGenerator

    config = SimpleNamespace(
        num_assistant_tokens_schedule="heuristic", assistant_confidence_threshold=0
    )
    rng = np.random.default_rng(0)
    theirs = SimpleNamespace(assistant_generation_config=config, num_assistant_tokens=5)
    ours = Heuristic(k=5, most=10**6)
    for _ in range(200):
        k = theirs.num_assistant_tokens
        accepted = int(min(k, rng.geometric(0.3) - 1))
        AssistedCandidateGenerator.update_candidate_strategy(
            theirs, None, np.zeros((1, k + 1, 2)), accepted
        )
        ours = ours.after(accepted, int(accepted < k))
        assert ours.k == theirs.num_assistant_tokens


def test_ema_by_hand() -> None:
    """c = 0.1, v = 0.05: the speed of k is (1 + α + … + α^k) ÷ (1 + 0.15 k)."""
    policy = Ema(c=0.1, v=0.05)
    assert (policy.alpha, policy.k) == (0.7, 3)  # 1.747 at 3, 1.733 at 4, 1.685 at 2
    policy = policy.after(0, 1)  # 3.15 of 5.5: k = 2 has 1.462, 1.5 % more than 3
    assert (policy.alpha, policy.k) == (pytest.approx(3.15 / 5.5), 3)
    policy = policy.after(0, 1)  # 2.835 of 5.95: 1.310 at 2 is 4.9 % more than 1.250 at 3
    assert (policy.alpha, policy.k) == (pytest.approx(2.835 / 5.95), 2)
    policy = policy.after(2, 0)  # 4.5515 of 7.355
    assert (policy.alpha, policy.k) == (pytest.approx(4.5515 / 7.355), 2)
    assert policy.after(0, 0).alpha == policy.alpha  # nothing judged, nothing learnt


outcomes = st.lists(
    st.tuples(st.integers(0, 6), st.integers(0, 1)), max_size=40
)  # (accepted, rejected)
share = st.floats(0, 1)


@settings(max_examples=60)
@given(outcomes, share, share, st.integers(0, 9))
def test_ema_holds_a_k_within_two_percent_of_the_best(
    rounds: list, c: float, v: float, most: int
) -> None:
    policy = Ema(c=c, v=v, most=most)
    assert policy.k == theory.best_k(0.7, c, v, most)
    for accepted, rejected in rounds:
        policy = policy.after(accepted, rejected)
        best = theory.best_k(policy.alpha, c, v, most)
        here, there = (theory.speedup(policy.alpha, k, c, v) for k in (policy.held, best))
        assert there <= MARGIN * here * (1 + 1e-12)
        assert 0 <= policy.k <= most
        assert policy.k == policy.held or (policy.held, policy.k) == (0, 1)


@pytest.mark.parametrize(("margin", "fewest", "most"), [(MARGIN, 1, 25), (1.0, 50, 300)])
def test_ema_does_not_move_to_and_fro_between_two_that_are_alike(
    monkeypatch, margin: float, fewest: int, most: int
) -> None:
    """300 rounds at α = 0.7; without the margin it would move in every few of them."""
    monkeypatch.setattr(adaptive, "MARGIN", margin)
    rng, policy, moves = np.random.default_rng(1), Ema(c=0.1, v=0.05), 0
    for _ in range(300):
        accepted = int(min(policy.k, rng.geometric(0.3) - 1))
        after = policy.after(accepted, int(accepted < policy.k))
        moves += after.k != policy.k
        policy = after
    assert fewest <= moves <= most, moves


def test_ema_rests_at_0_tries_one_token_and_comes_back() -> None:
    policy = Ema(c=0.3, v=0.1)
    while policy.held:
        policy = policy.after(0, 1)
    found = ks(policy, [(0, 0)] * REST + [(0, 1)] + [(0, 0)] * REST)
    assert found == [0] * REST + [1] + [0] * REST + [1]  # a trial, in vain, and the next one
    for _ in range(REST):
        policy = policy.after(0, 0)
    tried = 0
    while not policy.held:  # every trial is accepted: it goes on trying, and then believes it
        assert policy.k == 1
        policy, tried = policy.after(1, 0), tried + 1
    assert 1 <= tried < 12
    assert policy.k >= 1


def test_a_policy_that_may_ask_for_nothing_asks_for_nothing() -> None:
    assert ks(Ema(most=0), [(0, 0)] * 20) == [0] * 21
    assert ks(Heuristic(k=4, most=2), [(2, 0)]) == [2, 2]


def test_policies_are_values() -> None:
    """Two runs that share one do not share what they learn."""
    policy = Ema()
    policy.after(0, 1)
    assert policy == Ema()
    assert hash(policy.after(2, 1)) == hash(Ema().after(2, 1))


@pytest.mark.parametrize("policy", [Ema(), Ema(c=0.1234567890123, v=0.0), Heuristic(k=3)])
def test_words_name_a_policy(policy: Policy) -> None:
    assert named(name_of(policy), most=policy.most) == policy


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("", "There is no policy '' for k; there are ema, heuristic"),
        ("fast", "There is no policy 'fast'"),
        ("ema c", "'ema c' was not understood; say ema c=… v=…"),
        ("ema c=x", "was not understood"),
        ("ema most=3", "was not understood"),
        ("heuristic c=1", "say heuristic k=…"),
        ("heuristic k=0", "k is 0; it must be a whole number, 1 or more"),
        ("heuristic k=1.5", "k is 1.5"),
        ("ema c=-1", "c must be ≥ 0"),
        ("ema c=nan", "c must be ≥ 0"),
    ],
)
def test_words_that_name_none_are_refused(words: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        named(words)


# ---- in the loop -----------------------------------------------------------------------------


def policies() -> list[Policy]:
    return [Heuristic(k=2, most=5), Ema(c=0.05, v=0.0, most=6), Ema(c=0.5, v=0.2, most=6)]


@pytest.mark.parametrize("drafter", DRAFTERS)
def test_greedy_speculation_is_plain_decoding_under_every_policy(drafter: str) -> None:
    target = random_model(6, seed=8)
    for policy in policies():
        rounds = run_rounds(target, make_drafter(drafter, target), [1, 2], k=policy, n=40)
        assert ids_of(rounds) == plain_ids(target, [1, 2], 40)
        asked = [r.k for r in rounds]
        outcomes = [(r.accepted, r.rejected) for r in rounds[:-1]]
        assert asked == ks(policy, outcomes)  # the round says what was asked
        assert all(len(r.drafted) <= r.k for r in rounds)


def test_a_drafter_that_becomes_right_is_taken_up_again() -> None:
    """Wrong for 40 tokens, then right: ema goes to 0 and comes back, the caches with it."""
    target = scripted(9, [3, 4, 5, 6, 7] * 30, prompt=2)

    def logits(state: int, n: int) -> np.ndarray:
        row = target.logits(state, n)
        return row if n > 42 else np.roll(row, 1)

    small = replace_logits(target, logits)
    rounds = run_rounds(target, small, [1, 2], k=Ema(c=0.2, v=0.1, most=8), n=140)
    asked = [r.k for r in rounds]
    assert ids_of(rounds) == plain_ids(target, [1, 2], 140)
    rest = asked.index(0)
    assert set(asked[rest : asked.index(1, rest)]) == {0}
    assert asked[-1] == 8
    assert all(r.accepted == len(r.drafted) for r in rounds[:-1] if r.start > 43)


def replace_logits(target, logits):
    return type(target)(target.vocab_size, logits, name="small")


def test_a_policy_that_asks_for_what_cannot_be_is_refused() -> None:
    @dataclass(frozen=True)
    class Odd:
        k: object
        most: int = 3

        def after(self, accepted, rejected):
            return self

    target = random_model(5)
    for k in (4, -1, 1.5, float("nan")):
        with pytest.raises(ValueError, match=r"The policy asks for k = .*; it must be whole, in"):
            run_rounds(target, FixedDrafter([1]), [1], k=Odd(k), n=3)
    with pytest.raises(ValueError, match="k is 3, but there is no drafter"):
        run_rounds(target, None, [1], k=Odd(1), n=3)


# ---- as settings of a run --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "k", "adaptive"),
    [
        ({"k": "ema"}, 16, "ema c=0.13 v=0.03"),
        ({"k": "heuristic"}, 16, "heuristic k=5"),
        ({"k": "ema c=0.2"}, 16, "ema c=0.2 v=0.03"),
        ({"k": 6, "adaptive": "ema"}, 6, "ema c=0.13 v=0.03"),
        ({"k": Heuristic(k=2, most=5)}, 5, "heuristic k=2"),
        ({"k": "ema", "rows": 8}, 7, "ema c=0.13 v=0.03"),
        ({"k": "ema", "drafter": "lookup"}, 16, "ema c=0.0 v=0.03"),
        ({"k": 3}, 3, None),
        ({"k": 0, "adaptive": "ema"}, 0, None),
    ],
    ids=str,
)
def test_the_settings_of_a_run_replay_it(options: dict, k: int, adaptive: str | None) -> None:
    options = {"max_new_tokens": 30, "temperature": 1.0, "seed": 4, "confidence": 0.0} | options
    trace = specdec.generate(random_pair(), "the sky", **options)
    assert (trace.settings.k, trace.settings.adaptive) == (k, adaptive)
    assert Trace.from_json(trace.to_json()) == trace
    again = specdec.generate(random_pair(), "the sky", **trace.settings.options())
    assert (again.settings, again.token_ids) == (trace.settings, trace.token_ids)
    assert [r.k for r in again.rounds] == [r.k for r in trace.rounds]


def test_a_policy_of_ones_own() -> None:
    @dataclass(frozen=True)
    class InTurn:
        k: int = 1
        most: int = 2

        def after(self, accepted, rejected):
            return replace(self, k=3 - self.k)

    trace = specdec.generate(random_pair(), "the sky", k=InTurn(), max_new_tokens=20)
    assert [r.k for r in trace.rounds][:4] == [1, 2, 1, 2]
    assert (trace.settings.k, trace.settings.adaptive) == (2, "InTurn")


def test_plain_decoding_takes_no_policy_and_no_confidence() -> None:
    for option in ({"adaptive": "ema"}, {"confidence": 0.5}):
        with pytest.raises(TypeError, match="Plain decoding takes no"):
            specdec.plain(random_pair(), "the sky", **option)


# ---- the stop inside a draft -----------------------------------------------------------------


def test_a_draft_ends_with_the_token_of_which_the_model_was_unsure() -> None:
    """Its own favourite has .9, .9, .5, …: at 0.6 the third token is the last, and it is kept."""
    chances = [0.9, 0.9, 0.5, 0.9, 0.9]

    def law(prefix):
        p = chances[len(prefix) - 1]
        return [p, 1 - p]

    for sampling in (Sampling(), Sampling(1.0), Sampling(0.2, top_k=1)):
        for confidence, n in ((0.0, 5), (0.4, 5), (0.6, 3), (0.95, 1), (1.0, 1)):
            drafter = ModelDrafter(LawScorer(law, 2), confidence=confidence)
            draft = drafter.propose([0], 5, sampling, lambda position, purpose: 0.2)
            assert list(draft.tokens) == [0] * n
            assert (draft.passes, draft.laws.shape) == (n, (n, 2))


def test_the_stop_looks_at_what_may_follow() -> None:
    """Of three tokens two are allowed, .5 and .1 of the whole: .83 for the favourite."""
    law = LawScorer(lambda prefix: [0.5, 0.4, 0.1], 3)
    for confidence, n in ((0.82, 3), (0.85, 1)):
        law.rollback(0)
        sampling = Sampling(allowed={0, 2})
        draft = ModelDrafter(law, 3, confidence).propose([0], 3, sampling, lambda *_: 0.0)
        assert len(draft.tokens) == n


def test_greedy_speculation_with_a_stop_is_plain_decoding() -> None:
    target = random_model(6, seed=8, sharpness=2)
    small = drafting(target)
    lengths = set()
    for confidence in (0.3, 0.6, 0.9):
        drafter = ModelDrafter(small.scorer(), 6, confidence)
        rounds = run_rounds(target, drafter, [1, 2], k=5, n=40)
        assert ids_of(rounds) == plain_ids(target, [1, 2], 40)
        lengths |= {len(r.drafted) for r in rounds}
    assert len(lengths) > 3


def test_a_run_hands_the_confidence_to_its_drafter() -> None:
    case = text_pair("the sky is blue")
    case.pair.draft = random_model(case.pair.target.vocab_size, sharpness=0.1)
    options = {"k": 4, "chat": False, "max_new_tokens": 10}
    trace = specdec.generate(case.pair, case.prompt, confidence=0.5, **options)
    assert trace.settings.confidence == 0.5
    assert {len(r.drafted) for r in trace.rounds} == {1}
    assert specdec.generate(case.pair, case.prompt, k=0, confidence=0.5).settings.confidence == 0


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"confidence": 1.5}, r"confidence is 1.5; it must be in \[0, 1\]"),
        ({"confidence": float("nan")}, "confidence is nan"),
        ({"confidence": 0.5, "drafter": "lookup"}, "'lookup' does not take it"),
        ({"confidence": 0.5, "drafter": FixedDrafter([1])}, "'FixedDrafter' does not take it"),
    ],
    ids=["over 1", "nan", "a lookup", "a fixed draft"],
)
def test_a_confidence_that_cannot_be_is_refused(options: dict, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        specdec.rounds(random_pair(), "the sky", **options)
    with pytest.raises(ValueError, match="confidence is 2"):
        ModelDrafter(random_model(4).scorer(), confidence=2)
