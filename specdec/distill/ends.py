"""When a long step ends: by the clock, or when the reader asks."""

from __future__ import annotations

import math
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager


def end(until: str | None, minutes: float | None, now: float) -> float:
    """The moment (seconds since the epoch) of "17:55", its next one, or in `minutes`; else ∞."""
    ends = [math.inf]
    if minutes is not None:
        if not minutes >= 0:
            raise ValueError(f"minutes is {minutes}; it must be 0 or more.")
        ends.append(now + 60 * minutes)
    if until is not None:
        ends.append(_next(until, now))
    return min(ends)


def _next(until: str, now: float) -> float:
    try:
        wanted = time.strptime(until, "%H:%M")
    except ValueError:
        raise ValueError(f"until is {until!r}; it must be a time of day like 17:55.") from None
    today = time.localtime(now)
    for day in (0, 1):
        parts = (*today[:2], today.tm_mday + day, wanted.tm_hour, wanted.tm_min, 0, 0, 0, -1)
        if (at := time.mktime(parts)) > now:
            return at
    raise AssertionError("a time of day comes within 24 hours")


@contextmanager
def asked_to_stop() -> Iterator[Callable[[], bool]]:
    """Whether Ctrl-C or a termination came; a second one interrupts at once."""
    asked = threading.Event()

    def ask(number: int, frame: object) -> None:
        if asked.is_set():
            raise KeyboardInterrupt
        asked.set()

    mine = threading.current_thread() is threading.main_thread()  # others may set no handlers
    names = (signal.SIGINT, signal.SIGTERM) if mine else ()
    before = {name: signal.signal(name, ask) for name in names}
    try:
        yield asked.is_set
    finally:
        for name, handler in before.items():
            signal.signal(name, handler)
