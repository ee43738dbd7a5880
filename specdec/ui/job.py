"""Work that outlasts a script run: a thread that a page starts, watches and may cancel."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from typing import Any

READABLE = (ValueError, RuntimeError, OSError, MemoryError)  # errors that a reader is told


class Job:
    """Runs work(job) in a thread, which reports through `say` and looks at `cancelled`.

    The thread never touches streamlit; `error` is a sentence, "" while all is well.
    """

    def __init__(self, work: Callable[[Job], Any]) -> None:
        self.result: Any = None
        self.error, self.words, self.fraction = "", "", 0.0
        self._cancel = threading.Event()
        self._thread = threading.Thread(target=self._run, args=(work,), daemon=True)
        self._thread.start()

    @property
    def running(self) -> bool:
        """Whether the work goes on."""
        return self._thread.is_alive()

    @property
    def cancelled(self) -> bool:
        """Whether the reader asked to stop."""
        return self._cancel.is_set()

    def cancel(self) -> None:
        """Ask to stop; the work does so at its next look."""
        self._cancel.set()

    def wait(self) -> None:
        """Return when the work is done."""
        self._thread.join()

    def say(self, fraction: float, words: str) -> None:
        """Report how much is done, in [0, 1], and what is being done."""
        self.fraction, self.words = min(1.0, max(0.0, fraction)), words

    def _run(self, work: Callable[[Job], Any]) -> None:
        try:
            self.result = work(self)
        except READABLE as error:
            self.error = str(error) or type(error).__name__
        except Exception as error:  # ours to mend: the log has it, the reader a sentence
            logging.getLogger(__name__).exception("A job failed")
            self.error = f"This failed, and should not have ({type(error).__name__}). Try again."
