"""The round loop: draft k tokens, verify them in one target pass, accept, roll back."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence, Set
from dataclasses import replace
from itertools import count

import numpy as np

from specdec.accept import judge
from specdec.adaptive import Policy, policy_of
from specdec.checks import check_asked, check_draft, check_run
from specdec.drafters import Draft
from specdec.law import Sampling, draw
from specdec.models import feed
from specdec.record import Verified, record
from specdec.trace import Lengths, Round, Seconds
from specdec.uniforms import REPLACE, Uniforms
from specdec.verify import keep, verify


def speculate(
    scorer,
    drafter,
    prompt_ids: Sequence[int],
    *,
    k: int | Policy,
    sampling: Sampling,
    max_new_tokens: int,
    stop_ids: Sequence[int] | None = (),
    rng: int | np.random.Generator = 0,
    rule: str = "pq",
    tops: int = 10,
    ends_at: Callable[[Sequence[int]], int | None] | None = None,
    clock: Callable[[], float] = time.perf_counter,
) -> Iterator[Round]:
    """Speculative decoding (Leviathan et al. 2023, Algorithm 1), a round at a time.

    k = 0 (drafter may be None) is plain decoding; a policy asks for another k in every round.
    `tops` ≤ 10 entries of each law are recorded.
    `ends_at(written ids)` says how many of them to keep when a stop string is complete, else None.
    The texts of the tokens are empty: nothing here knows a tokenizer.
    """
    ids, context = list(prompt_ids), getattr(scorer, "context", None) or np.inf
    policy = policy_of(k)
    check_run(scorer, drafter, ids, policy.most, max_new_tokens, context, rule, sampling)
    sampling = replace(sampling, prompt_length=len(ids))  # not every penalty counts the prompt
    uniforms, written = Uniforms(rng), 0
    stops = frozenset(() if stop_ids is None else stop_ids)
    prefill = _prefill(scorer, drafter, ids[:-1], clock)
    for index in count():
        start, before = len(ids), _lengths(scorer, drafter)
        asked = int(min(check_asked(policy), context - start))
        # Block verification looks ahead, and a tree has many tokens at a place: new numbers.
        anew = rule == "block" or getattr(drafter, "branches", False)
        numbers = uniforms.of_round(index) if anew else uniforms
        lap = _laps(clock)
        # 1  Draft: k cheap guesses, one after another.
        draft = drafter.propose(ids, asked, sampling, numbers) if asked else Draft([])
        if rule != "block" and draft.parents is None:
            numbers = uniforms
        tokens = check_draft(draft, asked, scorer.vocab_size, drafter)
        drafting = lap()
        # 2  Verify: one pass over what the cache lacks, row i is the law after tokens[:i].
        logits = verify(scorer, ids, tokens, draft.parents)  # [n + 1, V]
        verifying = lap()
        # 3  Accept, by "pq": left to right while u < min(1, p / q); then the target's own token.
        judged = judge(draft, tokens, logits, ids, sampling, rule, numbers)
        accepted = [judged.tokens[i] for i in judged.path]
        u = numbers(start + len(accepted), REPLACE)
        new = [*accepted, draw(judged.law, u)]
        # 4  Cut at the end of the text, and make lengths true again.
        room = int(min(max_new_tokens - written, context - start))
        kept, reason = _cut(new, ids[start - written :], stops, ends_at, room)
        if reason == "length" and room < max_new_tokens - written:
            reason = "context"
        if judged.dead_end and kept > len(accepted):  # the text got there
            raise judged.dead_end
        ids += new[:kept]
        written += kept
        keep(scorer, start - before[0], draft.parents, judged.path[: kept - 1])
        for cache in (scorer, drafter):
            _rollback(cache, len(ids) - 1)
        policy = policy.after(len(accepted), int(judged.corrects))
        yield Round(
            index,
            start,
            asked,
            rule,
            *record(Verified(judged, new, kept, u), greedy=sampling.greedy, tops=tops),
            Seconds(drafting, verifying, lap(), prefill),
            _before_and_after(before, _lengths(scorer, drafter)),
            draft.passes,
            reason,
        )
        prefill = 0.0
        if reason:
            return


def _prefill(scorer, drafter, ids: list[int], clock: Callable[[], float]) -> float:
    """The prompt without its last token, which goes with the first verify pass; its seconds."""
    began = clock()
    if ids:
        feed(scorer, ids)
        if hasattr(drafter, "prefill"):
            drafter.prefill(ids)
    return clock() - began


def _cut(
    new: list[int],
    before: list[int],
    stop_ids: Set[int],
    ends_at: Callable[[Sequence[int]], int | None] | None,
    room: int,
) -> tuple[int, str | None]:
    """How many of the new tokens to keep, and why the text ends there (None: it does not)."""
    ends = [(room, 2, "length")] if len(new) >= room else []
    ends += [(i + 1, 0, "eos") for i, token in enumerate(new) if token in stop_ids][:1]
    kept = ends_at(before + new) if ends_at else None
    if kept is not None:
        ends.append((kept - len(before), 1, "stop"))
    at, _, reason = min(ends, default=(len(new), 0, None))
    return at, reason


def _rollback(cache, length: int) -> None:
    """Forget what the text did not keep; an error if that fails: a stale cache lies for ever."""
    if getattr(cache, "length", 0) <= length:
        return
    if hasattr(cache, "rollback"):
        cache.rollback(length)
    if cache.length != length:
        raise ValueError(
            f"A cache still holds {cache.length} tokens after a rollback to {length}: "
            f"{type(cache).__name__} cannot take tokens back."
        )


def _laps(clock: Callable[[], float]) -> Callable[[], float]:
    """A stopwatch: each call gives the seconds since the one before."""
    last = clock()

    def lap() -> float:
        nonlocal last
        before, last = last, clock()
        return last - before

    return lap


def _before_and_after(before: tuple, after: tuple) -> Lengths:
    (target, small), (target_after, small_after) = before, after
    return Lengths((target, target_after), None if small_after is None else (small, small_after))


def _lengths(scorer, drafter) -> tuple[int, int | None]:
    return scorer.length, getattr(drafter, "length", None)
