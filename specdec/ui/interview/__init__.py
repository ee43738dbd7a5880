"""The parts of page 9, each in a module of this folder that is loaded when it is chosen.

A part's module has `draw(link) -> state`: it draws itself and gives back what a link needs to open
it like this again. `LIMITS` (optional) are the link's keys that it reads, as in `specdec.ui.query`;
`link` has a value in range for each of them.
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from types import ModuleType

ALL = ("questions", "walkthrough", "minute", "cards", "sheet", "predict", "numbers", "code")
PARTS = tuple(name for name in ALL if find_spec(f"{__name__}.{name}"))


def load(name: str) -> ModuleType:
    """The module of a part, imported now; ValueError if there is none."""
    if name not in PARTS:
        raise ValueError(f"There is no part {name!r}; there are {', '.join(PARTS)}.")
    return import_module(f"{__name__}.{name}")
