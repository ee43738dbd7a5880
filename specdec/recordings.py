"""Recorded runs of real models: what the pages open on before any model is loaded."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from specdec import run, tail
from specdec.compare import Check, check
from specdec.law import Sampling
from specdec.presets import ASSETS, Preset
from specdec.schema import build, parse
from specdec.trace import Trace, recorded

FOLDER = ASSETS / "traces"
WAYS = {  # name in files and links → (drafter, sampling)
    "model": ("model", Sampling()),
    "sampled": ("model", Sampling(temperature=0.8, top_k=50, top_p=0.95)),
    "lookup": ("lookup", Sampling()),
}


@dataclass(frozen=True)
class Recording:
    """A speculative run and plain decoding of the same prompt, seed and settings."""

    speculative: Trace
    plain: Trace
    check: Check | None  # None: sampled, not comparable word for word


def record(
    pair: Any, preset: Preset, out: Path, *, k: int, n: int, seed: int, when: str
) -> list[Path]:
    """Run one preset in every way and write the traces; returns the files."""
    files = []
    for way, (drafter, sampling) in WAYS.items():
        options = {"sampling": sampling, "max_new_tokens": n, "seed": seed, "chat": preset.chat}
        run.generate(pair, preset.prompt, k=k, drafter=drafter, **options)  # warms up the clock
        fast = run.generate(pair, preset.prompt, k=k, drafter=drafter, **options)
        fast = tail.of_pair(pair, fast)
        slow = run.plain(pair, preset.prompt, tops=0, **options)
        found = check(pair, preset.prompt, fast, slow) if sampling.greedy else None
        texts = {
            way: recorded(fast, when).to_json(),
            f"{way}.plain": recorded(slow, when).to_json(),
            f"{way}.check": json.dumps(found and asdict(found)),
        }
        for name, text in texts.items():
            files.append(out / f"{preset.name}.{name}.json")
            files[-1].write_text(text + "\n", encoding="utf-8")
    return files


def add_tails(pair: Any, preset: Preset, out: Path) -> list[Path]:
    """Look again at the discarded tails of the recordings in `out`; times and rounds stay.

    For recordings of another machine, by the same weights in the same precision (processors still
    round differently: p may be some hundredths off in bf16). Also notes what the pair's models
    weigh. ValueError for a pair of another precision.
    """
    files = [out / f"{preset.name}.{way}.json" for way in WAYS]
    for file in files:
        trace = Trace.from_json(file.read_bytes())
        if trace.source.dtype != pair.hardware[0]:
            raise ValueError(
                f"{file.name} was recorded in {trace.source.dtype}; this pair is in "
                f"{pair.hardware[0]}: set --dtype."
            )
        source = replace(trace.source, memory=run.memory_of(pair, trace.settings))
        mended = tail.of_pair(pair, replace(trace, source=source))
        file.write_text(mended.to_json() + "\n", encoding="utf-8")
    return files


@cache
def load(preset: str, way: str = "model") -> Recording:
    """A recording by the names of its preset and way; FileNotFoundError where there is none."""
    fast, slow, found = (
        (FOLDER / f"{preset}.{name}.json").read_text(encoding="utf-8")
        for name in (way, f"{way}.plain", f"{way}.check")
    )
    return Recording(
        Trace.from_json(fast),
        Trace.from_json(slow),
        build(Check | None, parse(found), "check"),
    )
