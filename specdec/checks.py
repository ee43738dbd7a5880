"""What a run refuses, in words, before it begins and after every draft."""

from __future__ import annotations

import numpy as np

from specdec import tree
from specdec.adaptive import Policy
from specdec.drafters import Draft
from specdec.law import Sampling
from specdec.rule import check


def check_counts(k: int, max_new_tokens: int) -> None:
    """ValueError unless both are whole numbers in their range; NaN is not."""
    if not (k >= 0 and k % 1 == 0):
        raise ValueError(f"k is {k}; it must be a whole number, 0 (plain decoding) or more.")
    if not (max_new_tokens >= 1 and max_new_tokens % 1 == 0):
        raise ValueError(
            f"max_new_tokens is {max_new_tokens}; it must be a whole number, 1 or more."
        )


def check_run(
    scorer,
    drafter,
    ids: list[int],
    k: int,
    max_new_tokens: int,
    context: float,
    rule: str,
    sampling: Sampling,
) -> None:
    """ValueError, before any pass, if the run cannot be what was asked for."""
    check(rule)
    check_counts(k, max_new_tokens)
    if scorer.length:
        raise ValueError(
            f"The scorer already holds {scorer.length} tokens; a run needs an empty one."
        )
    if getattr(drafter, "length", 0):
        raise ValueError(
            f"The drafter already holds {drafter.length} tokens; a run needs an empty one."
        )
    known = getattr(drafter, "vocab_size", scorer.vocab_size)
    if known != scorer.vocab_size:
        raise ValueError(
            f"The drafter knows {known} tokens and the target {scorer.vocab_size}: "
            "the two vocabularies differ."
        )
    if not ids:
        raise ValueError("The prompt has no tokens; at least one is needed.")
    wrong = [i for i in ids if not 0 <= i < scorer.vocab_size]
    if wrong:
        raise ValueError(
            f"Prompt id {wrong[0]} is outside the vocabulary [0, {scorer.vocab_size})."
        )
    for name, named in (
        ("logit_bias", [i for i, _ in sampling.logit_bias]),
        ("allowed", sampling.allowed or ()),
    ):
        if named and max(named) >= scorer.vocab_size:
            raise ValueError(
                f"{name} has the id {max(named)}; the vocabulary is [0, {scorer.vocab_size})."
            )
    if len(ids) >= context:
        raise ValueError(
            f"The prompt has {len(ids)} tokens; the model's context ends at {context}."
        )
    if hasattr(scorer, "prepare"):
        scorer.prepare(sampling)
    if getattr(drafter, "branches", False):
        _check_tree(scorer, rule)
    if k and drafter is None:
        raise ValueError(f"k is {k}, but there is no drafter; plain decoding is k = 0.")


def _check_tree(scorer, rule: str) -> None:
    """A tree needs a rule that knows siblings, and a cache that can keep one path of many."""
    if rule != "pq":
        raise ValueError(f"The rule is {rule!r}, but a tree of guesses is judged by 'pq' alone.")
    if not hasattr(scorer, "keep"):
        raise ValueError(
            f"{type(scorer).__name__} scores chains only: a tree of guesses needs a target whose "
            "cache can keep one path of it."
        )


def check_asked(policy: Policy) -> int:
    """k of the next round; ValueError unless it is a whole number up to the policy's most."""
    if not (0 <= policy.k <= policy.most and policy.k % 1 == 0):
        raise ValueError(
            f"The policy asks for k = {policy.k}; it must be whole, in [0, {policy.most}]."
        )
    return int(policy.k)


def check_draft(draft: Draft, asked: int, vocab_size: int, drafter=None) -> list[int]:
    """The drafted ids; ValueError if there are too many, or some that the target does not know."""
    n = len(draft.tokens)
    if draft.parents is not None:
        tree.check(draft.parents, n)
        if not getattr(drafter, "branches", False):
            raise ValueError(f"{type(drafter).__name__} gave a tree, but does not say `branches`.")
    if n > asked:
        raise ValueError(f"The drafter gave {n} tokens where at most {asked} were asked.")
    if any(not 0 <= token < vocab_size for token in draft.tokens):
        raise ValueError(
            f"The drafter gave an id outside the target's vocabulary [0, {vocab_size})."
        )
    if draft.laws is not None and np.shape(draft.laws) != (n, vocab_size):
        raise ValueError(
            f"The drafter's laws have shape {np.shape(draft.laws)}, not ({n}, {vocab_size}): "
            "the two vocabularies differ."
        )
    return [int(token) for token in draft.tokens]
