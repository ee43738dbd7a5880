"""One prompt by several drafters, or at several k: what their rounds did and what they cost."""

from __future__ import annotations

import json
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from typing import Any, Literal

from specdec.decode import speculate
from specdec.drafters import EarlyExit, ModelDrafter, PromptLookup
from specdec.law import Sampling
from specdec.machine import Step, step_of
from specdec.measure import Costs, costs_of, measured_speedup
from specdec.presets import ASSETS, Preset
from specdec.run import encode
from specdec.schema import build, parse
from specdec.trace import Settings, Source, Trace
from specdec.wasted import Ends, counted

Name = Literal["none", "model", "lookup", "early-exit", "target"]
WARM = 6  # tokens of a run that warms up


@dataclass(frozen=True)
class Asked:
    """A drafter and its k; `layers` of an early exit; "target": the target drafts for itself."""

    name: Name
    k: int
    layers: int = 0


@dataclass(frozen=True)
class Arm:
    """What a drafter did on the prompt, and what it cost."""

    asked: Asked
    steps: tuple[Step, ...]
    costs: Costs  # seconds, as `measure.costs_of` reads them off the run and plain decoding
    speedup: float  # measured, against plain decoding

    @property
    def alpha(self) -> float:
        """accepted ÷ judged, 0 if nothing was judged."""
        judged = sum(step.judged for step in self.steps)
        return sum(step.accepted for step in self.steps) / judged if judged else 0.0

    @property
    def ends(self) -> Ends:
        """Draft passes by what became of their token, in the whole run."""
        return counted(self.steps)


@dataclass(frozen=True)
class Arms:
    """A prompt, plain decoding's tokens and seconds, and every arm's run of it."""

    source: Source
    prompt: str  # name of the preset
    layers: int  # of the target
    tokens: int
    seconds: float  # of plain decoding
    arms: tuple[Arm, ...]

    def to_json(self) -> str:
        """As JSON text."""
        return json.dumps(asdict(self), ensure_ascii=False, indent=None)


@cache
def load(name: str) -> Arms:
    """A recording of assets/traces by its name."""
    text = (ASSETS / "traces" / f"{name}.json").read_text(encoding="utf-8")
    return build(Arms, parse(text), name)


def compete(
    pair: Any, preset: Preset, asked: Sequence[Asked], *, n: int
) -> Iterator[tuple[float, Arms | None]]:
    """Greedy runs of n tokens: (share done, what was found), last the whole.

    Plain decoding runs anew before every arm, so that a slow moment of the machine hits both.
    RuntimeError where a run's text is not plain decoding's: its rates would be another text's.
    """
    ids = encode(pair.tokenizer, preset.prompt, chat=preset.chat)
    source = Source("live", pair.target.name, getattr(pair.draft, "name", ""), *pair.hardware)
    found, seconds = [], []
    _run(pair, ids, Asked("none", 0), WARM)
    for i, arm in enumerate(asked):
        yield i / len(asked), None
        _run(pair, ids, arm, WARM)
        plain, trace = (_run(pair, ids, one, n) for one in (Asked("none", 0), arm))
        if trace.token_ids != plain.token_ids:
            raise RuntimeError(f"{arm} wrote another text than plain decoding.")
        steps = tuple(map(step_of, trace.rounds))
        found.append(Arm(arm, steps, costs_of(trace, plain), measured_speedup(trace, plain)))
        seconds.append(plain.seconds.total)
    layers = len(getattr(pair.target, "layers", ()))
    tokens, middle = len(plain.token_ids), statistics.median(seconds)
    yield 1.0, Arms(source, preset.name, layers, tokens, middle, tuple(found))


def _run(pair: Any, ids: list[int], asked: Asked, n: int) -> Trace:
    room = len(ids) + n + asked.k + 1
    scorer = pair.target.scorer(capacity=room)
    drafter = _drafter(pair, asked, scorer, room)
    options = {"sampling": Sampling(), "max_new_tokens": n, "stop_ids": pair.stop_ids, "tops": 0}
    try:
        rounds = tuple(speculate(scorer, drafter, ids, k=asked.k, **options))
    finally:
        for cache_ in (scorer, drafter):
            if hasattr(cache_, "close"):
                cache_.close()
    settings = Settings(asked.k, asked.name, Sampling(), n, 0)
    return Trace((), rounds, settings, Source("live", "", ""), rounds[-1].stop_reason)


def _drafter(pair: Any, asked: Asked, scorer: Any, room: int) -> Any:
    if asked.name == "lookup":
        return PromptLookup()
    if asked.name == "early-exit":
        return EarlyExit(scorer, asked.layers)
    if asked.name in ("model", "target"):
        model = pair.draft if asked.name == "model" else pair.target
        return ModelDrafter(model.scorer(capacity=room), pair.target.vocab_size)
    return None
