"""What becomes of a draft: a chain is judged left to right, a tree sibling after sibling."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from specdec import rule as rules
from specdec import tree, tree_rule
from specdec.constraint import NothingAllowed
from specdec.drafters import Draft
from specdec.law import Sampling
from specdec.uniforms import REPLACE, TEST


@dataclass(frozen=True)
class Judged:
    """A draft after its tests; the tokens of `path` were accepted, in this order."""

    rule: str
    tokens: list[int]  # [n] drafted
    parents: list[int] | None  # [n] of a tree; None: a chain
    q_laws: np.ndarray | None  # [n, V] the drafter's; None: it was sure
    laws: list[np.ndarray]  # [n + 1] of [V], the target's: after the text, and after each token
    tests: list[float]  # [n] uniforms of the tests
    path: Sequence[int]
    failed: Sequence[int]  # judged, and not kept
    law: np.ndarray  # [V] from which the target's own token is drawn
    corrects: bool  # whether that replaces a rejected token
    dead_end: NothingAllowed | None = None  # the error if the text is to go on after the path


def judge(
    draft: Draft,
    tokens: list[int],
    logits: np.ndarray,
    ids: list[int],
    sampling: Sampling,
    rule: str,
    numbers: Callable,
) -> Judged:
    """The fate of `tokens` [n] after the text `ids`, from the target's logits [n + 1, V]."""
    if draft.parents is not None:
        return _judge_tree(draft, tokens, logits, ids, sampling, rule, numbers)
    laws, dead_end = sampling.laws(logits, ids, tokens)
    tokens = tokens[: len(laws) - 1]  # a draft ends where nothing may follow
    n, purpose = len(tokens), REPLACE if rule == "match" else TEST  # match: the target's own draw
    tests = [numbers(len(ids) + i, purpose) for i in range(n)]
    [(_, accepted, law)] = rules.outcomes(laws, draft.laws, tokens, rule, tests)
    path, failed = range(accepted), range(accepted, min(accepted + 1, n))
    dead_end = dead_end if accepted == n else None
    return Judged(
        *(rule, tokens, None, draft.laws, laws, tests, path, failed, law, accepted < n, dead_end)
    )


def _judge_tree(draft, tokens, logits, ids, sampling, rule, numbers) -> Judged:
    parents = list(draft.parents)
    laws, dead_ends = _laws(sampling, logits, ids, tokens, parents)
    tests = [numbers(len(ids) + depth - 1, TEST, i) for depth, i in tree.places(parents)]
    alive = [None if parent in dead_ends else parent for parent in parents]
    [(_, path, law)] = tree_rule.outcomes(laws, draft.laws, tokens, alive, tests)
    last = path[-1] if path else -1
    return Judged(
        *(rule, tokens, parents, draft.laws, laws, tests, path),
        failed=tree_rule.failed(alive, path),
        law=law,
        corrects=last in alive,
        dead_end=dead_ends.get(last),
    )


def _laws(
    sampling: Sampling, rows: np.ndarray, ids: list[int], tokens: list[int], parents: list[int]
) -> tuple[list[np.ndarray], dict[int, NothingAllowed]]:
    """The laws [n + 1] after the text and after each node, and the nodes after which nothing may
    follow: their law is one without the constraint, as in `Sampling.laws`."""
    laws, dead_ends = [], {}
    free = replace(sampling, allowed=None, constraint=None)
    for node, row in enumerate(rows, start=-1):
        history = ids + [tokens[i] for i in tree.path(parents, node)]
        try:
            laws.append(sampling.law(row, history))
        except NothingAllowed as error:
            if node < 0:
                raise
            dead_ends[node] = error
            laws.append(free.law(row, history))
    return laws, dead_ends
