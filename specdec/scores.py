"""What is done to logits before the temperature: bias, penalties, tokens that may not follow.

All of it is a function of the logits and of the tokens before them, with no memory: a rejected
token leaves no trace.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from specdec.constraint import Constraint, NothingAllowed

Pairs = tuple[tuple[int, float], ...]


@dataclass(frozen=True, kw_only=True)
class Edits:
    """Settings of the logits, in this order, which is vLLM's.

    `logit_bias`: pairs (id, what is added). `repetition_penalty` > 0: the logit of every token of
    the *prompt or* the written text is divided by it (multiplied, if below 0), once however often
    it stands there; as in transformers and vLLM. `presence_penalty` is subtracted once from every
    token of the *written* text, `frequency_penalty` for each time that it stands there; prompts
    are not counted by OpenAI and vLLM, and transformers has neither. `allowed` ids alone, and
    those of the `constraint` alone, may follow.
    """

    repetition_penalty: float = 1.0
    presence_penalty: float = 0.0
    frequency_penalty: float = 0.0
    logit_bias: Pairs = ()
    allowed: tuple[int, ...] | None = None
    constraint: Constraint | None = None
    prompt_length: int = 0  # the first tokens of a history that were not written; the loop sets it

    def __post_init__(self) -> None:
        check("repetition_penalty", x := self.repetition_penalty, 0 < x < np.inf, "more than 0")
        check("presence_penalty", x := self.presence_penalty, abs(x) < np.inf, "a finite number")
        check("frequency_penalty", x := self.frequency_penalty, abs(x) < np.inf, "a finite number")
        check("prompt_length", x := self.prompt_length, x >= 0, "0 or more")
        object.__setattr__(self, "logit_bias", _pairs(self.logit_bias))
        object.__setattr__(self, "allowed", _ids(self.allowed))

    @property
    def constrained(self) -> bool:
        """Whether some tokens may not follow."""
        return self.allowed is not None or self.constraint is not None

    @cached_property
    def plain(self) -> bool:
        """Whether the logits go to the temperature as they are."""
        penalties = self.repetition_penalty != 1, self.presence_penalty, self.frequency_penalty
        return not (any(penalties) or self.logit_bias or self.constrained)

    def scores(
        self, logits: np.ndarray, history: Sequence[int], token_ids: np.ndarray | None = None
    ) -> np.ndarray:
        """The logits [V] as they go to the temperature; -inf where a token may not follow.

        With `token_ids` [v] the logits [v] are of these ids alone, ascending. NothingAllowed if
        every token that may follow has no chance, or none may.
        """
        if self.plain:
            return logits
        x = logits.astype(np.promote_types(logits.dtype, np.float32))  # a copy
        written = history[self.prompt_length :]
        if self.logit_bias:
            at, known = _columns(self._bias[0], len(x), token_ids)
            x[at] += self._bias[1][known]
        if self.repetition_penalty != 1:
            at, _ = _columns(history, len(x), token_ids)
            x[at] = _shrunk(x[at], self.repetition_penalty)
        if self.presence_penalty or self.frequency_penalty:
            at, counts = np.unique(_columns(written, len(x), token_ids)[0], return_counts=True)
            x[at] -= self.presence_penalty + self.frequency_penalty * counts
        for ids in self._may_follow(written):
            at, _ = _columns(ids, len(x), token_ids)
            x, every = np.full_like(x, -np.inf), x
            x[at] = every[at]
        if self.constrained and not x.max(initial=-np.inf) > -np.inf:
            raise NothingAllowed(self.constraint, len(written))
        return x

    @cached_property
    def _bias(self) -> tuple[np.ndarray, np.ndarray]:
        ids, bias = zip(*self.logit_bias)
        return np.array(ids), np.array(bias)

    @cached_property
    def _allowed(self) -> np.ndarray:
        return np.array(self.allowed)

    def _may_follow(self, written: Sequence[int]) -> Iterator[np.ndarray]:
        if self.allowed is not None:
            yield self._allowed
        if self.constraint is not None:
            yield self.constraint.allows(written)


def check(name: str, value: float, fits: bool, allowed: str) -> None:
    """ValueError with the setting's name, its value and what it may be, unless it `fits`."""
    if not fits:
        raise ValueError(f"{name} is {value}; it must be {allowed}.")


def _shrunk(x: np.ndarray, penalty: float) -> np.ndarray:
    return np.where(x > 0, x / penalty, x * penalty)


def _columns(
    ids: Sequence[int], v: int, token_ids: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray]:
    """Columns of the ids that have one, and which of the ids these are (bool)."""
    ids = np.asarray(ids, np.int64)
    if token_ids is None:
        known = (ids >= 0) & (ids < v)
        return ids[known], known
    at = np.minimum(np.searchsorted(token_ids, ids), v - 1)
    known = np.asarray(token_ids)[at] == ids
    return at[known], known


def _pairs(bias: Mapping[int, float] | Iterable[tuple[int, float]]) -> Pairs:
    """(id, bias), ordered by id."""
    pairs = bias.items() if isinstance(bias, Mapping) else bias
    try:
        tidy = tuple(sorted((operator.index(i), float(x)) for i, x in pairs))
    except (TypeError, ValueError, OverflowError):
        tidy = ((-1, 0.0),)
    fits = all(i >= 0 and abs(x) < np.inf for i, x in tidy) and len(dict(tidy)) == len(tidy)
    check("logit_bias", bias, fits, "pairs (id, finite number), no id twice")
    return tidy


def _ids(allowed: Iterable[int] | None) -> tuple[int, ...] | None:
    """Each id once, ascending; None: every token may follow."""
    if allowed is None:
        return None
    try:
        tidy = tuple(sorted({operator.index(i) for i in allowed}))
    except TypeError:
        tidy = ()
    check("allowed", allowed, bool(tidy) and tidy[0] >= 0, "ids, one at least (None: all may)")
    return tidy
