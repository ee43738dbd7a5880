"""Every way to draft writes the target's text; lookup's options, combined, oracle and random."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from specdec import rule
from specdec.decode import speculate
from specdec.drafters import (
    Combined,
    Draft,
    EarlyExit,
    FixedDrafter,
    ModelDrafter,
    Oracle,
    PromptLookup,
    RandomDrafter,
    Tree,
)
from specdec.law import Sampling
from specdec.uniforms import Uniforms
from tests.pairs_np import (
    GREEDY,
    SOFT,
    LawScorer,
    Model,
    drafting,
    ids_of,
    plain_ids,
    random_model,
    run_rounds,
    still,
    trace_of,
)
from tests.test_exact_rules import PROMPT, V, exact, laws, soft, two_tokens

pytestmark = pytest.mark.long

TARGET = random_model(9, seed=4)
TEXT = [0, 1, *plain_ids(TARGET, [0, 1], 40)]


def small(**about) -> ModelDrafter:
    return ModelDrafter(drafting(TARGET, **about).scorer(), 9)


MAKERS: dict[str, Callable] = {
    "recent copy": lambda: PromptLookup(recent=True),
    "trusted copy": lambda: PromptLookup(2, min_ngram=2, factor=1.5, confidence=0.6),
    "copy or model": lambda: Combined(PromptLookup(), small()),
    "model or copy": lambda: Combined(small(context=9), PromptLookup()),
    "copy or tree": lambda: Combined(PromptLookup(), Tree(small())),
    "oracle": lambda: Oracle(TEXT),
    "random": lambda: RandomDrafter(9),
    "tree": lambda: Tree(small()),
    "wide tree": lambda: Tree(small(error=0.5), 4),
    "spine": lambda: Tree(small(), 3, "spine"),
    "full": lambda: Tree(small(), 2, "full"),
    "drawn tree": lambda: Tree(small(), 2, "full", sampled=True),
    "reduced tree": lambda: Tree(
        ModelDrafter(Model(9, drafting(TARGET).logits, token_ids=[0, 2, 3, 7]).scorer(), 9)
    ),
    "short tree": lambda: Tree(small(context=8)),
}
EVERY = pytest.mark.parametrize("name", MAKERS)


@EVERY
@pytest.mark.parametrize("k", [1, 2, 3, 4, 5])
def test_greedy_text_is_plain_decodings(name: str, k: int) -> None:
    for temperature in (0, 1e-6)[: 1 + (k == 4)]:
        rounds = run_rounds(
            TARGET, MAKERS[name](), [0, 1], k=k, n=40, sampling=Sampling(temperature)
        )
        assert ids_of(rounds) == TEXT[2:]
        assert all(len(r.drafted) <= k for r in rounds)


@EVERY
def test_the_same_seed_gives_the_same_rounds_and_the_end_is_kept(name: str) -> None:
    options = {"k": 4, "n": 30, "sampling": SOFT, "stop_ids": (3,), "clock": still}
    for seed in range(2):
        rounds = run_rounds(TARGET, MAKERS[name](), [0, 1, 0, 1], rng=seed, **options)
        assert rounds == run_rounds(TARGET, MAKERS[name](), [0, 1, 0, 1], rng=seed, **options)
        ids = ids_of(rounds)
        assert 3 not in ids[:-1] and (ids[-1] == 3 or len(ids) == 30)


@EVERY
def test_near_the_end_of_the_context_the_text_goes_on(name: str) -> None:
    short = Model(9, TARGET.logits, context=15)
    rounds = run_rounds(short, MAKERS[name](), [0, 1], k=6, n=40)
    assert ids_of(rounds) == TEXT[2:15] and rounds[-1].stop_reason == "context"


class Half(LawScorer):
    """A target whose early guesses have other laws; what was fed ahead is remembered like keys."""

    def __init__(self, seed: int) -> None:
        super().__init__(laws(seed), V)
        self.model, self.guess = SimpleNamespace(layers=[0, 1]), LawScorer(laws(seed + 1000), V)

    def early(self, tokens: Sequence[int], layers: int, ahead: int = 0) -> np.ndarray:
        self.guess.ids = self.ids + self.guess.ids[self.length : self.length + ahead]
        assert len(self.guess.ids) == self.length + ahead, "keys were never written"
        return self.guess.score(tokens)


EXACT: dict[str, Callable] = {
    "recent copy": lambda seed: PromptLookup(recent=True, confidence=0.5),
    "copy or model": lambda seed: Combined(PromptLookup(2, min_ngram=2), soft(seed)),
    "model or copy": lambda seed: Combined(silent(seed), PromptLookup()),
    "oracle": lambda seed: Oracle([*PROMPT, 1, 0, 1]),
    "random": lambda seed: RandomDrafter(V),
}


def silent(seed: int) -> ModelDrafter:
    """Its context ends after the first token."""
    drafter = soft(seed)
    drafter.context = len(PROMPT)
    return drafter


@pytest.mark.parametrize("k", [1, 2])
@pytest.mark.parametrize("name", EXACT)
@pytest.mark.parametrize("which", rule.RULES)
def test_two_tokens_over_two_rounds_have_exactly_the_targets_law(
    which: str, name: str, k: int, monkeypatch
) -> None:
    law = two_tokens(2, EXACT[name], which, k, monkeypatch)
    assert np.abs(law - exact(2)).max() < 1e-12


@pytest.mark.parametrize("k", [1, 2])
@pytest.mark.parametrize("which", rule.RULES)
def test_early_exits_have_exactly_the_targets_law(which: str, k: int, monkeypatch) -> None:
    monkeypatch.setattr(
        "tests.test_exact_rules.LawScorer", lambda law, size: made.append(Half(2)) or made[-1]
    )
    made: list[Half] = []
    law = two_tokens(2, lambda seed: EarlyExit(made[-1], 1), which, k, monkeypatch)
    assert np.abs(law - exact(2)).max() < 1e-12


# ---- prompt lookup ---------------------------------------------------------------------------


def copied(ids: list[int], k: int, *n: int, **options) -> list[int]:
    return list(PromptLookup(*n, **options).propose(ids, k, SOFT, Uniforms(0)).tokens)


def test_the_latest_match_may_be_taken() -> None:
    ids = [1, 2, 5, 1, 2, 6, 1, 2]
    assert (copied(ids, 2), copied(ids, 2, recent=True)) == ([5, 1], [6, 1])
    assert copied([7] * 20, 5, recent=True) == [7] * 5  # it runs on into its own draft
    assert copied([1, 2, 3, 9, 9, 1, 2, 3], 5, recent=True) == [9, 9, 1, 2, 3]


def test_short_matches_may_be_left_out() -> None:
    ids = [3, 8, 1, 2, 3]
    assert copied(ids, 2) == [8, 1] and copied(ids, 2, min_ngram=2) == []


@pytest.mark.parametrize(
    ("factor", "wanted"), [(0.1, 1), (0.5, 2), (1.0, 4), (1.4, 5), (9.0, 6)], ids=str
)
def test_a_draft_is_as_long_as_its_match_was(factor: float, wanted: int) -> None:
    """Four tokens agree, though three are enough to find the place."""
    ids = [9, 1, 2, 3, 4, 5, 6, 7, 8, 0, 1, 2, 3, 4]
    assert copied(ids, 6, factor=factor) == [5, 6, 7, 8, 0, 1][:wanted]


def test_a_match_that_reaches_the_start_of_the_text() -> None:
    assert copied([1, 2, 8, 8, 1, 2], 6, factor=1.0) == [8, 8]


@pytest.mark.parametrize(
    ("confidence", "wanted"), [(0.0, [5, 6, 7]), (0.3, [5, 6, 7]), (0.6, [5, 6]), (0.9, [5])]
)
def test_a_draft_ends_where_its_copies_part(confidence: float, wanted: list[int]) -> None:
    """1 2 stood three times: then 5 each time, 6 twice, 7 once."""
    ids = [1, 2, 5, 6, 7, 1, 2, 5, 6, 8, 1, 2, 5, 0, 1, 2]
    assert copied(ids, 3, confidence=confidence) == wanted


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"min_ngram": 4}, "min_ngram is 4"),
        ({"min_ngram": 0}, "min_ngram is 0"),
        ({"factor": 0}, "factor is 0"),
        ({"confidence": 1.5}, "confidence is 1.5"),
    ],
    ids=str,
)
def test_options_that_make_no_sense_are_named(options: dict, named: str) -> None:
    with pytest.raises(ValueError, match=named):
        PromptLookup(**options)


# ---- oracle and random -----------------------------------------------------------------------


def test_an_oracle_is_always_accepted() -> None:
    plain = run_rounds(TARGET, None, [0, 1], k=0, n=24)
    oracle = Oracle.of(trace_of(plain, [0, 1]))
    rounds = run_rounds(TARGET, oracle, [0, 1], k=5, n=24)
    assert trace_of(rounds).alpha == 1 and len(rounds) == 24 / 6
    assert list(oracle.propose([0, 2], 3, SOFT, Uniforms(0)).tokens) == []  # another text


def test_random_guesses_have_the_law_that_they_say() -> None:
    rounds = run_rounds(TARGET, RandomDrafter(9), [0], k=3, n=30, sampling=SOFT, rng=1)
    assert all(d.q == 1 / 9 for r in rounds for d in r.drafted)
    assert len({d.id for r in rounds for d in r.drafted}) == 9
    assert 0 < trace_of(rounds).alpha < 0.6
    with pytest.raises(ValueError, match="vocab_size is 0"):
        RandomDrafter(0)


# ---- combined --------------------------------------------------------------------------------


@settings(max_examples=20)
@given(st.integers(0, 999), st.integers(1, 5), st.sampled_from([GREEDY, SOFT]))
def test_every_cache_is_a_true_prefix_in_every_round(seed: int, k: int, sampling: Sampling) -> None:
    """Whoever was asked or not: few tokens, so that both kinds of rounds happen."""
    target = random_model(4, seed)
    models = [ModelDrafter(drafting(target, s).scorer()) for s in (1, 2)]
    drafter = Combined(PromptLookup(2, min_ngram=2), Heard(models[0]), models[1])
    ids = [0, 1]
    for r in run_rounds_of(target, drafter, ids, k=k, n=25, sampling=sampling, rng=seed):
        ids += [token.id for token in r.written]
        for model in models:
            assert model.scorer.cached == ids[: model.length]
        assert r.lengths.drafter[1] == drafter.length <= len(ids) - 1


class Heard:
    """Asked, it only speaks in every other round."""

    def __init__(self, own: ModelDrafter) -> None:
        self.own, self.rounds = own, 0
        self.prefill, self.rollback, self.close = own.prefill, own.rollback, own.close
        self.vocab_size = own.vocab_size

    @property
    def length(self) -> int:
        return self.own.length

    def propose(self, *asked) -> Draft:
        self.rounds += 1
        return self.own.propose(*asked) if self.rounds % 2 else Draft([], passes=1)


def run_rounds_of(target, drafter, ids, **options):
    """Round by round, so that caches can be looked at in between."""
    options["max_new_tokens"] = options.pop("n")
    return speculate(target.scorer(), drafter, list(ids), tops=0, **options)


def test_the_first_who_speaks_has_the_round_and_passes_add_up() -> None:
    model = ModelDrafter(random_model(9, 1).scorer())
    drafter = Combined(PromptLookup(), Heard(ModelDrafter(random_model(9, 2).scorer())), model)
    copy = drafter.propose([1, 2, 1, 2], 2, SOFT, Uniforms(0))
    assert (list(copy.tokens), copy.laws, copy.passes) == ([1, 2], None, 0)
    assert drafter.propose([1, 2, 3], 2, SOFT, Uniforms(0)).passes == 2
    third = drafter.propose([1, 2, 3], 2, SOFT, Uniforms(0))  # the second is silent now
    assert third.passes == 3 and third.laws.shape == (2, 9)
    assert not drafter.branches and Combined(PromptLookup(), Tree(model)).branches


def test_the_prompt_is_cached_by_all_and_all_are_closed() -> None:
    models = [random_model(9, s) for s in (1, 2)]
    drafter = Combined(PromptLookup(), *(ModelDrafter(m.scorer()) for m in models))
    drafter.prefill([1, 2, 3])
    assert [m.scorers[0].cached for m in models] == [[1, 2, 3]] * 2
    drafter.close()
    assert all(m.scorers[0].closed for m in models)


def test_what_cannot_be_combined_is_named() -> None:
    with pytest.raises(ValueError, match="no drafter"):
        Combined()
    with pytest.raises(ValueError, match=r"\[7, 9\] tokens"):
        Combined(RandomDrafter(7), RandomDrafter(9))


def test_no_cache_is_length_zero() -> None:
    assert Combined(PromptLookup(), FixedDrafter([1])).length == 0
