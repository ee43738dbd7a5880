"""One model, many readers: whoever asked first decodes the next round, and sees his place."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager


class Gate:
    """A first-come-first-served lock that says how many are ahead."""

    def __init__(self) -> None:
        self._queue: deque[object] = deque()
        self._changed = threading.Condition()

    @contextmanager
    def turn(self, who: object) -> Iterator[None]:
        """Wait for the turn of `who`, hold it, pass it on."""
        with self._changed:
            self._queue.append(who)
            self._changed.wait_for(lambda: self._queue[0] is who)
        try:
            yield
        finally:
            with self._changed:
                self._queue.popleft()
                self._changed.notify_all()

    def ahead(self, who: object) -> int:
        """How many turns come before that of `who`; 0 if it holds the turn or does not wait."""
        with self._changed:
            queue = list(self._queue)
        return queue.index(who) if who in queue else 0
