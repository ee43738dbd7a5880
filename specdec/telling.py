"""Progress of a command, on a terminal or in a log."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TextIO


@contextmanager
def telling(out: TextIO) -> Iterator[Callable[[float, str], None]]:
    """Tells progress: on a terminal in one line that changes, else a line per phase or 10 %."""
    terminal, last = out.isatty(), None

    def progress(fraction: float, words: str) -> None:
        nonlocal last
        line = f"{fraction:4.0%}  {words}"
        step = line if terminal else (int(fraction * 10), words.partition(":")[0])
        if step != last:
            last = step
            print(f"\r{line:<66}" if terminal else f"{line}\n", end="", file=out, flush=True)

    try:
        yield progress
    finally:
        if terminal and last:
            print(file=out)  # what comes next begins a line
