"""What temperature, top-k and top-p do to α = Σ min(p, q), over positions of real text."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np

from specdec import rule
from specdec.arithmetic import one_hot
from specdec.law import Sampling
from specdec.models import feed
from specdec.presets import Preset
from specdec.run import encode, generate
from specdec.trace import Source

FILE = "lab.overlaps.json"
OPEN = Sampling(temperature=1.0)  # no cut: what a drafter does that is told nothing
SWEEPS = {  # setting → the values it is given, the others left open
    "temperature": (0.0, 0.2, 0.4, 0.6, 0.8, 1.0, 1.2, 1.5, 2.0),
    "top_k": (1, 2, 5, 10, 20, 50, 100, 1000),
    "top_p": (0.1, 0.3, 0.5, 0.7, 0.8, 0.9, 0.95, 1.0),
}
DRAFTS = ("same", "open", "greedy")  # the drafter's law: same settings, none, or one-hot


@dataclass(frozen=True)
class Point:
    """Mean of α over all positions at one value, by the drafter's law; and its standard error."""

    value: float
    alpha: tuple[float, ...]  # in the order of DRAFTS
    error: tuple[float, ...]


@dataclass(frozen=True)
class Sweep:
    """α along one setting."""

    setting: str
    points: tuple[Point, ...]


@dataclass(frozen=True)
class Overlaps:
    """The three sweeps, over so many positions of the target's own text after some prompts."""

    source: Source
    prompts: tuple[str, ...]
    positions: int
    seed: int
    sweeps: tuple[Sweep, ...] = ()


@dataclass(frozen=True)
class Position:
    """Both models' logits after the same tokens."""

    p: np.ndarray  # [V]
    q: np.ndarray  # [v]
    columns: np.ndarray | slice  # of the v in V

    def laws(self, target: Sampling, drafter: Sampling) -> tuple[np.ndarray, np.ndarray]:
        """p and q [V] under these settings."""
        q = np.zeros(len(self.p))
        q[self.columns] = drafter.law(self.q)
        return target.law(self.p), q


def measure(
    pair: Any,
    presets: Sequence[Preset],
    *,
    each: int = 24,
    seed: int = 0,
    turn: Callable[[], AbstractContextManager] = nullcontext,
) -> Iterator[tuple[float, Overlaps]]:
    """(share done, what was measured so far), after every value. Stop reading to cancel.

    Positions: `each` tokens after every prompt, sampled by the target itself at temperature 1.
    """
    positions: list[Position] = []
    source = Source("live", pair.target.name, pair.draft.name, *pair.hardware)
    asked = tuple(preset.name for preset in presets)
    total = len(presets) + sum(len(values) for values in SWEEPS.values())
    for done, preset in enumerate(presets, 1):
        with turn():
            positions += _positions(pair, preset, each, seed)
        yield done / total, Overlaps(source, asked, len(positions), seed)
    sweeps: dict[str, tuple[Point, ...]] = dict.fromkeys(SWEEPS, ())
    for setting, values in SWEEPS.items():
        for value in values:
            sweeps[setting] += (_point(positions, setting, value),)
            done += 1
            found = tuple(Sweep(name, points) for name, points in sweeps.items())
            yield done / total, Overlaps(source, asked, len(positions), seed, found)


def _positions(pair: Any, preset: Preset, n: int, seed: int) -> list[Position]:
    """Positions along the target's own continuation of a prompt."""
    prompt = encode(pair.tokenizer, preset.prompt, chat=preset.chat)
    text = generate(pair, prompt, k=0, sampling=OPEN, max_new_tokens=n, seed=seed, tops=0)
    return positions(pair, prompt, text.token_ids)


def positions(pair: Any, prompt: Sequence[int], written: Sequence[int]) -> list[Position]:
    """Both models' logits where each written token was decided: one pass of each model."""
    rows = []
    for model in (pair.target, pair.draft):
        scorer = model.scorer(capacity=len(prompt) + len(written))
        feed(scorer, prompt[:-1])
        rows.append(scorer.score([prompt[-1], *written[:-1]]))
        scorer.close()
    columns = getattr(pair.draft, "token_ids", None)
    return [Position(p, q, slice(None) if columns is None else columns) for p, q in zip(*rows)]


def _point(positions: Sequence[Position], setting: str, value: float) -> Point:
    settings = Sampling(**{"temperature": 1.0, setting: value})
    alphas = np.array([_alphas(at, settings) for at in positions])  # [positions, 3]
    errors = alphas.std(axis=0, ddof=1) / np.sqrt(len(alphas)) if len(alphas) > 1 else [0.0] * 3
    return Point(float(value), tuple(alphas.mean(axis=0).tolist()), tuple(map(float, errors)))


def _alphas(at: Position, settings: Sampling) -> list[float]:
    """α of one position, in the order of DRAFTS."""
    p, same = at.laws(settings, settings)
    _, open_ = at.laws(settings, OPEN)
    greedy = one_hot(open_, int(np.argmax(open_)))
    return [float(rule.overlap(p, q)) for q in (same, open_, greedy)]
