"""What an evaluation found, prompt by prompt, in a file that a stopped one goes on with."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from specdec.distill.files import whole
from specdec.distill.judge import Counts, Greedy
from specdec.distill.log import read


@dataclass(frozen=True)
class Result:
    """One prompt: a greedy run beside plain decoding, and a run at temperature 1."""

    kind: str
    prompt: str
    greedy: Greedy
    sampled: Counts


class Results:
    """The file `NAME.evaluation.jsonl`: first what was evaluated and how, then a line a prompt.

    If it is of other weights or settings, it is begun anew.
    """

    def __init__(self, file: Path, about: dict[str, Any]) -> None:
        self.file, self.found = file, []
        lines = read(file)
        if not lines or lines[0] != json.loads(json.dumps(about)):
            with whole(file) as making:
                making.write_text(json.dumps(about) + "\n", encoding="utf-8")
            return
        self.found = [result(line) for line in lines[1:]]

    def has(self, kind: str, prompt: str) -> bool:
        """Whether this prompt was evaluated."""
        return any((r.kind, r.prompt) == (kind, prompt) for r in self.found)

    def add(self, found: Result) -> None:
        """Keep one more."""
        self.found.append(found)
        with self.file.open("a", encoding="utf-8") as opened:
            opened.write(json.dumps(asdict(found)) + "\n")


def result(line: dict[str, Any]) -> Result:
    """A line, read back."""
    of = dict(line["greedy"])
    greedy = Greedy(_counts(of.pop("counts")), **of)
    return Result(line["kind"], line["prompt"], greedy, _counts(line["sampled"]))


def total(counts: Sequence[Counts]) -> Counts:
    """Their sums, depth by depth."""
    names = ("drafted", "judged", "accepted", "overlap")
    sums = [tuple(map(sum, zip(*(getattr(c, name) for c in counts)))) for name in names]
    return Counts(*sums, sum(c.tokens for c in counts), sum(c.passes for c in counts))


def conditional(counts: Counts) -> list[float | None]:
    """Accepted ÷ judged at every depth: given that all before it were accepted."""
    return _shares(counts.accepted, counts.judged)


def cumulative(counts: Counts) -> list[float | None]:
    """Rounds that accepted so far ÷ rounds that drafted so far."""
    return _shares(counts.accepted, counts.drafted)


def overlaps(counts: Counts) -> list[float | None]:
    """Mean Σ min(p, q) at every depth, where all before it were accepted."""
    return _shares(counts.overlap, counts.judged)


def alpha(counts: Counts) -> float | None:
    """accepted ÷ judged over all depths."""
    return _shares([sum(counts.accepted)], [sum(counts.judged)])[0]


def _shares(parts: Sequence[float], wholes: Sequence[float]) -> list[float | None]:
    return [part / one if one else None for part, one in zip(parts, wholes)]


def _counts(of: dict[str, Any]) -> Counts:
    return Counts(**{n: tuple(x) if isinstance(x, list) else x for n, x in of.items()})
