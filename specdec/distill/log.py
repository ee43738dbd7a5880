"""What a training says of itself, a line of JSON at a time: the curve of its model card."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from specdec.distill.files import whole

if TYPE_CHECKING:
    from specdec.distill.loss import Loss
    from specdec.distill.state import State

NAME = "log.jsonl"


class Log:
    """The log of a run's folder; taken up at a step, it forgets what was said after it."""

    def __init__(self, folder: Path, step: int) -> None:
        self.file = folder / NAME
        kept = [line for line in read(self.file) if line["step"] <= step] if step else []
        with whole(self.file) as making:
            making.write_text("".join(map(_line, kept)), encoding="utf-8")

    def say(self, **what: Any) -> None:
        """Add a line."""
        with self.file.open("a", encoding="utf-8") as opened:
            opened.write(_line(what))


class Said:
    """Loss and share of the starts at every depth since the last line."""

    def __init__(self, depths: int) -> None:
        self.sums, self.counts, self.last = np.zeros(depths), np.zeros(depths), 0.0

    def add(self, loss: Loss) -> None:
        """One more step."""
        self.sums, self.counts = self.sums + loss.sums, self.counts + loss.counts
        self.last = loss.sums[0] / loss.counts[0]

    def tell(self) -> dict[str, list[float]]:
        """Their means, and a new beginning."""
        some = self.counts > 0
        loss, share = (self.sums[some] / self.counts[some]), self.counts[some] / self.counts[0]
        self.sums, self.counts = 0 * self.sums, 0 * self.counts
        return {"loss": loss.round(4).tolist(), "share": share.round(4).tolist()}

    def words(self, state: State) -> str:
        """The last step, for people."""
        return (
            f"step {state.step}, loss {self.last:.2f}, turn {state.place.epoch + 1} over the text"
        )


def read(file: Path) -> list[dict[str, Any]]:
    """The lines of a log, without one cut short by a crash; none if there is no such file."""
    lines = file.read_text(encoding="utf-8").splitlines() if file.is_file() else []
    found = []
    for line in lines:
        try:
            found.append(json.loads(line))
        except json.JSONDecodeError:
            continue
    return found


def _line(what: dict[str, Any]) -> str:
    return json.dumps(what) + "\n"
