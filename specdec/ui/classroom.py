"""A class script: which states of which pages to show, in order, for how long, with what words."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from specdec.language import FOLDER
from specdec.schema import build
from specdec.ui import query, shell

BUILT_IN = FOLDER / "class.toml"
MOST_BYTES, MOST_STATES, MOST_MINUTES = 100_000, 100, 600
OWN = {"present", "seen"}  # keys of a link that are the visit's, not the state's


@dataclass(frozen=True)
class State:
    """One link of a script: a page in a state, the minutes it gets, and what to say and ask."""

    title: str
    page: str
    minutes: float
    say: str = ""
    ask: str = ""
    answer: str = ""

    def __post_init__(self) -> None:
        shell.page(self.page)
        if not 0 < self.minutes <= MOST_MINUTES:
            raise ValueError(f"minutes is {self.minutes:g}; it goes up to {MOST_MINUTES}, above 0.")


@dataclass(frozen=True)
class Script:
    """A script, as read and as text; `links` has the settings of every state."""

    title: str
    states: tuple[State, ...]
    links: tuple[Mapping[str, Any], ...]
    text: str

    def starts(self) -> tuple[float, ...]:
        """The minute at which each state begins, and the one at which the last ends."""
        ends = [0.0]
        for state in self.states:
            ends.append(ends[-1] + state.minutes)
        return tuple(ends)

    def addresses(self, **more: Any) -> tuple[str, ...]:
        """The full address of every state; `more` goes into each link, as present=1."""
        pairs = zip(self.states, self.links)
        return tuple(shell.address_of(state.page, **link, **more) for state, link in pairs)


def built_in() -> Script:
    """The script that comes with the app."""
    return read(BUILT_IN.read_bytes())


def read(data: bytes) -> Script:
    """A script from a file; ValueError says in a sentence what is wrong, and where."""
    if len(data) > MOST_BYTES:
        raise ValueError(f"It has {len(data)} bytes; a script has {MOST_BYTES} at most.")
    try:
        text = data.decode("utf-8")
        table = tomllib.loads(text)
    except UnicodeDecodeError:
        raise ValueError("It is not text in UTF-8.") from None
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise ValueError(f"It is not TOML: {error}.") from None
    rows = table.pop("state", None)
    if not isinstance(rows, list) or not 1 <= len(rows) <= MOST_STATES:
        raise ValueError(f"It needs 1 to {MOST_STATES} entries, each begun by [[state]].")
    title = build(_Head, table, "Above the first [[state]]").title
    both = [_state(row, f"State {i}") for i, row in enumerate(rows, 1)]
    return Script(title, tuple(s for s, _ in both), tuple(link for _, link in both), text)


@dataclass(frozen=True)
class _Head:
    title: str = "A class"


def _state(row: Any, where: str) -> tuple[State, Mapping[str, Any]]:
    if not isinstance(row, dict):
        raise ValueError(f"{where}: it is begun by [[state]].")
    link = row.pop("link", {})
    if not isinstance(link, dict):
        raise ValueError(f"{where}: settings stand below [state.link].")
    return build(State, row, where), {name: _value(name, link[name], where) for name in link}


def _value(name: str, value: Any, where: str) -> Any:
    known = sorted(set(query.KEYS) - OWN)
    if name not in known:
        raise ValueError(f"{where}: a link has no key {name!r}; its keys are {', '.join(known)}.")
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise ValueError(f"{where}: {name} is a number or a text.")
    key = query.KEYS[name]
    fault = "" if isinstance(key, query.Choice) else key.parse(str(value))[1]  # pages choose
    if fault:
        raise ValueError(f"{where}: {name} {fault.split(':')[0].rstrip('.')}.")
    return value
