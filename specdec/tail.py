"""Why the tail was discarded: the target's law at those places, had the right token stood before.

Everything after a rejected token was drafted, and verified, behind a token that is not in the
text. One more pass, over the token written instead and the tail, shows what the target says there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from typing import Any

import numpy as np

from specdec import models, tree_rounds
from specdec.arithmetic import cut_ratio
from specdec.constraint import NothingAllowed
from specdec.law import Sampling
from specdec.match import target_draw
from specdec.models import Scorer
from specdec.record import top
from specdec.text import Texts, dress
from specdec.trace import Drafted, Mended, Round, Trace
from specdec.uniforms import REPLACE, TEST, Uniforms


def mend(
    scorer: Scorer,
    trace: Trace,
    *,
    known: Trace | None = None,
    tops: int = 10,
    turn: Callable[[], AbstractContextManager] = nullcontext,
    over: Callable[[], bool] = lambda: False,
) -> Trace:
    """The trace with `Drafted.mended` on every discarded token that follows a rejected one.

    A pass of `scorer` (length 0, the trace's target) for each such round, but for the rounds of
    `known`: this run when it was shorter, mended. Under "block" no single rejection cuts a draft,
    so nothing is changed; nor is a tree, which has no one tail. The texts of the new heads are
    empty: see `texts`. Each pass is made within `turn()`, and none once `over()`.
    """
    if trace.settings.rule == "block":
        return trace
    ids, uniforms, rounds = [t.id for t in trace.prompt], Uniforms(trace.settings.seed), []
    done = known.rounds if known else ()
    sampling = replace(trace.settings.sampling, prompt_length=len(trace.prompt))
    for r in trace.rounds:
        chain = r.rejected and not tree_rounds.branches(r)
        tail = r.drafted[r.accepted + 1 :] if chain else ()
        if r.index < len(done):
            r = _copied(r, done[r.index])
        elif tail and not over():
            prefix = ids + [token.id for token in r.written[:-1]]
            known = [r.written[-1].id, *(token.id for token in tail)]  # the correction first
            with turn():
                models.feed(scorer, prefix[scorer.length :])
                logits = scorer.score(known[:-1])  # [tail, V]
                scorer.rollback(len(prefix))
            laws = _laws(sampling, logits, prefix + known[:1], known[1:])
            numbers = [uniforms(len(prefix) + 1 + i, _purpose(r)) for i in range(len(tail))]
            r = _mended(r, laws, numbers, sampling, tops)
        rounds.append(r)
        ids += [token.id for token in r.written]
    return replace(trace, rounds=tuple(rounds))


def of_pair(pair: Any, trace: Trace, **options: Any) -> Trace:
    """`mend` by the pair's own target, with its options and with texts; its cache is freed."""
    scorer = pair.target.scorer()
    try:
        return texts(mend(scorer, trace, **options), pair.texts)
    finally:
        scorer.close()


def texts(trace: Trace, of: Texts) -> Trace:
    """The trace with texts in the heads of mended laws; the other texts stay."""
    return replace(
        trace,
        rounds=tuple(
            dress(r, [t.text for t in r.drafted], [t.text for t in r.written], of.piece)
            for r in trace.rounds
        ),
    )


def _copied(r: Round, old: Round) -> Round:
    pairs = zip(r.drafted, old.drafted)
    return replace(r, drafted=tuple(replace(token, mended=o.mended) for token, o in pairs))


def _laws(
    sampling: Sampling, logits: np.ndarray, history: list[int], tail: list[int]
) -> list[np.ndarray]:
    """The laws at the tail's places, as far as a constraint lets the text go there."""
    try:
        laws, dead_end = sampling.laws(logits, history, tail)
    except NothingAllowed:
        return []
    return laws[:-1] if dead_end else laws


def _purpose(r: Round) -> int:
    return REPLACE if r.rule == "match" else TEST  # match tests with the target's own draw


def _mended(
    r: Round, laws: Sequence[np.ndarray], numbers: Sequence[float], sampling: Sampling, tops: int
) -> Round:
    first = r.accepted + 1
    tail = tuple(
        replace(token, mended=_judge(r.rule, token, law, u, sampling.greedy, tops))
        for token, law, u in zip(r.drafted[first:], laws, numbers)
    )
    return replace(r, drafted=r.drafted[:first] + tail + r.drafted[first + len(tail) :])


def _judge(rule: str, token: Drafted, law: np.ndarray, u: float, greedy: bool, tops: int) -> Mended:
    p = float(law[token.id])
    if rule == "match":
        threshold, kept = p, target_draw(law, u) == token.id
    else:
        threshold = float(cut_ratio(p, token.q))
        kept = u < threshold
    return Mended(p, None if greedy else u, threshold, bool(kept), top(law, tops))
