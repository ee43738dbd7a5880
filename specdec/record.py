"""From the arrays of a verified round to its record: verdicts, kinds, probabilities, tops."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from specdec import rule
from specdec.drafters import Draft
from specdec.trace import Drafted, Top, Verdict, Written


@dataclass(frozen=True)
class Verified:
    """What the loop knows after a verify pass."""

    rule: str
    tokens: list[int]  # [n] drafted
    draft: Draft
    laws: list[np.ndarray]  # [n + 1] of [V], the target's
    tests: list[float]  # [n] uniforms of the tests
    new: list[int]  # accepted tokens and the target's own, before the cut
    kept: int  # of `new`, after the cut
    accepted: int  # of `tokens`, before the cut
    u: float  # drew the target's own token
    law: np.ndarray  # [V] the law it was drawn from


def record(
    what: Verified, *, greedy: bool, tops: int
) -> tuple[tuple[Drafted, ...], tuple[Written, ...]]:
    """The drafted tokens with their verdicts and the written tokens with their kinds."""
    heads = [top(law, tops) for law in what.laws]
    thresholds, next_law = rule.weigh(what.laws, what.draft.laws, what.tokens, what.rule)
    left = [top(next_law(i), tops) if tops else None for i in range(len(what.tokens))]
    drafted = tuple(
        _drafted(what, i, greedy, tops, thresholds[i], heads[i], left[i])
        for i in range(len(what.tokens))
    )
    written = tuple(_written(what, i, heads[i], greedy) for i in range(what.kept))
    return drafted, written


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
        ids = np.flatnonzero(law)
    ids = ids[np.argsort(-law[ids], kind="stable")[:n]]
    entries = tuple((int(i), "", float(law[i])) for i in ids)
    return Top(entries, max(0.0, 1.0 - sum(p for _, _, p in entries)))


def _drafted(
    what: Verified,
    i: int,
    greedy: bool,
    tops: int,
    threshold: float,
    p_top: Top | None,
    residual_top: Top | None,
) -> Drafted:
    token, p = what.tokens[i], what.laws[i]
    q = rule.one_hot(p, token) if what.draft.laws is None else what.draft.laws[i]
    verdict = _verdict(what, i)
    judged = verdict != "discarded" or what.rule == "block"  # which tests all before it decides
    return Drafted(
        id=token,
        text="",
        q=float(q[token]),
        p=float(p[token]),
        u=what.tests[i] if judged and not greedy else None,
        threshold=float(threshold),
        verdict=verdict,
        parent=i - 1,
        p_top=p_top,
        q_top=top(q, tops),
        residual_top=residual_top,
    )


def _verdict(what: Verified, i: int) -> Verdict:
    if i < min(what.accepted, what.kept):
        return "accepted"
    return "rejected" if i == what.accepted < what.kept else "discarded"


def _written(what: Verified, i: int, p_top: Top | None, greedy: bool) -> Written:
    own = i == what.accepted  # the target's own token, after all that were accepted
    kind = "accepted" if not own else "corrected" if i < len(what.tokens) else "bonus"
    u = None if greedy else what.u if own else what.tests[i]
    return Written(what.new[i], "", float(what.laws[i][what.new[i]]), u, kind, p_top)
