"""Lengths are the only state of a cache, and what cannot go back never goes on."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from specdec.decode import speculate
from specdec.drafters import ModelDrafter
from specdec.law import Sampling
from tests.pairs_np import (
    GREEDY,
    SOFT,
    Scorer,
    distinct_target,
    drafting,
    ids_of,
    make_drafter,
    plain_ids,
    random_model,
    run_rounds,
    scripted,
    trace_of,
)

BOTH = pytest.mark.parametrize("sampling", [GREEDY, SOFT], ids=["greedy", "sampling"])


def test_trims_of_both_caches() -> None:
    """k = 4: of one accepted the target forgets 3 and the drafter 2; of four neither forgets."""
    for accepted, trims in ((0, (4, 3)), (1, (3, 2)), (2, (2, 1)), (3, (1, 0)), (4, (0, 0))):
        target, script = distinct_target()
        wrong = [*script[:accepted], 5, 5, 5, 5, 5]
        scorer, draft = target.scorer(), scripted(64, wrong, prompt=2).scorer()
        loop = speculate(
            scorer, ModelDrafter(draft), [0, 1], k=4, sampling=GREEDY, max_new_tokens=20
        )
        first = next(loop)
        assert first.accepted == accepted
        assert (sum(scorer.trims), sum(draft.trims)) == trims
        owed = 2 if accepted == 4 else 1
        assert first.lengths.target == (1, 2 + accepted)
        assert first.lengths.drafter == (1, 2 + accepted + 1 - owed)


class Uncached(Scorer):
    """Caches nothing: every pass is fed the whole sequence."""

    def score(self, tokens: Sequence[int], parents: None = None) -> np.ndarray:
        logits = super().score(tokens)
        self.length = 0
        return logits


@BOTH
def test_cache_on_is_cache_off(sampling: Sampling) -> None:
    target, options = random_model(9, seed=2), {"k": 4, "n": 50, "sampling": sampling, "rng": 3}
    small = drafting(target)
    cached = run_rounds(target, small, [1, 2, 3], **options)
    bare = run_rounds(Uncached(target, 99), ModelDrafter(Uncached(small, 99)), [1, 2, 3], **options)
    assert ids_of(cached) == ids_of(bare)
    assert [r.drafted for r in cached] == [r.drafted for r in bare]
    assert len(ids_of(cached)) == 50


class Stateful(Scorer):
    """A recurrent state: it says that it cannot go back."""

    def rollback(self, length: int) -> None:
        raise ValueError("This state cannot go back.")


class Deaf(Scorer):
    """Its trim does nothing and says nothing."""

    def rollback(self, length: int) -> None:
        pass


class Forgetful(Scorer):
    """Asked to roll back it starts anew."""

    def rollback(self, length: int) -> None:
        self.length = 0


class Forward(Scorer):
    """It has no rollback at all."""

    rollback = property(doc="absent")  # hasattr() is False


@pytest.mark.parametrize(
    ("who", "kind"),
    [
        ("target", Stateful),
        ("target", Deaf),
        ("target", Forgetful),
        ("target", Forward),
        ("drafter", Stateful),
        ("drafter", Deaf),
        ("drafter", Forgetful),
    ],
)
def test_a_cache_that_cannot_go_back_never_goes_on(kind: type, who: str) -> None:
    target, bad = random_model(9, seed=2), random_model(9, seed=50)
    scorer, draft = target.scorer(), bad.scorer()
    if who == "target":
        scorer = kind(target, 99)
    else:
        draft = kind(bad, 99)
    written = []
    with pytest.raises(ValueError, match="back"):
        for r in speculate(
            scorer, ModelDrafter(draft), [1, 2], k=3, sampling=GREEDY, max_new_tokens=30
        ):
            written += [token.id for token in r.written]
    assert written == plain_ids(target, [1, 2], 30)[: len(written)]


@pytest.mark.parametrize(
    "kind", [Stateful, Deaf, Forgetful, Forward], ids=lambda kind: kind.__name__
)
def test_a_cache_that_cannot_go_back_serves_where_nothing_is_taken_back(kind: type) -> None:
    """Plain decoding, and a drafter that is always right until the cut."""
    target = random_model(9, seed=2)
    want = plain_ids(target, [1, 2], 8)
    assert ids_of(run_rounds(kind(target, 99), None, [1, 2], k=0, n=8)) == want
    assert ids_of(run_rounds(kind(target, 99), target, [1, 2], k=3, n=8)) == want


class NoRepeat(Sampling):
    """A setting that looks back: the last three tokens are forbidden."""

    def law(
        self, logits: np.ndarray, history: Sequence[int] = (), token_ids: None = None
    ) -> np.ndarray:
        logits = logits.copy()
        logits[list(history[-3:])] = -np.inf
        return super().law(logits, history, token_ids)


@pytest.mark.parametrize("drafter", ["itself", "good", "bad", "lookup", "fixed", "swapping"])
def test_no_rejected_draft_changes_what_is_allowed_next(drafter: str) -> None:
    """Each row's law sees the prompt, what is written and the drafts before it, no more."""
    target = random_model(9, seed=2)
    for sampling in (NoRepeat(), NoRepeat(1.0)):
        rounds = run_rounds(
            target, make_drafter(drafter, target), [1, 2, 3], k=4, n=40, sampling=sampling
        )
        ids = [1, 2, 3, *ids_of(rounds)]
        assert all(ids[i] not in ids[i - 3 : i] for i in range(3, len(ids)))
        if sampling.greedy:
            plain = run_rounds(target, None, [1, 2, 3], k=0, n=40, sampling=sampling)
            assert ids_of(rounds) == ids_of(plain)
        if drafter == "itself":
            assert trace_of(rounds).alpha == 1
