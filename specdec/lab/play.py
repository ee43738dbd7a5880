"""Rules as tables from which draft, test and replacement are really drawn, 65 536 at a time."""

from __future__ import annotations

import numpy as np

from specdec import rule
from specdec.lab.rules import RULES, Rule

CHUNK = 2**16  # plays between two looks at progress and cancel


class OnePosition:
    """A rule of the lab on two laws [V]; a play writes one token."""

    def __init__(self, r: Rule, p: np.ndarray, q: np.ndarray) -> None:
        self.law, self.stream = p.astype(float), (1, RULES.index(r))
        self._drafted = r.drafts is not None
        self._drafts = cdf(r.drafts(p, q) if self._drafted else p)  # [V]
        self._acceptance = r.acceptance(p, q).astype(float)  # [V]
        self._replacement = np.array([cdf(r.replacement(p, q, x)) for x in range(len(p))])  # [V, V]

    def play(self, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Written tokens [CHUNK] and accepted drafts of each play [CHUNK]."""
        tokens = np.searchsorted(self._drafts, rng.random(CHUNK), side="right")
        if not self._drafted:
            return tokens, np.zeros(CHUNK, dtype=bool)
        kept = rng.random(CHUNK) < self._acceptance[tokens]
        lost, u = np.flatnonzero(~kept), rng.random(CHUNK)
        tokens[lost] = from_cdf(self._replacement[tokens[lost]], u[lost])
        return tokens, kept


class TwoPositions:
    """A lossless rule of the engine on two positions with the same laws [V], drafted at once.

    A play writes two tokens, counted as one of V² pairs; where a round wrote but one of them, the
    target writes the other.
    """

    def __init__(self, which: str, p: np.ndarray, q: np.ndarray) -> None:
        p, q = p.astype(float), q.astype(float)
        self.law, self.stream = np.outer(p, p).ravel(), (2, rule.RULES.index(which))
        self._size, self._last_wins = len(p), which == "block"
        self._p, self._drafts = cdf(p), cdf(q)
        pairs = [(a, b) for a in range(len(p)) for b in range(len(p))]
        weighed = [rule.weigh([p, p, p], [q, q], pair, which) for pair in pairs]
        self._thresholds = np.array([thresholds for thresholds, _ in weighed], float)  # [V², 2]
        self._next = np.array([[cdf(law(i)) for i in (0, 1)] for _, law in weighed])  # [V², 2, V]

    def play(self, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Written pairs [CHUNK] and accepted drafts of each play [CHUNK]."""
        first, second = np.searchsorted(self._drafts, rng.random((2, CHUNK)), side="right")
        pair = first * self._size + second
        passed = (rng.random((CHUNK, 2)) < self._thresholds[pair]).T  # [2, CHUNK]
        both = passed[1] if self._last_wins else passed.all(axis=0)
        kept = np.where(both, 2, passed[0])
        own, lost, u = np.zeros(CHUNK, dtype=int), np.flatnonzero(kept < 2), rng.random(CHUNK)
        own[lost] = from_cdf(self._next[pair[lost], kept[lost]], u[lost])
        alone = np.searchsorted(self._p, rng.random(CHUNK), side="right")
        first = np.where(kept > 0, first, own)
        second = np.choose(kept, [alone, own, second])
        return first * self._size + second, kept


def cdf(law: np.ndarray) -> np.ndarray:
    """Cumulative sums [V]; 1 from the last token with mass on, so that no u falls beyond it."""
    masses = law.astype(float)
    sums = np.cumsum(masses)
    sums[np.flatnonzero(masses)[-1] :] = 1.0
    return sums


def from_cdf(rows: np.ndarray, u: np.ndarray) -> np.ndarray:
    """A token [n] from each row of cumulative sums [n, V] by its uniform [n]."""
    return (rows <= u[:, None]).sum(axis=1)
