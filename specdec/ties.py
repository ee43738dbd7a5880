"""Near-ties: where a pass over one row and one over several round to different tokens, and why.

The same greedy prompt six times: plain and speculative, in low precision as it comes, in low
precision at one fixed shape, and in high precision. All logits are those of the runs themselves.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, dataclass, replace
from functools import cache
from typing import Any

import numpy as np

from specdec.presets import ASSETS, Preset
from specdec.run import encode, generate
from specdec.schema import build, parse
from specdec.trace import Source, Token, Trace

FILE = ASSETS / "traces" / "ties.json"
ROWS = 8  # of the fixed shape
BITS = 8  # significant bits of a bfloat16, the leading one included


@dataclass(frozen=True)
class Best:
    """The two best tokens of one row of a pass, with their logits."""

    tokens: tuple[Token, Token]
    logits: tuple[float, float]

    @property
    def gap(self) -> float:
        """How far apart the two logits are."""
        return self.logits[0] - self.logits[1]

    @property
    def units(self) -> float:
        """The gap in units of the bfloat16 spacing at the better logit."""
        return self.gap / spacing(self.logits[0])


@dataclass(frozen=True)
class Text:
    """One greedy run; `at`: the row that decided the token where the first two runs part."""

    k: int  # 0: plain
    tokens: tuple[Token, ...]
    at: Best | None = None  # None too where this run had another text before


@dataclass(frozen=True)
class Two:
    """Plain and speculative decoding under the same conditions; `rows`: of a fixed shape."""

    dtype: str
    rows: int | None
    plain: Text
    speculative: Text

    @property
    def first(self) -> int | None:
        """Index of the first token that differs, None where the texts are equal."""
        one, other = ([t.id for t in text.tokens] for text in (self.plain, self.speculative))
        if one == other:
            return None
        return next(
            (i for i, (a, b) in enumerate(zip(one, other)) if a != b), min(map(len, (one, other)))
        )


@dataclass(frozen=True)
class Searched:
    """A prompt: low precision as it comes, at one shape, and high precision."""

    preset: str
    natural: Two
    fixed: Two
    high: Two
    units: tuple[float, ...]  # the gap at every token of the first run, in bfloat16 spacings


@dataclass(frozen=True)
class Ties:
    """The prompts that were searched, and where; `source` is that of the low precision."""

    source: Source
    found: tuple[Searched, ...] = ()

    def to_json(self) -> str:
        """As JSON text; `from_json` gives back an equal one."""
        return json.dumps(asdict(self), ensure_ascii=False, separators=(",", ":"))

    @classmethod
    def from_json(cls, text: str | bytes) -> Ties:
        """Read and check; ValueError says which field is wrong."""
        return build(cls, parse(text), "ties")


def spacing(x: float) -> float:
    """The distance from x to the next larger bfloat16 of its size.

    Example:
        >>> spacing(20.0), spacing(-1.0)
        (0.125, 0.0078125)
    """
    return math.ldexp(1.0, math.frexp(x)[1] - BITS)


def search(
    low: Any,
    high: Any,
    presets: Sequence[Preset],
    *,
    k: int = 4,
    n: int = 96,
    turn: Callable[[], AbstractContextManager] = nullcontext,
) -> Iterator[tuple[float, Ties]]:
    """(share done, what was found so far) after every run; stop reading to cancel.

    `low`, `high`: the same pair in two precisions. `turn` guards each use of the models.
    """
    result = Ties(Source("live", low.target.name, low.draft.name, *low.hardware))
    for i, preset in enumerate(presets):
        runs = []
        for pair, rows in ((low, None), (low, ROWS), (high, None)):
            for drafted in (0, k):
                with turn():
                    runs.append(_run(pair, preset, drafted, n, rows))
                yield (i + len(runs) / 6) / len(presets), result
        result = replace(result, found=(*result.found, _searched(preset, runs, low, high)))
    yield 1.0, result


@cache
def recorded() -> Ties:
    """What was recorded with `python -m specdec pitfalls ties`."""
    return Ties.from_json(FILE.read_bytes())


class Watched:
    """A model whose scorers note the two best logits after every token that they were fed."""

    def __init__(self, model: Any) -> None:
        self.model, self.best = model, {}  # place in the sequence → (ids, logits)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.model, name)

    def scorer(self, **options: Any) -> Any:
        """A new cache of the model that notes into `best`."""
        return _Noting(self.model.scorer(**options), self.best)


class _Noting:
    def __init__(self, own: Any, best: dict) -> None:
        self._own, self._best = own, best

    def __getattr__(self, name: str) -> Any:
        return getattr(self._own, name)

    def score(self, tokens: Sequence[int], parents: Sequence[int] | None = None) -> np.ndarray:
        start, rows = self._own.length, self._own.score(tokens, parents)
        for place, row in enumerate(
            rows, start
        ):  # a later pass over a place is the one that counts
            ids = np.argsort(-row, kind="stable")[:2]
            self._best[place] = ids.tolist(), row[ids].astype(float).tolist()
        return rows


@dataclass(frozen=True)
class _Run:
    trace: Trace
    best: dict

    def at(self, i: int) -> tuple[list[int], list[float]]:
        """The two best ids and logits where written token i was decided."""
        return self.best[len(self.trace.prompt) + i - 1]


def _run(pair: Any, preset: Preset, k: int, n: int, rows: int | None) -> _Run:
    watched = Watched(pair.target)
    ids = encode(pair.tokenizer, preset.prompt, chat=preset.chat)
    trace = generate(replace(pair, target=watched), ids, k=k, max_new_tokens=n, rows=rows, tops=0)
    return _Run(trace, watched.best)


def _searched(preset: Preset, runs: list[_Run], low: Any, high: Any) -> Searched:
    one, other = (run.trace.token_ids for run in runs[:2])
    same = [a == b for a, b in zip(one, other)]
    first = same.index(False) if False in same else None
    texts = [_text(low, run, first, one) for run in runs]
    twos = [
        Two(pair.hardware[0], rows, *texts[i : i + 2])
        for i, (pair, rows) in zip((0, 2, 4), ((low, None), (low, ROWS), (high, None)))
    ]
    units = (Best((), runs[0].at(i)[1]).units for i in range(len(one)))
    return Searched(preset.name, *twos, tuple(units))


def _text(pair: Any, run: _Run, first: int | None, before: Sequence[int]) -> Text:
    trace, at = run.trace, None
    if first is not None and trace.token_ids[:first] == before[:first]:
        ids, logits = run.at(first)
        at = Best(tuple(Token(i, pair.texts.piece(i)) for i in ids), tuple(logits))
    return Text(trace.settings.k, tuple(Token(t.id, t.text) for t in trace.written), at)
