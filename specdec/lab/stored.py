"""Results of the lab in files: what the page opens on before any model is loaded."""

from __future__ import annotations

import json
from collections import deque
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import Any

from specdec.lab import overlaps, sequences
from specdec.lab.overlaps import Overlaps
from specdec.lab.sequences import Sequences
from specdec.law import Sampling
from specdec.presets import ASSETS, presets
from specdec.schema import build, parse
from specdec.trace import recorded

FOLDER = ASSETS / "traces"
PROMPT = "A kiln has to cool slowly because"
SAMPLING = Sampling(temperature=1.0, top_k=5)
KINDS = {sequences.FILE: Sequences, overlaps.FILE: Overlaps}


@cache
def load(name: str) -> Sequences | Overlaps:
    """A recording by its file name; FileNotFoundError where there is none."""
    return read(KINDS[name], (FOLDER / name).read_text(encoding="utf-8"))


def read(kind: type, text: str) -> Any:
    """A result from JSON text; ValueError says which field is wrong and why."""
    return build(kind, parse(text), kind.__name__.lower())


def write(result: Sequences | Overlaps) -> str:
    """A result as JSON text; `read` gives back an equal one."""
    return json.dumps(asdict(result), ensure_ascii=False, separators=(",", ":")) + "\n"


def record(pair: Any, out: Path, *, n: int, seed: int, when: str) -> list[Path]:
    """Draw and measure both on the real pair, and write the files."""
    [drawn] = deque(sequences.draw(pair, PROMPT, n=n, seed=seed, sampling=SAMPLING), maxlen=1)
    [(_, measured)] = deque(overlaps.measure(pair, presets(), seed=seed), maxlen=1)
    files = []
    for result, name in ((drawn, sequences.FILE), (measured, overlaps.FILE)):
        (out / name).write_text(write(recorded(result, when)), encoding="utf-8")
        files.append(out / name)
    return files
