"""A long task that says how far it is, stops when asked, and leaves nothing half-made behind."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

Progress = Callable[[float, str], None]  # (fraction in [0, 1], what is going on)

CHUNK = 1 << 20  # bytes
TICK = 0.1  # seconds between looks at a child process
PROJECT = Path(__file__).parents[2]


class CancelledError(RuntimeError):
    """The task was asked to stop."""


class Job:
    """One task in one folder. Setting `cancel`, from any thread, ends it with CancelledError."""

    def __init__(
        self, folder: Path, progress: Progress | None, cancel: threading.Event | None
    ) -> None:
        self.folder, self._progress = folder, progress or (lambda fraction, words: None)
        self._cancel, self._furthest = cancel or threading.Event(), 0.0

    def check(self) -> None:
        """CancelledError if the task was asked to stop."""
        if self._cancel.is_set():
            raise CancelledError

    def say(self, fraction: float, words: str) -> None:
        """Report progress, which never goes back."""
        self.check()
        self._furthest = max(self._furthest, fraction)
        self._progress(self._furthest, words)

    @contextmanager
    def alone(self) -> Iterator[Path]:
        """A temporary folder, once no other process works in `folder`.

        The lock ends with its process, so what lies there when it is free was left behind.
        """
        from filelock import FileLock, Timeout

        self.folder.mkdir(parents=True, exist_ok=True)
        lock = FileLock(self.folder / ".lock")
        while not lock.is_locked:
            try:
                lock.acquire(timeout=TICK)
            except Timeout:
                self.say(0.0, "Waiting for another process that does the same")
        try:
            for stale in self.folder.glob(".making-*"):
                shutil.rmtree(stale, ignore_errors=True)
            temporary = Path(tempfile.mkdtemp(prefix=".making-", dir=self.folder))
            try:
                yield temporary
            finally:
                shutil.rmtree(temporary, ignore_errors=True)
        finally:
            lock.release()

    def run(
        self, arguments: list[str], temporary: Path, look: Callable[[str], None]
    ) -> tuple[bool, str]:
        """Run Python with these arguments: whether it succeeded, and what it said.

        `look` is called with its output so far, again and again. Its temporary files go to
        `temporary`, where they are seen and cleaned up.
        """
        path = [str(PROJECT), os.environ.get("PYTHONPATH", "")]
        environment = os.environ | dict.fromkeys(("TMPDIR", "TMP", "TEMP"), str(temporary))
        environment["PYTHONPATH"] = os.pathsep.join(filter(None, path))
        log = temporary / "log.txt"
        with log.open("wb") as out:
            child = subprocess.Popen(
                [sys.executable, *arguments],
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                env=environment,
            )
            try:
                while child.poll() is None:
                    look(log.read_text("utf-8", "replace"))
                    time.sleep(TICK)
            finally:
                child.kill()
                child.wait()
        return child.returncode == 0, log.read_text("utf-8", "replace")

    def copy(self, source: BinaryIO, to: Path | None = None) -> str:
        """Read a file to its end and write it to `to`, if given; its SHA-256."""
        digest = hashlib.sha256()
        with open(to or os.devnull, "wb") as out:
            while chunk := source.read(CHUNK):
                self.check()
                digest.update(chunk)
                out.write(chunk)
        return digest.hexdigest()
