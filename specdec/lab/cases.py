"""The small cases of the code drill: two models, and what is right, worked out without any program.

Words come from lookup tables, laws in Fractions; both are functions of the words so far.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from specdec import toy

Law = Mapping[Any, Fraction]
Words = tuple[str, ...]


@dataclass(frozen=True)
class Case:
    """Two models, k, and the words to be written; both are functions of the words so far."""

    name: str
    target: Callable[[Sequence[str]], Any]
    drafter: Callable[[Sequence[str]], Any]
    n: int
    k: int


def wanted(case: Case) -> dict[Words, Fraction]:
    """The law of what the target alone writes: word after word, each by its own law."""
    texts: dict[Words, Fraction] = {(): Fraction(1)}
    for _ in range(case.n):
        texts = {
            (*text, x): mass * share
            for text, mass in texts.items()
            for x, share in _as_law(case.target(text)).items()
            if share
        }
    return texts


def models(case: Case) -> list[tuple[Words, Any, Any]]:
    """What both models say, row by row: (after these words, the target, the drafter).

    Words: along the target's own text and the drafter's first guesses. Laws: at the start and
    after each token, once if it is always the same.
    """
    if isinstance(case.target([]), str):
        [text], guess = wanted(case), []
        for _ in range(case.k):
            guess.append(case.drafter(guess))
        ends = [*range(case.n)], [*range(case.k)]
        texts = [tuple(path[:i]) for path, end in zip((text, guess), ends) for i in end]
    else:
        texts = [(), *((x,) for x in case.target([]))]
    rows = [(text, case.target(text), case.drafter(text)) for text in dict.fromkeys(texts)]
    return rows[:1] if all(row[1:] == rows[0][1:] for row in rows) else rows


def _as_law(said: Any) -> Law:
    return {said: Fraction(1)} if isinstance(said, str) else said


def needed(case: Case) -> Fraction:
    """Mean target passes: for words by the engine, for laws by the chain of rounds."""
    if isinstance(case.target([]), str):
        trace = toy.speculative_greedy(case.target, case.drafter, case.n, case.k)
        return Fraction(trace.target_passes)
    return _mean_passes(case, ())


def _mean_passes(case: Case, text: Words) -> Fraction:
    """1 for this round, and what is needed after each text that it may write."""
    if len(text) >= case.n:
        return Fraction(0)
    mean = Fraction(1)
    for written, mass in _round(case, text, case.k):
        mean += mass * _mean_passes(case, written)
    return mean


def _round(case: Case, text: Words, left: int) -> list[tuple[Words, Fraction]]:
    """What a round of the rule writes: a kept x has the mass min(p, q), a corrected one p − q."""
    p = _as_law(case.target(text))
    if not left:
        return [((*text, x), mass) for x, mass in p.items() if mass]
    q, ends = _as_law(case.drafter(text)), []
    for x, mass in p.items():
        if mass > q[x]:
            ends.append(((*text, x), mass - q[x]))
        if kept := min(mass, q[x]):
            ends += [(w, kept * m) for w, m in _round(case, (*text, x), left - 1)]
    return ends


_RAIN = {
    "": "rain",
    "rain": "fell",
    "rain fell": "on",
    "rain fell on": "the",
    "rain fell on the": "roof",
    "rain fell on the roof": "all",
    "rain fell on the roof all": "night",
    "rain fell in": "the",  # what it says after a wrong guess
}
_GUESSES = _RAIN | {
    "rain fell": "in",
    "rain fell in the": "yard",
    "rain fell on the roof": "of",
}


def _tenths(*masses: int) -> Law:
    return {x: Fraction(mass, 10) for x, mass in zip(("held", "cooled", "shone"), masses)}


def _by_last(**rows: tuple[int, int]) -> Callable[[Sequence[str]], Law]:
    """A law of sun and rain, in quarters, by the last word."""
    laws = {x: {"sun": Fraction(a, 4), "rain": Fraction(b, 4)} for x, (a, b) in rows.items()}
    return lambda text: laws.get(text[-1] if text else "", laws["start"])


def _always(law: Any) -> Callable[[Sequence[str]], Any]:
    return lambda text: law


_WRITES = toy.table(_RAIN)
_CLIMATE = _by_last(start=(2, 2), sun=(3, 1), rain=(1, 3))
_GUESSED = _by_last(start=(1, 3), sun=(2, 2), rain=(2, 2))

CASES: dict[str, tuple[Case, ...]] = {
    "greedy": (
        Case("partly", _WRITES, toy.table(_GUESSES), n=7, k=4),
        Case("always", _WRITES, toy.table(_RAIN), n=7, k=4),
        Case("never", _WRITES, toy.random_model(0, vocab=("snow",)), n=7, k=4),
    ),
    "sampling": (
        Case("apart", _always(_tenths(6, 3, 1)), _always(_tenths(2, 7, 1)), n=1, k=1),
        Case("row", _CLIMATE, _GUESSED, n=3, k=2),
        Case("same", _CLIMATE, lambda text: _CLIMATE(text), n=3, k=2),
    ),
}
