"""A k that follows what became of the drafts, and drafts that end early: the law is the target's.

Over all uniforms: whole runs of several rounds, whose lengths depend on what happened in them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from itertools import product
from math import prod
from random import Random

import numpy as np
import pytest

from specdec import decode, rule
from specdec.adaptive import Constant, Ema, Heuristic, Policy
from specdec.drafters import Draft, ModelDrafter
from specdec.law import Sampling
from tests.branching import every_generation
from tests.pairs_np import LawScorer
from tests.test_exact_rules import ids_alone

pytestmark = pytest.mark.long

PROMPT, V, N = [0, 1], 2, 3
EVERY_RULE = pytest.mark.parametrize("which", rule.RULES)


def laws(seed: int):
    """A law [V] after every prefix; zeros happen."""

    @cache
    def law(prefix: tuple[int, ...]) -> np.ndarray:
        rng = Random(f"{seed} {prefix}")
        weights = np.array([rng.choice([0, 1, 3, 5]) for _ in range(V)], float)
        weights[rng.randrange(V)] += 1
        return weights / weights.sum()

    return law


def error(
    seed: int, drafter: Callable, policy: Policy, which: str, monkeypatch
) -> tuple[float, set[tuple[int, ...]]]:
    """Largest distance of a chance of N tokens from the target's, and the k's of every run."""
    shapes = set()

    def run() -> tuple[int, ...]:
        loop = decode.speculate(
            LawScorer(laws(seed), V),
            drafter(seed),
            PROMPT,
            k=policy,
            sampling=Sampling(temperature=1.0),
            max_new_tokens=N,
            rule=which,
            tops=0,
        )
        rounds = list(loop)
        shapes.add(tuple(r.k for r in rounds))
        return tuple(token.id for r in rounds for token in r.written)

    monkeypatch.setattr(decode, "record", ids_alone)
    found = dict.fromkeys(product(range(V), repeat=N), 0.0)
    for chance, text in every_generation(run, monkeypatch):
        found[text] += chance
    wanted = {
        text: prod(laws(seed)((*PROMPT, *text[:i]))[x] for i, x in enumerate(text))
        for text in found
    }
    return max(abs(found[text] - wanted[text]) for text in found), shapes


def soft(seed: int) -> ModelDrafter:
    """Draws from its law."""
    return ModelDrafter(LawScorer(laws(seed + 1000), V))


def unsure(seed: int) -> ModelDrafter:
    """And stops after a token whose law is about even."""
    return ModelDrafter(LawScorer(laws(seed + 1000), V), confidence=0.72)


@dataclass(frozen=True)
class Swinging:
    """Nothing after a rejection, two after a whole draft, one after no draft."""

    k: int = 1
    most: int = 2

    def after(self, accepted: int, rejected: int) -> Swinging:
        return replace(self, k=0 if rejected else 2 if accepted else 1)


POLICIES = {
    "swinging": Swinging(),
    "heuristic": Heuristic(k=1, most=3),
    "ema": Ema(c=0.3, v=0.1, most=2, accepted=0.7, judged=1.0),
}


@pytest.mark.parametrize("name", POLICIES)
@EVERY_RULE
def test_three_tokens_under_a_policy_have_exactly_the_targets_law(
    which: str, name: str, monkeypatch
) -> None:
    shapes = set()
    for seed in range(2):
        wrong, seen = error(seed, soft, POLICIES[name], which, monkeypatch)
        assert wrong < 1e-12
        shapes |= seen
    assert len({ks[:2] for ks in shapes if len(ks) > 1}) > 1  # k did follow what happened


@pytest.mark.parametrize("policy", [Constant(2), Constant(3), Swinging()], ids=str)
@EVERY_RULE
def test_drafts_that_end_where_the_model_is_unsure_are_lossless(
    which: str, policy: Policy, monkeypatch
) -> None:
    for seed in range(2 if policy.most < 3 else 1):
        assert error(seed, unsure, policy, which, monkeypatch)[0] < 1e-12


# ---- and what would not be -------------------------------------------------------------------


class Peeking(ModelDrafter):
    """Drafts nothing if the last token of its last draft was 0, though it was discarded."""

    last = 1

    def propose(self, context, k, sampling, uniforms) -> Draft:
        if self.last == 0:
            self.last = 1
            return Draft([])
        draft = super().propose(context, k, sampling, uniforms)
        self.last = draft.tokens[-1]
        return draft


def test_a_k_that_looked_at_discarded_tokens_would_bend_the_law(monkeypatch) -> None:
    """Their places meet the same numbers again; a policy therefore sees two counts, no tokens."""

    def peeking(seed: int) -> Peeking:
        return Peeking(LawScorer(laws(seed + 1000), V))

    errors = {
        which: max(error(s, peeking, Constant(2), which, monkeypatch)[0] for s in range(2))
        for which in rule.RULES
    }
    assert errors["pq"] > 0.01
    assert errors["block"] < 1e-12  # other numbers in every round
    assert errors["match"] < 1e-12  # the target draws every token itself


@pytest.mark.parametrize(("keeps", "wanted"), [(True, [0.5, 0.5]), (False, [0.55, 0.45])])
def test_an_unsure_token_that_is_dropped_bends_the_law(
    keeps: bool, wanted: list[float], monkeypatch
) -> None:
    """p = [.5, .5], q = [.9, .1]: whoever drops a token for q < .5 writes [.55, .45]."""

    class Dropping(ModelDrafter):
        def propose(self, context, k, sampling, uniforms) -> Draft:
            draft = super().propose(context, k, sampling, uniforms)
            return draft if keeps or draft.laws[0, draft.tokens[0]] >= 0.5 else Draft([])

    def run() -> int:
        loop = decode.speculate(
            LawScorer(lambda prefix: [0.5, 0.5], 2),
            Dropping(LawScorer(lambda prefix: [0.9, 0.1], 2)),
            [0],
            k=1,
            sampling=Sampling(1.0),
            max_new_tokens=1,
            tops=0,
        )
        return next(loop).written[0].id

    monkeypatch.setattr(decode, "record", ids_alone)
    law = np.zeros(2)
    for chance, first in every_generation(run, monkeypatch):
        law[first] += chance
    assert law == pytest.approx(wanted, abs=1e-12)
