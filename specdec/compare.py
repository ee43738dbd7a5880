"""Where two runs part, what was set differently, and how near a tie the target was there."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from specdec import run
from specdec.law import Sampling
from specdec.models import feed
from specdec.trace import Settings, Trace

WORDS = {  # of settings and sources, where the name in the code is not the word
    "max_new_tokens": "tokens at most",
    "stop": "stop strings",
    "chat": "chat template",
    "rows": "fixed rows of a pass",
    "top_k": "top-k",
    "top_p": "top-p",
    "min_p": "min-p",
    "adaptive": "adaptive k",
    "dtype": "precision",
    "model": "small model",
    "lookup": "prompt lookup",
    "early-exit": "early exit",
}
Difference = tuple[str, str, str]  # what, and its value in the one and in the other


@dataclass(frozen=True)
class Comparison:
    """Two runs token by token; `first` is the index where they part, None if they do not."""

    tokens: int  # compared: the shorter run's length, the difference included
    first: int | None

    @property
    def equal(self) -> bool:
        """Whether both wrote the same tokens and stopped together."""
        return self.first is None


@dataclass(frozen=True)
class NearTie:
    """The target's two best logits after a prefix: the gap decides a greedy step."""

    gap: float
    ids: tuple[int, int]


@dataclass(frozen=True)
class Check:
    """Is the speculative text the target's own? `tie` and `fixed` only where the two part.

    `fixed` also only where the target can run all its passes at one shape.
    """

    natural: Comparison
    tie: NearTie | None = None
    fixed: Comparison | None = None


def check(pair: Any, prompt: str, trace: Trace, plain: Trace) -> Check:
    """Compare two greedy runs; where they part, measure the tie and repeat both at one shape."""
    natural = compare(trace, plain)
    if natural.equal:
        return Check(natural)
    tie = near_tie(pair, plain, natural.first)
    if not getattr(pair.target, "fixes_shapes", True):
        return Check(natural, tie)
    rows = max(8, -(-(trace.settings.k + 1) // 4) * 4)  # a multiple of 4 with room for k + 1
    again = at_one_shape(pair, prompt, **trace.settings.options() | {"rows": rows})
    return Check(natural, tie, again)


def compare(a: Trace, b: Trace) -> Comparison:
    """Compare the written tokens; a run that is a shorter prefix parts at its end."""
    xs, ys = a.token_ids, b.token_ids
    n = min(len(xs), len(ys))
    first = next((i for i in range(n) if xs[i] != ys[i]), None)
    if first is None and len(xs) != len(ys):
        first = n
    return Comparison(n if first is None else first + 1, first)


def differences(a: Settings, b: Settings) -> tuple[Difference, ...]:
    """What was asked differently, in words; the sampling settings one by one.

    Plain decoding (k = 0) has neither drafter nor rule: against it k alone differs.

    Example:
        >>> from specdec.law import Sampling
        >>> one = Settings(4, "model", Sampling(0.7), max_new_tokens=64, seed=0)
        >>> differences(one, Settings(8, "model", Sampling(1), max_new_tokens=64, seed=0))
        (('k', '4', '8'), ('temperature', '0.7', '1'))
    """
    idle = () if a.k and b.k else set(run.SPECULATION) - {"k"}
    one, other = (
        _fields(s, *idle, "sampling") | _fields(s.sampling, "prompt_length") for s in (a, b)
    )
    return _unlike(one, other)


def _fields(x: Settings | Sampling, *without: str) -> dict[str, Any]:
    return {f.name: getattr(x, f.name) for f in fields(x) if f.name not in without}


def conditions(a: Trace, b: Trace) -> tuple[Difference, ...]:
    """All that differs before the first token: prompt, models and machine, then the settings."""
    found = ()
    if [token.id for token in a.prompt] != [token.id for token in b.prompt]:
        found = (("prompt", "one", "another"),)
    names = ["target", "dtype", "device", "machine"]
    if a.settings.k and b.settings.k and a.settings.drafter == b.settings.drafter:
        names.append("drafter")  # else the settings say so
    one, other = ({name: getattr(t.source, name) for name in names} for t in (a, b))
    return found + _unlike(one, other) + differences(a.settings, b.settings)


def _unlike(one: dict[str, Any], other: dict[str, Any]) -> tuple[Difference, ...]:
    return tuple(
        (WORDS.get(name, name.replace("_", " ")), _said(x), _said(other[name]))
        for name, x in one.items()
        if x != other[name]
    )


def _said(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, tuple):
        words = (f"“{x}”".replace("\n", "\\n") if isinstance(x, str) else str(x) for x in value)
        return ", ".join(words) or "none"
    if isinstance(value, float):
        return str(int(value) if value.is_integer() else value)  # every digit that differs
    name = str(getattr(value, "name", value))
    return "off" if value is None else WORDS.get(name, name) or "not known"


def near_tie(pair: Any, trace: Trace, at: int) -> NearTie:
    """The gap between the two best logits where written token `at` was decided."""
    ids = [token.id for token in trace.prompt] + list(trace.token_ids[:at])
    scorer = pair.target.scorer(capacity=len(ids))
    try:
        feed(scorer, ids[:-1])
        logits = scorer.score(ids[-1:])[-1]
    finally:
        scorer.close()
    second, best = np.argsort(logits, kind="stable")[-2:]
    return NearTie(float(logits[best] - logits[second]), (int(best), int(second)))


def at_one_shape(pair: Any, prompt: str, rows: int = 8, **options: Any) -> Comparison:
    """Speculative and plain decoding again, every target pass at one fixed shape."""
    plain_options = {name: x for name, x in options.items() if name not in run.SPECULATION}
    fast = run.generate(pair, prompt, rows=rows, tops=0, **options)
    slow = run.plain(pair, prompt, rows=rows, tops=0, **plain_options)
    return compare(fast, slow)
