"""A grammar as a function: the tokens written so far → the ids that may follow."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import InitVar, dataclass

import numpy as np

Rule = Callable[[Sequence[int]], Iterable[int]]


@dataclass(frozen=True)
class Constraint:
    """`rule(written)` says which ids may follow the tokens written so far, the prompt not included.

    It must be a function of these alone: it is asked about drafted tokens too, and some of them
    are rejected, or fit no text of the grammar. The name stands for the rule: constraints of one
    name are equal, and a file keeps nothing else.

    Example:
        >>> in_turn = Constraint("0 and 1 in turn", lambda written: {len(written) % 2})
        >>> in_turn.allows([0, 1, 0]).tolist()
        [1]
    """

    name: str
    rule: InitVar[Rule | None] = None

    def __post_init__(self, rule: Rule | None) -> None:
        object.__setattr__(self, "_rule", rule)

    def allows(self, written: Sequence[int]) -> np.ndarray:
        """The ids that may follow; ValueError if only the name came from a file."""
        if self._rule is None:
            raise ValueError(
                f"The constraint {self.name!r} is known by its name only: a file keeps no rule."
            )
        ids = self._rule(written)
        return np.asarray(ids if isinstance(ids, np.ndarray) else list(ids), np.int64)


class NothingAllowed(ValueError):  # noqa: N818  (it is no fault while the text does not get there)
    """No token may follow."""

    def __init__(self, constraint: Constraint | None, written: int) -> None:
        who = f"constraint {constraint.name!r}" if constraint else "list of allowed tokens"
        super().__init__(
            f"After {written} written tokens the {who} leaves none that the model gives a chance."
        )
