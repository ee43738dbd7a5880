"""How good were the reader's predictions: hits, Brier score, streaks, and calibration.

Confidence is the chance that the reader gives to his own answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from specdec import calibration
from specdec.calibration import Bin

EDGES = (0.0, 0.2, 0.4, 0.6, 0.8, 0.9, 1.0)


@dataclass(frozen=True)
class Answer:
    """One prediction: how sure, right or not, and the chance that the rule gave this answer."""

    sure: float
    right: bool
    chance: float | None = None  # None: greedy, nothing was left to chance

    def __post_init__(self) -> None:
        if not 0 <= self.sure <= 1:
            raise ValueError(f"A confidence is in [0, 1], but it is {self.sure}.")


@dataclass(frozen=True)
class Score:
    """All predictions so far; every field counts answered questions only."""

    n: int
    right: int
    sure: float  # mean confidence
    brier: float
    chances: float | None  # the Brier score of the rule's own chances; None where there are none
    told: int  # answers to which the rule gave a chance
    streak: int  # right answers in a row up to now
    longest: int
    bins: tuple[Bin, ...]

    @property
    def rate(self) -> float:
        """The share that was right."""
        return self.right / self.n

    @property
    def gap(self) -> float:
        """How far confidence and share lie apart, by bins."""
        return calibration.gap(self.bins) or 0.0


def score(answers: Sequence[Answer]) -> Score | None:
    """The score of these answers, in the order of answering; None without any.

    Example:
        >>> found = score([Answer(0.9, True), Answer(0.6, False)])
        >>> found.right, round(found.brier, 3), found.streak, found.longest
        (1, 0.185, 0, 1)
    """
    if not answers:
        return None
    sure, right = [a.sure for a in answers], [a.right for a in answers]
    told = [a for a in answers if a.chance is not None]
    now, longest = streaks(right)
    return Score(
        n=len(answers),
        right=sum(right),
        sure=sum(sure) / len(answers),
        brier=brier(sure, right),
        chances=brier([a.chance for a in told], [a.right for a in told]) if told else None,
        told=len(told),
        streak=now,
        longest=longest,
        bins=calibration.bins(sure, right, EDGES),
    )


def brier(sure: Sequence[float], right: Sequence[bool]) -> float:
    """The mean of (confidence − 1 if right, else confidence)²: 0 is perfect, ½ always gives ¼.

    Whoever says what he believes has the smallest one on average. ValueError without answers.

    Example:
        >>> brier([0.5, 0.5], [True, False])
        0.25
    """
    if not sure or len(sure) != len(right):
        raise ValueError(f"{len(sure)} confidences and {len(right)} results give no score.")
    return sum((x - y) ** 2 for x, y in zip(sure, right)) / len(sure)


def streaks(right: Sequence[bool]) -> tuple[int, int]:
    """Right answers in a row: those that end the list, and the longest there were.

    Example:
        >>> streaks([True, True, False, True])
        (1, 2)
    """
    run = longest = 0
    for hit in right:
        run = run + 1 if hit else 0
        longest = max(longest, run)
    return run, longest
