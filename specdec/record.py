"""From the arrays of a verified round to its record: verdicts, kinds, probabilities, tops."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from specdec import rule, tree, tree_rule
from specdec.accept import Judged
from specdec.trace import Drafted, Top, Verdict, Written


@dataclass(frozen=True)
class Verified:
    """What the loop knows after a verify pass."""

    judged: Judged
    new: list[int]  # accepted tokens and the target's own, before the cut
    kept: int  # of `new`, after the cut
    u: float  # drew the target's own token


def record(
    what: Verified, *, greedy: bool, tops: int
) -> tuple[tuple[Drafted, ...], tuple[Written, ...]]:
    """The drafted tokens with their verdicts and the written tokens with their kinds."""
    judged, heads = what.judged, _Heads(tops)
    drafted = _drafted(what, greedy, heads)
    path = [-1, *judged.path]
    written = tuple(
        _written(what, i, judged.laws[path[i] + 1], heads, greedy) for i in range(what.kept)
    )
    return drafted, written


class _Heads:
    """The heads of laws; one law is met by a drafted and a written token, and sorted once."""

    def __init__(self, tops: int) -> None:
        self.tops, self.known = tops, {}

    def __call__(self, law: np.ndarray) -> Top | None:
        if id(law) not in self.known:
            self.known[id(law)] = top(law, self.tops), law  # which stays alive: no other has its id
        return self.known[id(law)][0]


def top(law: np.ndarray, n: int) -> Top | None:
    """The n likeliest ids of a law [V] with their probabilities (texts empty), ties by id.

    Example:
        >>> top(np.array([0.25, 0.75]), 1)
        Top(entries=((1, '', 0.75),), rest=0.25)
    """
    if not n:
        return None
    ids = np.flatnonzero(law > 1e-3)  # at most 999 of them; sorting 49 152 would cost a pass
    if len(ids) < n:
        ids = np.flatnonzero(law > 0)
    ids = ids[np.argsort(-law[ids], kind="stable")[:n]]
    entries = tuple((int(i), "", float(law[i])) for i in ids)
    rest = max(0.0, 1.0 - sum(p for _, _, p in entries))
    if 0 < rest < 1e-9 and len(ids) == np.count_nonzero(law):
        rest = 0.0  # these are all tokens: what is left is rounding
    return Top(entries, rest)


def _drafted(what: Verified, greedy: bool, heads: _Heads) -> tuple[Drafted, ...]:
    judged, n = what.judged, len(what.judged.tokens)
    parents = tree.chain(n) if judged.parents is None else judged.parents
    laws, thresholds, left = _weigh(judged)
    found = []
    for i, (token, parent, verdict) in enumerate(zip(judged.tokens, parents, _verdicts(what))):
        p = laws[i]
        q = rule.one_hot(p, token) if judged.q_laws is None else judged.q_laws[i]
        told = verdict != "discarded" or judged.rule == "block"  # which tests all before it decides
        found.append(
            Drafted(
                id=token,
                text="",
                q=float(q[token]),
                p=float(p[token]),
                u=judged.tests[i] if told and not greedy else None,
                threshold=float(thresholds[i]),
                verdict=verdict,
                parent=parent,
                p_top=heads(p),
                q_top=top(q, heads.tops),
                residual_top=top(left(i), heads.tops) if heads.tops else None,
            )
        )
    return tuple(found)


def _weigh(judged: Judged) -> tuple[list[np.ndarray], list, Callable[[int], np.ndarray]]:
    """The law that each token meets [n], its chance to be kept [n], and what is left of the law."""
    rows = judged.laws, judged.q_laws, judged.tokens
    if judged.parents is not None:
        return tree_rule.weigh(*rows, judged.parents)
    return judged.laws, *rule.weigh(*rows, judged.rule)


def _verdicts(what: Verified) -> list[Verdict]:
    """What the end of the text cut away was discarded, whatever its test said."""
    judged, n = what.judged, len(what.judged.tokens)
    depths = range(1, n + 1) if judged.parents is None else tree.depths(judged.parents)
    found: list[Verdict] = ["discarded"] * n
    for nodes, verdict in ((judged.path, "accepted"), (judged.failed, "rejected")):
        for i in nodes:
            if depths[i] <= what.kept:
                found[i] = verdict
    return found


def _written(what: Verified, i: int, law: np.ndarray, heads: _Heads, greedy: bool) -> Written:
    judged, own = what.judged, i == len(what.judged.path)  # the target's own, after all accepted
    kind = "accepted" if not own else "corrected" if judged.corrects else "bonus"
    u = None if greedy else what.u if own else judged.tests[judged.path[i]]
    return Written(what.new[i], "", float(law[what.new[i]]), u, kind, heads(law))
