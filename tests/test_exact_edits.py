"""Speculation under penalties, bias and constraints: exactly the target's own text, all rules.

Every position has its own history, the draft before it included, and a rejection leaves no trace.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from random import Random

import numpy as np
import pytest

from specdec import decode, rule, tail
from specdec.constraint import Constraint, NothingAllowed
from specdec.drafters import FixedDrafter, ModelDrafter
from specdec.law import Sampling
from tests.branching import every_generation
from tests.pairs_np import (
    DRAFTERS,
    LawScorer,
    ids_of,
    make_drafter,
    random_model,
    run_rounds,
    scripted,
    trace_of,
)
from tests.test_exact_rules import ids_alone
from tests.test_scores import slowly

pytestmark = pytest.mark.long

PROMPT, V = [0, 1, 2, 0], 3
CHANGING = Constraint("never the same twice", lambda w: {0, 1, 2} - set(w[-1:]))
EDITS = {
    "penalties": {
        "repetition_penalty": 1.7,
        "presence_penalty": 0.6,
        "frequency_penalty": 0.9,
        "logit_bias": {1: 0.8},
    },
    "allowed": {"allowed": {0, 2}, "frequency_penalty": 1.1},
    "constraint": {"constraint": CHANGING, "repetition_penalty": 0.6},
}
EVERY_EDIT = pytest.mark.parametrize("edit", EDITS)
EVERY_RULE = pytest.mark.parametrize("which", rule.RULES)


@cache
def laws(seed: int, smallest: int):
    """A law [V] after every prefix, of whole weights."""

    @cache
    def law(prefix: tuple[int, ...]) -> np.ndarray:
        rng = Random(f"{seed} {prefix}")
        weights = np.array([rng.choice([smallest, 1, 2, 5]) for _ in range(V)], float)
        weights[rng.randrange(V)] += 1
        return weights / weights.sum()

    return law


def exact(seed: int, sampling: Sampling) -> np.ndarray:
    """The target's law [V, V] of two tokens, by the slow definition of every edit."""
    sampling = replace(sampling, prompt_length=len(PROMPT))

    def law(prefix: list[int]) -> np.ndarray:
        scores = slowly(np.log(laws(seed, 1)(tuple(prefix))), prefix, sampling)
        return np.exp(scores) / np.exp(scores).sum()

    return np.array([law(PROMPT)[a] * law([*PROMPT, a]) for a in range(V)])


def two_tokens(seed: int, drafter, which: str, k: int, sampling: Sampling, monkeypatch):
    """The law [V, V] of the first two tokens that the loop writes."""

    def run() -> list[int]:
        loop = decode.speculate(
            LawScorer(laws(seed, 1), V),
            drafter(seed),
            PROMPT,
            k=k,
            sampling=sampling,
            max_new_tokens=2,
            rule=which,
            tops=0,
        )
        return [token.id for r in loop for token in r.written]

    monkeypatch.setattr(decode, "record", ids_alone)
    law = np.zeros((V, V))
    for chance, (first, second) in every_generation(run, monkeypatch):
        law[first, second] += chance
    return law


def soft(seed: int) -> ModelDrafter:
    """Draws from its law, which has zeros: sometimes it knows nothing that is allowed."""
    return ModelDrafter(LawScorer(laws(seed + 1000, 0), V))


DRAFTS = {"soft": soft, "one-hot": lambda seed: FixedDrafter([seed % V, (seed + 1) % V, seed % V])}


@EVERY_EDIT
@EVERY_RULE
@pytest.mark.parametrize("drafter", DRAFTS)
def test_two_tokens_over_two_rounds_have_exactly_the_edited_law(
    drafter: str, which: str, edit: str, monkeypatch
) -> None:
    sampling = Sampling(1.0, **EDITS[edit])
    for seed, k in ((0, 1), (1, 1 if (drafter, which) == ("soft", "match") else 2)):
        law = two_tokens(seed, DRAFTS[drafter], which, k, sampling, monkeypatch)
        assert np.abs(law - exact(seed, sampling)).max() < 1e-12
        assert np.abs(law - exact(seed, Sampling(1.0))).max() > 0.01  # the edits do something


@EVERY_RULE
def test_the_enumeration_would_see_counts_that_forget_the_draft(which: str, monkeypatch) -> None:
    """The fault of engines whose verify pass counts only what was written before the round."""

    def stale(self, rows, history, draft):
        return [self.law(row, history) for row in rows], None

    monkeypatch.setattr(Sampling, "laws", stale)
    sampling = Sampling(1.0, **EDITS["penalties"])
    law = two_tokens(1, DRAFTS["one-hot"], which, 2, sampling, monkeypatch)
    assert np.abs(law - exact(1, sampling)).max() > 0.01


# ---- greedy ----------------------------------------------------------------------------------

WIDE = {
    "penalties": {
        "repetition_penalty": 1.5,
        "presence_penalty": 0.5,
        "frequency_penalty": 0.4,
        "logit_bias": {3: 1.0},
    },
    "repetition": {"repetition_penalty": 1.5},
    "allowed": {"allowed": {1, 2, 5}, "presence_penalty": 1.0},
    "constraint": {
        "constraint": Constraint("up and down", lambda w: range(4) if len(w) % 2 else range(3, 7))
    },
}


def plainly(target, prompt: list[int], sampling: Sampling, n: int) -> list[int]:
    """Greedy decoding with no cache, no engine, and the slow definition."""
    ids, sampling = list(prompt), replace(sampling, prompt_length=len(prompt))
    for _ in range(n):
        ids.append(int(np.argmax(slowly(target.after(ids), ids, sampling))))
    return ids[len(prompt) :]


@pytest.mark.parametrize("edit", WIDE)
@pytest.mark.parametrize("drafter", DRAFTERS)
def test_greedy_speculation_is_plain_decoding_under_every_edit(drafter: str, edit: str) -> None:
    target, prompt, sampling = random_model(7, seed=4), [1, 2, 1], Sampling(**WIDE[edit])
    plain = plainly(target, prompt, sampling, 20)
    assert plain != plainly(target, prompt, Sampling(), 20)
    assert ids_of(run_rounds(target, None, prompt, k=0, n=20, sampling=sampling)) == plain
    for which, k in zip(rule.RULES, (2, 4, 5)):
        made = make_drafter(drafter, target)
        rounds = run_rounds(target, made, prompt, k=k, n=20, sampling=sampling, rule=which)
        assert ids_of(rounds) == plain


@pytest.mark.parametrize("edit", WIDE)
def test_a_model_that_drafts_for_itself_is_always_accepted(edit: str) -> None:
    """Its q has the same history as p, position by position."""
    target = random_model(7, seed=4)
    for sampling in (Sampling(**WIDE[edit]), Sampling(1.0, **WIDE[edit])):
        rounds = run_rounds(target, target, [1, 2, 1], k=4, n=40, sampling=sampling)
        assert [r.accepted for r in rounds] == [4] * 8


@pytest.mark.parametrize("edit", WIDE)
def test_match_writes_what_plain_decoding_samples(edit: str) -> None:
    target, sampling = random_model(7, seed=4), Sampling(0.9, top_k=4, **WIDE[edit])
    for seed in range(3):
        options = {"n": 25, "sampling": sampling, "rng": seed}
        plain = ids_of(run_rounds(target, None, [1, 2], k=0, **options))
        for drafter in ("good", "lookup", "reduced"):
            made = make_drafter(drafter, target)
            rounds = run_rounds(target, made, [1, 2], k=3, rule="match", **options)
            assert ids_of(rounds) == plain


def test_a_rejected_token_is_not_counted() -> None:
    """The drafter says 2 in every round, it is never right, and 2 comes when its turn does."""
    target = scripted(4, [0, 0, 1], prompt=1)  # 50 above the rest, then a penalty of 30 each time
    sampling = Sampling(frequency_penalty=30.0)
    plain = ids_of(run_rounds(target, None, [3], k=0, n=12, sampling=sampling))
    rounds = run_rounds(target, FixedDrafter([2]), [3], k=1, n=12, sampling=sampling)
    assert ids_of(rounds) == plain == plainly(target, [3], sampling, 12)
    assert 2 in plain and sum(r.rejected for r in rounds) > 3


# ---- where a constraint ends a draft ---------------------------------------------------------

IN_TURN = Constraint(
    "0 and 1 in turn, or nothing",
    lambda w: {len(w) % 2} if all(x == i % 2 for i, x in enumerate(w)) else (),
)


@EVERY_RULE
@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_a_draft_outside_the_grammar_ends_at_its_first_wrong_token(
    which: str, temperature: float
) -> None:
    """The rule has no answer after [0, 0]; no text of the target gets there."""
    target, sampling = random_model(4), Sampling(temperature, constraint=IN_TURN)
    rounds = run_rounds(
        target, FixedDrafter([0, 0, 1, 0]), [3], k=4, n=9, sampling=sampling, rule=which, tops=3
    )
    assert ids_of(rounds) == [0, 1, 0, 1, 0, 1, 0, 1, 0]
    first = rounds[0]
    assert [t.verdict for t in first.drafted] == ["accepted", "rejected"]
    assert first.drafted[1].p == 0


@EVERY_RULE
def test_nothing_need_be_allowed_after_the_end_of_the_text(which: str) -> None:
    """The drafter goes on behind the end token, where plain decoding asks nothing."""
    rule_of = Constraint("two, then 3 ends it", lambda w: {3} if len(w) == 2 else {0} - set(w[2:]))
    ending = Constraint("ends", lambda w: () if 3 in w else rule_of.allows(w))
    for k in range(5):
        for drafter in (FixedDrafter([0, 0, 3, 0, 0]), random_model(4, seed=5)):
            rounds = run_rounds(
                random_model(4),
                drafter,
                [1],
                k=k,
                n=9,
                sampling=Sampling(1.0, constraint=ending),
                rule=which,
                stop_ids=[3],
            )
            assert ids_of(rounds) == [0, 0, 3]
            assert rounds[-1].stop_reason == "eos"


@EVERY_RULE
@pytest.mark.parametrize("k", [0, 1, 2, 3, 5])
def test_a_text_that_may_not_go_on_is_an_error_in_words(which: str, k: int) -> None:
    """With and without drafts it comes after the same two tokens."""
    dead = Constraint("two", lambda w: {0} if len(w) < 2 else ())
    written = []
    with pytest.raises(NothingAllowed, match="After 2 written tokens the constraint 'two'"):
        for r in decode.speculate(
            random_model(4).scorer(),
            FixedDrafter([0] * 5),
            [1],
            k=k,
            sampling=Sampling(constraint=dead),
            max_new_tokens=9,
            rule=which,
        ):
            written += [token.id for token in r.written]
    assert written == [0, 0][: len(written)]


def test_a_constraint_that_may_end_early_is_lossless_under_block_verification(monkeypatch) -> None:
    """No draft goes on behind a 2: its last test is the last one there, not one in between."""
    ends = Constraint("nothing after 2", lambda w: () if 2 in w else {0, 1, 2})
    sampling, free = Sampling(1.0, constraint=ends), Sampling(1.0)
    monkeypatch.setattr(decode, "record", ids_alone)
    for seed in range(3):
        law = np.zeros(V)

        def run(seed: int = seed) -> int:
            loop = decode.speculate(
                LawScorer(laws(seed, 1), V),
                FixedDrafter([seed % V, 2, 0]),
                PROMPT,
                k=3,
                sampling=sampling,
                max_new_tokens=9,
                stop_ids=[2],
                rule="block",
            )
            return next(loop).written[0].id

        for chance, first in every_generation(run, monkeypatch):
            law[first] += chance
        assert np.abs(law - exact(seed, free).sum(1)).max() < 1e-12


@pytest.mark.parametrize("field", ["logit_bias", "allowed"])
def test_an_id_outside_the_vocabulary_is_refused_before_any_pass(field: str) -> None:
    edit = {"logit_bias": {7: 1.0}} if field == "logit_bias" else {"allowed": [1, 7]}
    scorer = random_model(7).scorer()
    with pytest.raises(ValueError, match=rf"{field} has the id 7; the vocabulary is \[0, 7\)"):
        run_rounds(scorer, None, [1], k=0, n=3, sampling=Sampling(**edit))
    assert not scorer.fed


# ---- the discarded tail, once more -----------------------------------------------------------


@pytest.mark.parametrize("edit", WIDE)
def test_a_mended_tail_has_the_edits_of_its_own_history(edit: str) -> None:
    target, prompt, sampling = random_model(7, seed=4), [1, 2, 1], Sampling(1.0, **WIDE[edit])
    rounds = run_rounds(
        target, make_drafter("bad", target), prompt, k=4, n=20, sampling=sampling, rng=3
    )
    trace = trace_of(rounds, prompt)
    trace = replace(trace, settings=replace(trace.settings, sampling=sampling, seed=3))
    bound, ids, seen = replace(sampling, prompt_length=len(prompt)), list(prompt), 0
    for r in tail.mend(target.scorer(), trace, tops=0).rounds:
        ids += [token.id for token in r.written]
        for i, token in enumerate(r.drafted[r.accepted + 1 :] if r.rejected else ()):
            history = ids + [t.id for t in r.drafted[r.accepted + 1 :][:i]]
            if token.mended:
                law = bound.law(target.after(history), history)
                assert token.mended.p == pytest.approx(law[token.id])
                seen += 1
    assert seen > 5


def test_a_tail_that_the_constraint_forbids_is_not_looked_at_again() -> None:
    target = random_model(4)
    dead = Constraint("0, then the end", lambda w: {0} if not w else {3} if w == [0] else ())
    for constraint, drafted in ((IN_TURN, [1, 0, 1]), (dead, [2, 3, 0])):
        sampling = Sampling(1.0, constraint=constraint)
        rounds = run_rounds(
            target, FixedDrafter(drafted), [3], k=3, n=2, sampling=sampling, stop_ids=[3]
        )
        trace = trace_of(rounds, [3])
        trace = replace(trace, settings=replace(trace.settings, sampling=sampling))
        mended = tail.mend(target.scorer(), trace)
        assert [len(r.drafted) for r in mended.rounds] == [len(r.drafted) for r in trace.rounds]
