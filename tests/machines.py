"""Measurements with known costs: scorers that move a clock, and machines written by hand."""

from __future__ import annotations

from specdec.machine import Machine, Step, TimedRun
from specdec.measure import PassTimes
from specdec.presets import Preset
from specdec.profile import profile
from specdec.trace import Source
from tests.pairs_np import Pair, drafting, random_model
from tests.tokenizers_np import ByteTokenizer

PRESET = Preset("code", "a test", False, "the sky")
FIRST, EACH, DRAFT = 1.0, 0.05, 0.1  # seconds: a target pass, each token more, a drafter pass


class Clock:
    """Stands still but for what the scorers add."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def timed(model, clock, first, each):
    """A model whose pass over n tokens takes first + (n - 1) · each seconds."""
    make = model.scorer

    def scorer(rows=None, capacity=None):
        made = make(rows, capacity)
        score = made.score

        def slow(tokens, parents=None):
            clock.now += first + (len(tokens) - 1) * each
            return score(tokens)

        made.score = slow
        return made

    model.scorer = scorer
    return model


def clocked(error: float = 0.5) -> tuple[Pair, Clock]:
    """A pair whose passes cost FIRST, EACH and DRAFT, nothing else costs anything."""
    clock, target = Clock(), random_model(len(ByteTokenizer()), seed=1, sharpness=6, name="big")
    small = timed(drafting(target, error=error), clock, DRAFT, 0.0)
    return Pair(timed(target, clock, FIRST, EACH), small, stop_ids=()), clock


def measured(error: float = 0.5, **options) -> Machine:
    """The measurement of such a pair."""
    pair, clock = clocked(error)
    options = {"turns": 2, "length": 8, "clock": clock, "n": 40, "budget": 1e9} | options
    *_, last = profile(pair, PRESET, **options)
    return last.machine


def run(drafter, k, steps, *seconds, bare=(1.0,)) -> TimedRun:
    """A run of these (drafted, accepted, rejected, written) rounds."""
    made = tuple(Step(*step, step[0] if drafter == "model" else 0) for step in steps)
    return TimedRun(drafter, k, made, seconds or ((1.0,) * len(steps),), bare)


def by_hand(*runs: TimedRun, seconds=(1.0, 1.25, 2.0, 4.0), draft=(0.1, 0.2)) -> Machine:
    """A machine with target passes over 1, 2, 5 and 17 tokens, drafter passes over 1 and 8."""
    plain = TimedRun("none", 0, (Step(0, 0, 0, 1, 0),) * 4, ((1.0,) * 4,), (4.0,))
    source = Source("live", "big", "small", "float64", "cpu", "a test")
    target, small = PassTimes((1, 2, 5, 17), seconds, 8, 1), PassTimes((1, 8), draft, 8, 1)
    return Machine(source, "code", target, small, (plain, *runs))
