"""Two models with one vocabulary: what is compared, and tables that are padded differently."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from specdec import decode, rule
from specdec.drafters import ModelDrafter
from specdec.law import Sampling
from specdec.models import vocabulary
from specdec.models.vocabulary import Fitted, compare
from specdec.trace import Token
from tests.branching import every_generation
from tests.pairs_np import LawScorer, Model, drafting, ids_of, plain_ids, random_model, run_rounds
from tests.tiny import save_tokenizer

pytestmark = pytest.mark.long


def names(*tokens: str, added: tuple[str, ...] = ()) -> Any:
    """A tokenizer of these tokens, the last ones added (special ones)."""
    ids = {token: i for i, token in enumerate(tokens + added)}
    return SimpleNamespace(
        get_vocab=lambda: ids, get_added_vocab=lambda: {token: ids[token] for token in added}
    )


@pytest.mark.parametrize(
    ("target", "draft", "words"),
    [
        (names("a", "b", "c"), names("a", "x", "c"), "1 ids .* id 1 is 'b' to the target, 'x' to"),
        (names("a", "b", "c"), names("b", "a", "c"), "2 ids .* id 0 is 'a' to the target, 'b' to"),
        (names("a", "b", "c"), names("a", "b"), "3 tokens, the drafter's 2, .*'c' .*, nothing to"),
        (names("a", "b"), names("a", "b", "c"), "2 tokens, .* 3, .* id 2 is nothing to the target"),
        (names("a", added=("<s>",)), names("a", added=("<e>",)), "id 1 is '<s>' .* '<e>'"),
        (names("a", added=("<s>",)), names("a", "<s> "), "id 1 is '<s>' .* '<s> '"),
    ],
)
def test_what_differs_between_two_tokenizers_is_said(target: Any, draft: Any, words: str) -> None:
    """Size alone says nothing: the first three have as many tokens, or a part of them."""
    with pytest.raises(ValueError, match=f"tokenizers differ: .*{words}"):
        compare(target, draft)


def test_equal_tokenizers_pass_and_so_do_added_tokens_that_one_lacks() -> None:
    compare(names("a", "b"), names("a", "b"))
    compare(names("a", added=("<s>", "<e>")), names("a", added=("<s>",)))
    compare(names("a"), names("a", added=("<s>",)))


def test_tokenizers_on_disk_are_compared_by_their_strings(tmp_path: Path) -> None:
    for name, first in (("one", "w0"), ("two", "w0"), ("other", "W0")):
        save_tokenizer(tmp_path / name, 40, first)
    one, two, other = (
        vocabulary.read_tokenizer(tmp_path / name) for name in ("one", "two", "other")
    )
    compare(one, two)
    assert len(one) == len(other) == 40
    with pytest.raises(ValueError, match="id 0 is 'w0' to the target, 'W0' to the drafter"):
        compare(one, other)


# ---- padded tables ---------------------------------------------------------------------------

V, EOS = 4, 1
PROMPT = [0, 3, 0]


def laws(seed: int, size: int):
    """A law [size] after every prefix; zeros happen."""

    @cache
    def law(prefix: tuple[int, ...]) -> np.ndarray:
        rng = Random(f"{seed} {prefix}")
        weights = np.array([rng.choice([0, 1, 2, 3]) for _ in range(size)], float)
        weights[rng.randrange(size)] += 1
        return weights / weights.sum()

    return law


class Listening:
    """A model given by its laws, whose scorers remember what they were fed."""

    def __init__(self, seed: int, size: int) -> None:
        self.laws, self.vocab_size, self.token_ids = laws(seed, size), size, None
        self.name, self.heard = "small", set()

    def scorer(self, rows: int | None = None, capacity: int | None = None) -> Any:
        def law(prefix: tuple[int, ...]) -> np.ndarray:
            self.heard |= set(prefix)
            return self.laws(prefix)

        return LawScorer(law, self.vocab_size)


@pytest.mark.parametrize("which", rule.RULES)
@pytest.mark.parametrize(("k", "size"), [(1, 2), (1, 3), (1, 5), (2, 2), (2, 3)])
def test_a_table_of_another_length_leaves_the_text_to_the_target(
    k: int, size: int, which: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The law of two tokens, over all draws of all rounds, is p exactly."""
    p, model = laws(7, V), Listening(3, size)
    fitted = Fitted(model, V, EOS)
    monkeypatch.setattr(
        decode, "record", lambda what, **_: ((), tuple(Token(x, "") for x in what.new[: what.kept]))
    )

    def run() -> list[int]:
        drafter = ModelDrafter(fitted.scorer(), V)
        options = {"k": k, "n": 2, "sampling": Sampling(temperature=1.0), "rule": which}
        return ids_of(run_rounds(LawScorer(p, V), drafter, PROMPT, **options))

    law = np.zeros((V, V))
    for chance, (first, second) in every_generation(run, monkeypatch):
        law[first, second] += chance
    want = [p(tuple(PROMPT))[a] * p((*PROMPT, a)) for a in range(V)]
    assert np.abs(law - want).max() < 1e-12
    assert law[:, V - 1].sum() > 0.05  # the id that the smaller ones lack is written
    assert max(model.heard) < size
    assert EOS in model.heard


def test_what_the_drafter_lacks_has_no_chance_and_is_fed_as_its_eos() -> None:
    small = random_model(6)
    scorer = Fitted(small, 9, eos=2).scorer()
    drafter = ModelDrafter(scorer, 9)
    draft = drafter.propose([1, 7, 8, 4], 3, Sampling(temperature=1.0), lambda at, why: 0.6)
    assert draft.laws.shape == (3, 9)
    assert not draft.laws[:, 6:].any()
    assert small.scorers[0].cached[:4] == [1, 2, 2, 4]
    want = Sampling(temperature=1.0).law(small.after([1, 2, 2, 4]))
    assert draft.laws[0, :6].tolist() == want.tolist()


def test_what_the_target_lacks_is_cut_off() -> None:
    small = random_model(9)
    scorer = Fitted(small, 6, eos=2).scorer()
    assert scorer.score([1, 5]).tolist() == [row[:6] for row in (small.after([1]).tolist(),)] + [
        small.after([1, 5]).tolist()[:6]
    ]
    with pytest.raises(ValueError, match=r"id 7 is outside the vocabulary \[0, 6\)"):
        scorer.score([7])


def test_a_reduced_vocabulary_is_fitted_too() -> None:
    small = Model(9, random_model(9).logits, token_ids=[0, 3, 5, 8])
    fitted = Fitted(small, 7, eos=0)
    assert fitted.token_ids.tolist() == [0, 3, 5]
    assert fitted.scorer().score([1]).tolist() == [random_model(9).after([1])[[0, 3, 5]].tolist()]


def test_only_a_table_of_another_length_is_fitted() -> None:
    small = random_model(6, name="small", context=12)
    assert vocabulary.fit(small, 6, 0) is small
    fitted = vocabulary.fit(small, 8, 0)
    assert (fitted.vocab_size, fitted.name, fitted.context) == (8, "small", 12)
    assert fitted.scorer().context == 12
    with pytest.raises(ValueError, match=r"eos is 6; it must be in \[0, 6\)"):
        Fitted(small, 8, 6)


def test_greedy_text_is_the_targets_whatever_the_drafter_lacks() -> None:
    target = random_model(9)
    good = drafting(target, error=0.5)
    small = Model(5, lambda state, n: good.logits(state, n)[:5])
    rounds = run_rounds(target, ModelDrafter(Fitted(small, 9, 0).scorer(), 9), [0], k=4, n=60)
    assert ids_of(rounds) == plain_ids(target, [0], 60)
    assert {5, 6, 7, 8} & set(ids_of(rounds))
    assert sum(r.accepted for r in rounds) > 5
