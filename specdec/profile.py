"""Measure a machine in half a minute: passes over many tokens, and short runs of the drafters."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any

from specdec.decode import speculate
from specdec.drafters import ModelDrafter, PromptLookup
from specdec.law import Sampling
from specdec.machine import Machine, Step, TimedRun, step_of
from specdec.measure import PassTimes, pass_times, replay
from specdec.presets import Preset
from specdec.run import encode
from specdec.trace import Round, Settings, Source, Token, Trace

TARGET_TOKENS = (1, 2, 3, 5, 9, 17, 33, 65, 129)
DRAFT_TOKENS = (1, 2, 4, 8, 16, 32, 64)
ARMS = (("none", 0), ("model", 1), ("model", 2), ("model", 4), ("model", 8), ("lookup", 4))
BUDGET = 26.0  # seconds: no turn begins that would end after them


@dataclass
class _Arm:
    """One way to decode, and what its turns took."""

    drafter: str
    k: int
    steps: tuple[Step, ...] = ()
    seconds: list[tuple[float, ...]] = field(default_factory=list)
    bare: list[float] = field(default_factory=list)


@dataclass(frozen=True)
class Stage:
    """How far a measurement is, in [0, 1], what it does, and at its end the result."""

    fraction: float
    words: str
    machine: Machine | None = None


def profile(
    pair: Any,
    preset: Preset,
    *,
    n: int = 24,
    turns: int = 3,
    sweeps: int = 2,
    length: int = 128,
    target_tokens: tuple[int, ...] = TARGET_TOKENS,
    draft_tokens: tuple[int, ...] = DRAFT_TOKENS,
    budget: float = BUDGET,
    clock: Callable[[], float] = time.perf_counter,
) -> Iterator[Stage]:
    """Greedy throughout; the last Stage holds the Machine. Stop reading to cancel.

    A turn is `sweeps` over all pass lengths and a run of every arm, so that a slow moment of the
    machine hits all alike. One turn is always made.
    """
    ids, began = encode(pair.tokenizer, preset.prompt, chat=preset.chat), clock()
    arms = [_Arm(*arm) for arm in ARMS if arm[1] < target_tokens[-1]]
    with (
        closing(_sweeps(pair.target, target_tokens, length, turns * sweeps, clock)) as targets,
        closing(_sweeps(pair.draft, draft_tokens, length, turns * sweeps, clock)) as drafts,
    ):
        yield Stage(0.0, "Warming up")
        for _ in _decode(pair, arms[0], ids, min(n, 4), clock):
            yield Stage(0.0, "Warming up")
        for turn in range(turns):
            start, sweeping = clock(), Stage(turn / turns, "Timing passes")
            for _ in range(sweeps):
                yield sweeping
                target = next(targets)
                yield sweeping
                draft = next(drafts)
            for i, arm in enumerate(arms):
                yield from _turn(pair, arm, ids, n, clock, (turn + (i + 1) / len(arms)) / turns)
            now = clock()
            if 2 * now - start - began > budget:
                break
    source = Source("live", pair.target.name, getattr(pair.draft, "name", ""), *pair.hardware)
    runs = tuple(
        TimedRun(arm.drafter, arm.k, arm.steps, tuple(arm.seconds), tuple(arm.bare)) for arm in arms
    )
    yield Stage(1.0, "Done", Machine(source, preset.name, target, draft, runs))


def _sweeps(
    model: Any,
    tokens: tuple[int, ...],
    length: int,
    repeats: int,
    clock: Callable[[], float],
) -> Iterator[PassTimes]:
    return pass_times(model, tokens, length=length, repeats=repeats, clock=clock)


def _turn(
    pair: Any, arm: _Arm, ids: list[int], n: int, clock: Callable[[], float], done: float
) -> Iterator[Stage]:
    """One run of an arm, then the same passes bare."""
    words, rounds = f"Decoding: {named(arm.drafter, arm.k)}", []
    for r in _decode(pair, arm, ids, n, clock):
        rounds.append(r)
        yield Stage(done, words)
    steps = tuple(map(step_of, rounds))
    if arm.steps and steps != arm.steps:
        raise RuntimeError("The same greedy run had other rounds this time: nothing to compare.")
    arm.steps = steps
    arm.seconds.append(tuple(r.seconds.total for r in rounds))
    arm.bare.append(_bare(pair, arm, ids, rounds, clock))
    yield Stage(done, words)


def _decode(
    pair: Any, arm: _Arm, ids: list[int], n: int, clock: Callable[[], float]
) -> Iterator[Round]:
    room = len(ids) + n + arm.k + 1
    scorer, small = pair.target.scorer(capacity=room), None
    drafter = PromptLookup() if arm.drafter == "lookup" else None
    if arm.drafter == "model":
        small = pair.draft.scorer(capacity=room)
        drafter = ModelDrafter(small, pair.target.vocab_size)
    options = {"k": arm.k, "sampling": Sampling(), "max_new_tokens": n, "tops": 0, "clock": clock}
    try:
        yield from speculate(scorer, drafter, ids, stop_ids=pair.stop_ids, **options)
    finally:
        _close(scorer, small)


def _bare(
    pair: Any, arm: _Arm, ids: list[int], rounds: list[Round], clock: Callable[[], float]
) -> float:
    """Seconds of the run's forwards with nothing between them."""
    prompt = tuple(Token(i, "") for i in ids)
    settings = Settings(arm.k, arm.drafter, Sampling(), len(rounds), 0)
    trace = Trace(prompt, tuple(rounds), settings, Source("live", "", ""))
    room = len(ids) + sum(len(r.written) for r in rounds) + arm.k + 1
    target = pair.target.scorer(capacity=room)
    small = pair.draft.scorer(capacity=room) if arm.drafter == "model" else None
    try:
        return replay(target, small, trace, clock)
    finally:
        _close(target, small)


def _close(*scorers: Any) -> None:
    for scorer in scorers:
        if scorer is not None:
            scorer.close()


def named(drafter: str, k: int) -> str:
    """A run in words.

    Example:
        >>> named("model", 4)
        'small model, k = 4'
    """
    words = {"none": "plain decoding", "model": "small model", "lookup": "prompt lookup"}[drafter]
    return f"{words}, k = {k}" if k else words
