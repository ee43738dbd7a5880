"""A walk through questions that are asked and then answered: where it stands, and the times."""

from __future__ import annotations

from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Walk:
    """At `place` 2i question i is asked, at 2i + 1 it is answered; `since`: a clock's seconds.

    `spent` has the seconds from a question's appearance to its answer, None where untimed.
    """

    spent: tuple[float | None, ...]
    place: int = 0
    since: float | None = None

    @property
    def question(self) -> int:
        """The question in sight, from 0."""
        return self.place // 2

    @property
    def answered(self) -> bool:
        """Whether its answer is in sight."""
        return self.place % 2 == 1

    @property
    def revealed(self) -> int:
        """How many answers are on the board."""
        return (self.place + 1) // 2

    @property
    def ended(self) -> bool:
        """Whether the last answer is in sight."""
        return self.place == 2 * len(self.spent) - 1

    def on(self, now: float) -> Walk:
        """The next place; to reveal an answer stops the clock of its question, once.

        Example:
            >>> start(2).at(0, 10.0).on(14.5)
            Walk(spent=(4.5, None), place=1, since=None)
        """
        if self.ended:
            return self
        if self.answered:
            return self.at(self.place + 1, now)
        spent = list(self.spent)
        if spent[self.question] is None and self.since is not None:
            spent[self.question] = now - self.since
        return Walk(tuple(spent), self.place + 1)

    def at(self, place: int, now: float) -> Walk:
        """Any place; the clock of a question starts when it appears without a time of its own."""
        place = min(max(place, 0), 2 * len(self.spent) - 1)
        timed = place % 2 == 0 and self.spent[place // 2] is None
        return replace(self, place=place, since=now if timed else None)


def start(n: int) -> Walk:
    """Before the first of n questions."""
    return Walk((None,) * n)
