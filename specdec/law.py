"""From logits to the one law that drafter, test, residual and bonus all use."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from specdec.constraint import NothingAllowed
from specdec.cuts import largest, nucleus
from specdec.scores import Edits, check

GREEDY_BELOW = 1e-5  # temperatures under this mean greedy: logits / T would overflow the softmax


@dataclass(frozen=True)
class Sampling(Edits):
    """Settings applied in this order: edits, ÷ temperature, top-k, top-p, min-p, renormalise.

    temperature ≥ 0 (below 1e-5: greedy) · top_k ≥ 0 (0: off) · 0 < top_p ≤ 1 · 0 ≤ min_p ≤ 1.
    Edits are penalties, bias and constraints: see `specdec.scores`. They are keywords only.
    """

    temperature: float = 0.0
    top_k: int = 0
    top_p: float = 1.0
    min_p: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        check("temperature", self.temperature, 0 <= self.temperature < np.inf, "0 or more")
        whole = self.top_k >= 0 and self.top_k % 1 == 0  # neither is true of NaN or infinity
        check("top_k", self.top_k, whole, "a whole number, 0 (off) or more")
        check("top_p", self.top_p, 0 < self.top_p <= 1, "in (0, 1]")
        check("min_p", self.min_p, 0 <= self.min_p <= 1, "in [0, 1]")

    @property
    def greedy(self) -> bool:
        """Whether every law is one-hot."""
        return self.temperature < GREEDY_BELOW

    def law(
        self,
        logits: np.ndarray,
        history: Sequence[int] = (),
        token_ids: np.ndarray | None = None,
    ) -> np.ndarray:
        """The law [V] (float64, sums to 1) of the token after `history`, from its logits [V].

        With `token_ids` [v] (ascending) logits and law [v] are of these ids alone. Ties go to the
        lower id. ValueError if a logit is NaN or +inf, or all are -inf, or nothing is allowed.

        Example:
            >>> law = Sampling(temperature=1.0, top_k=2).law(np.log([0.5, 0.1, 0.3, 0.1]))
            >>> law.round(3).tolist()
            [0.625, 0.0, 0.375, 0.0]
        """
        logits = np.asarray(logits)
        if self.plain:
            return self._shaped(logits)
        _best(logits)  # refuses what is no number before it can hide behind a constraint
        logits = self.scores(logits, history, token_ids)
        some = np.flatnonzero(logits > -np.inf) if self.constrained else slice(None)
        law = np.zeros(len(logits))
        law[some] = self._shaped(logits[some])
        return law

    def laws(
        self, rows: Sequence[np.ndarray], history: list[int], draft: list[int]
    ) -> tuple[list[np.ndarray], NothingAllowed | None]:
        """The laws after history + draft[:i] from the logits of row i, and None.

        A constraint may allow nothing after some drafted token, be it that the text ends there or
        that the token was not allowed itself. The draft is over there: the last law is then one
        without the constraint, and with it comes the error to raise if the text gets that far.
        """
        laws = []
        for i, row in enumerate(rows):
            try:
                laws.append(self.law(row, history + draft[:i]))
            except NothingAllowed as error:
                if not i:
                    raise
                free = replace(self, allowed=None, constraint=None)
                return [*laws, free.law(row, history + draft[:i])], error
        return laws, None

    def certainty(
        self,
        logits: np.ndarray,
        history: Sequence[int] = (),
        token_ids: np.ndarray | None = None,
    ) -> float:
        """The chance of the likeliest token at temperature 1, also where the law is one-hot.

        Example:
            >>> round(Sampling(temperature=0.0).certainty(np.log([0.5, 0.2, 0.3])), 9)
            0.5
        """
        scores = self.scores(np.asarray(logits), history, token_ids)
        scores = scores[scores > -np.inf]
        return float(1 / np.exp(scores - scores.max()).sum())

    def _shaped(self, logits: np.ndarray) -> np.ndarray:
        """From the temperature on."""
        best, law = _best(logits), np.zeros(len(logits))
        if self.greedy or self.top_k == 1:
            law[best] = 1.0
            return law
        ids = largest(logits, int(self.top_k)) if self.top_k else slice(None)
        kept = np.exp((logits[ids].astype(np.float64) - float(logits[best])) / self.temperature)
        kept /= kept.sum()
        if self.top_p < 1:
            kept = nucleus(kept, self.top_p)
        if self.min_p > 0:
            kept[kept < self.min_p * kept.max()] = 0.0
        law[ids] = kept / kept.sum()
        return law


def draw(law: np.ndarray, u: float) -> int:
    """The id that the uniform u in [0, 1) draws from law [V]: inverse CDF in id order.

    Example:
        >>> draw(np.array([0.5, 0.0, 0.5]), 0.5)
        2
    """
    ids = np.flatnonzero(law > 0)  # of numbers it takes twenty times as long as of truths
    cdf = law[ids].cumsum()
    at = int(cdf.searchsorted(u * cdf[-1], side="right"))
    return int(ids[min(at, len(ids) - 1)])  # rounding may put u · mass on the mass itself


def _best(logits: np.ndarray) -> int:
    """The lowest id among the maxima; a NaN is one."""
    best = int(np.argmax(logits))
    if not np.isfinite(logits[best]):
        raise ValueError(f"The logits have no finite maximum (id {best}: {logits[best]}).")
    return best
