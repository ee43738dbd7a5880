"""The stations of page 8: each a way to go wrong, in a module that is loaded when it is chosen.

A station's module has `draw(link) -> state`: it draws its question and its four parts, and gives
back what a link needs to open it like this again. `LIMITS` (optional) are the link's keys that it
reads, as in `specdec.ui.query`; `link` has a value in range for each of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType


@dataclass(frozen=True)
class Station:
    """One way to go wrong: its key in a link, its title, the module that draws it."""

    key: str
    title: str
    module: str

    @property
    def number(self) -> int:
        """Its place on the page, from 1."""
        return ALL.index(self) + 1

    @property
    def label(self) -> str:
        """Number and title."""
        return f"{self.number} · {self.title}"

    def load(self) -> ModuleType:
        """The module, imported now."""
        return import_module(self.module)


ALL = tuple(
    Station(key, title, f"{__name__}.{key}")
    for key, title in (
        ("tokenizer", "A foreign tokenizer"),
        ("long", "A long draft, seldom right"),
        ("batch", "A large batch"),
        ("settings", "Forgotten settings"),
        ("ties", "Near-ties in low precision"),
        ("ends", "The end inside a draft"),
        ("caches", "Caches and contexts"),
        ("endings", "Too good, too weak"),
    )
)
STATIONS = tuple(station for station in ALL if find_spec(station.module))


def by_key(key: str) -> Station:
    """The station of this key; ValueError if there is none."""
    for station in STATIONS:
        if station.key == key:
            return station
    raise ValueError(
        f"There is no station {key!r}; there are {', '.join(s.key for s in STATIONS)}."
    )
