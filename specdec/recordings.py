"""Recorded runs of real models: what the pages open on before any model is loaded."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from specdec import run
from specdec.law import Sampling
from specdec.presets import ASSETS, Preset
from specdec.trace import Trace

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


def record(
    pair: Any, preset: Preset, out: Path, *, k: int, n: int, seed: int, when: str
) -> list[Path]:
    """Run one preset in every way and write the traces; returns the files."""
    files = []
    for way, (drafter, sampling) in WAYS.items():
        options = {"sampling": sampling, "max_new_tokens": n, "seed": seed, "chat": preset.chat}
        run.generate(pair, preset.prompt, k=k, drafter=drafter, **options)  # warms up the clock
        fast = run.generate(pair, preset.prompt, k=k, drafter=drafter, **options)
        slow = run.plain(pair, preset.prompt, tops=0, **options)
        for trace, name in ((fast, way), (slow, f"{way}.plain")):
            file = out / f"{preset.name}.{name}.json"
            source = replace(trace.source, kind="recorded", when=when)
            file.write_text(replace(trace, source=source).to_json() + "\n", encoding="utf-8")
            files.append(file)
    return files


@cache
def load(preset: str, way: str = "model") -> Recording:
    """A recording by the names of its preset and way; FileNotFoundError where there is none."""
    fast, slow = (FOLDER / f"{preset}.{name}.json" for name in (way, f"{way}.plain"))
    return Recording(*(Trace.from_json(f.read_text(encoding="utf-8")) for f in (fast, slow)))
