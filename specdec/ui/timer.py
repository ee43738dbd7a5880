"""A clock in the browser: counts up beside a question, or counts a minute down."""

from __future__ import annotations

from specdec.language import text
from specdec.ui.component import component

_mount = component("timer", ("words",))


def counting(key: str, name: str, elapsed: float) -> None:
    """Seconds since a question appeared, from `elapsed` on; `name` tells questions apart."""
    _mount(key=key, data={"name": name, "elapsed": elapsed, "words": dict(text("timer"))})


def countdown(key: str, name: str, seconds: int = 60) -> None:
    """A minute to start, pause and reset; another `name` resets it. It keeps its time to itself."""
    _mount(key=key, data={"name": name, "limit": seconds, "words": dict(text("timer"))})
