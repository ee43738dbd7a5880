"""Step 2: the loop of a training, step after step until its end."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import torch

from specdec.distill.batches import starts, take
from specdec.distill.log import Log, Said
from specdec.distill.loss import Loss
from specdec.distill.measure_held import measure
from specdec.distill.schedule import Schedule
from specdec.distill.settings import Data, Settings
from specdec.distill.state import DECAYING, State
from specdec.distill.texts import written_tokens
from specdec.models.job import Progress

SAID_EVERY = 20  # steps between two lines of the log
DECAY_NOW = "decay"  # a file of this name in the run's folder starts the decay


def train(
    state: State,
    data: Data,
    settings: Settings,
    schedule: Schedule,
    folder: Path,
    write: Callable[[], None],
    *,
    every: float = 300.0,
    progress: Progress = lambda fraction, words: None,
    asked: Callable[[], bool] = lambda: False,
    clock: Callable[[], float] = time.time,
) -> bool:
    """Train until the schedule ends it, or the reader; whether it came to its end.

    Every `every` seconds, and at the end: a checkpoint, the weights (by `write`), a measurement.
    """
    log, began, said = Log(folder, state.step), clock(), Said(settings.depths)
    if not state.step:
        _measure(state, data, settings, log)
    last = began
    while not (ended := schedule.over(state.step, clock())) and not asked():
        if (folder / DECAY_NOW).exists():
            (folder / DECAY_NOW).unlink()
            schedule = _ending(schedule, clock())
        decay = min(state.decay, schedule.decay(state.step, clock()))
        if decay < 1.0 == state.decay:
            state.save(folder)  # what a longer training goes on from
        state.decay = decay
        said.add(step(state, data, settings, settings.rate * decay * schedule.warmth(state.step)))
        if state.step % SAID_EVERY == 0:
            _say(state, said, log)
        progress(_fraction(schedule, state.step, began, clock()), f"Training: {said.words(state)}")
        if clock() - last >= every:
            state.save(folder)
            _measure(state, data, settings, log)
            write()
            last = clock()
    if said.counts.any():
        _say(state, said, log)
    _measure(state, data, settings, log)
    write()
    if ended and state.decay < 1.0:
        (folder / DECAYING).unlink(missing_ok=True)
    else:
        state.save(folder)
    return ended


def step(state: State, data: Data, settings: Settings, rate: float) -> Loss:
    """One step of the optimizer; all randomness is addressed by the step's number."""
    chosen, place = take(len(data.train), state.place, settings.batch, settings.seed)
    texts, rng = (
        [data.train[i] for i in chosen],
        np.random.default_rng([settings.seed, 5, state.step]),
    )
    batch, net = data.make(texts), state.net
    places = starts(texts, settings.starts, rng).to(batch.ids.device)
    loss = Loss(
        batch,
        net.lm_head.weight,
        hard=settings.hard,
        weights=settings.weights,
        sampled=settings.sampled,
        rng=rng,
    )
    with torch.autocast(places.device.type, torch.bfloat16, enabled=data.bf16):
        net.predict(batch, places, settings.depths, loss)
    (loss.total / loss.counts[0]).backward()
    torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
    for group in state.optimizer.param_groups:
        group["lr"] = rate
    state.optimizer.step()
    state.optimizer.zero_grad(set_to_none=True)
    state.text += 0 if state.place.epoch else written_tokens(texts)
    state.step, state.place, state.drawn = (
        state.step + 1,
        place,
        state.drawn + int(loss.counts.sum()),
    )
    state.follow(settings.average)
    return loss


def _say(state: State, said: Said, log: Log) -> None:
    log.say(step=state.step, text=state.text, drawn=state.drawn, decay=state.decay, **said.tell())


def _measure(state: State, data: Data, settings: Settings, log: Log) -> None:
    """The averaged weights on held-out texts, into the log."""
    state.swap()
    found = measure(state.net, data.held, data.make, settings.depths)
    state.swap()
    log.say(step=state.step, text=state.text, held=asdict(found))


def _ending(schedule: Schedule, now: float) -> Schedule:
    """The same with an end after one decay."""
    return replace(schedule, end=min(schedule.end, now + schedule.decay_seconds))


def _fraction(schedule: Schedule, step: int, began: float, now: float) -> float:
    parts = [step / schedule.steps] if schedule.steps else []
    parts += [(now - began) / max(schedule.end - began, 1e-9)]
    return min(1.0, max(parts))
