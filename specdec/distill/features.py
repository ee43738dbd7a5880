"""The target's features at every token of the texts: computed once, then read from disk.

A feature is a hidden row ÷ its root mean square, of the last layer and of what layers `taps` read.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import torch
import torch.nn.functional as F
from numpy.lib.format import open_memmap

from specdec.distill.batched import hidden_rows
from specdec.distill.files import whole
from specdec.distill.texts import Text
from specdec.models.heads import EPS

if TYPE_CHECKING:
    from specdec.models.llama import Llama

ALIKE = 4  # first tokens by which texts are read together: they share a longer beginning


@dataclass
class Features:
    """`of(texts)` gives features [n, 1 + taps, width] in float16; with a folder they are kept.

    A store has one row for each token of each file of texts, and a mark for each text that is in
    it, set after its rows: whoever is stopped between the two computes them again.
    """

    target: Llama
    taps: tuple[int, ...]
    folder: Path | None
    texts: Sequence[Text]  # all that may be asked for
    mark: str = ""  # tells the target apart
    _stores: dict[str, tuple[np.ndarray, np.ndarray]] = field(default_factory=dict)
    _places: dict[tuple[str, int], slice] = field(default_factory=dict)

    def __post_init__(self) -> None:
        ends: dict[str, int] = {}
        for text in self.texts:
            first = ends.get(text.file, 0)
            self._places[text.file, text.row] = slice(first, first + len(text))
            ends[text.file] = first + len(text)
        self._rows = ends
        if self.folder is not None:
            self._check()

    def of(self, texts: Sequence[Text]) -> list[np.ndarray]:
        """The features of these texts, those computed that are not stored yet."""
        if self.folder is None:
            return compute(self.target, texts, self.taps)
        missing = [x for x in texts if not self._store(x.file)[1][x.row]]
        for text, rows in zip(missing, compute(self.target, missing, self.taps)):
            store, done = self._store(text.file)
            store[self._places[text.file, text.row]] = rows
            done[text.row] = True
        return [self._store(x.file)[0][self._places[x.file, x.row]] for x in texts]

    def _store(self, name: str) -> tuple[np.ndarray, np.ndarray]:
        if name not in self._stores:
            shape = (self._rows[name], 1 + len(self.taps), self.target.norm.size)
            rows = 1 + max(text.row for text in self.texts if text.file == name)
            files = [self.folder / f"{name}.{kind}.npy" for kind in ("features", "done")]
            self._stores[name] = tuple(
                opened(file, *what)
                for file, what in zip(files, ((shape, np.float16), ((rows,), np.bool_)))
            )
        return self._stores[name]

    def _check(self) -> None:
        """ValueError if what lies in the folder is of another target, or other layers or texts."""
        about = {"target": self.mark, "taps": list(self.taps), "rows": self._rows}
        file = self.folder / "features.json"
        if not file.is_file():
            with whole(file) as making:
                making.write_text(json.dumps(about), encoding="utf-8")
        there = json.loads(file.read_text("utf-8"))
        rows = there.pop("rows")
        changed = {n for n, m in about.pop("rows").items() if rows.setdefault(n, m) != m}
        if there != about or changed:
            raise ValueError(
                f"The features in {self.folder} are of another target, other layers or other "
                "texts; delete that folder or name another."
            )


def compute(target: Llama, texts: Sequence[Text], taps: Sequence[int]) -> list[np.ndarray]:
    """Features [n, 1 + taps, width] of each text, float16, in the order given."""
    groups: dict[tuple, list[int]] = {}
    for i, text in enumerate(texts):
        groups.setdefault(tuple(text.ids[:ALIKE]), []).append(i)
    found: list[np.ndarray | None] = [None] * len(texts)
    with torch.inference_mode():
        for group in groups.values():
            rows = hidden_rows(target, [texts[i].ids for i in group], taps)
            for i, hidden in zip(group, rows):
                parts = hidden.float().unflatten(-1, (1 + len(taps), -1))
                parts = F.rms_norm(parts, parts.shape[-1:], None, EPS)
                found[i] = parts.half().cpu().numpy()
    return found


def opened(file: Path, shape: tuple[int, ...], kind: type) -> np.ndarray:
    """A file's array, as large as asked; a new one is zeros and takes no room yet."""
    if file.is_file():
        return np.load(file, mmap_mode="r+")
    file.parent.mkdir(parents=True, exist_ok=True)
    return open_memmap(file, "w+", kind, shape)
