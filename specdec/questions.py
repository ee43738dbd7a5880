"""The interview's questions, as data: three answers, the usual wrong one, and where to look."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Literal
from urllib.parse import parse_qsl

from specdec.language import entries
from specdec.stated import Stated

Topic = Literal["idea", "rule", "same", "speed", "cache", "drafters", "serving"]
Depth = Literal["line", "middle", "senior"]
TOPICS: tuple[str, ...] = ("idea", "rule", "same", "speed", "cache", "drafters", "serving")
DEPTHS: tuple[str, ...] = ("line", "middle", "senior")


@dataclass(frozen=True)
class Show:
    """Where another page shows it: its address, and the keys of its link as they stand in one."""

    address: str
    state: str = ""

    @property
    def keys(self) -> dict[str, str]:
        """The link's keys and values."""
        return dict(parse_qsl(self.state, keep_blank_values=True, strict_parsing=bool(self.state)))


@dataclass(frozen=True)
class Question:
    """What is asked, what to say at each depth, and the usual wrong answer with its fault."""

    name: str  # in links
    topic: Topic
    ask: str
    line: str
    middle: str
    senior: str
    wrong: str
    why: str
    see: str  # what to look at there
    show: Show
    formula: str = ""  # LaTeX, of the senior answer
    source: str = ""  # of facts that are not computed here
    given: tuple[str, ...] = ()  # numbers in the answers that are facts of the source or examples
    checks: tuple[Stated, ...] = ()  # numbers in the answers that the closed forms give

    def answer(self, depth: str) -> str:
        """The answer of a depth."""
        return {"line": self.line, "middle": self.middle, "senior": self.senior}[depth]

    @property
    def words(self) -> str:
        """All that a search looks through."""
        return " ".join(
            (self.ask, self.line, self.middle, self.senior, self.wrong, self.why, self.source)
        )


@cache
def questions(language: str = "en") -> tuple[Question, ...]:
    """All questions, in the order of the language file."""
    return entries("question", Question, language)


def find(words: str = "", topic: str = "all", language: str = "en") -> tuple[Question, ...]:
    """The questions of a topic (or "all") that have every one of these words somewhere.

    Example:
        >>> [question.name for question in find("temperature one-hot", "same")]
        ['greedy']
    """
    wanted = words.casefold().split()
    return tuple(
        question
        for question in questions(language)
        if topic in ("all", question.topic)
        and all(word in question.words.casefold() for word in wanted)
    )
