"""Real models behind the pages: loaded once for everybody, stepped one round at a time.

Threads here never touch streamlit: pages poll what a `Live` holds.
"""

from __future__ import annotations

import gc
import sys
import threading
from dataclasses import dataclass, field
from typing import Any

import streamlit as st

from specdec import Run, Trace, rounds, tail
from specdec.compare import Check, check
from specdec.trace import Settings
from specdec.ui.gate import Gate
from specdec.ui.job import Job

GATE = Gate()
MAX_PROMPT_TOKENS, MAX_NEW_TOKENS, MAX_K = 1024, 256, 16
DOING = {
    "trace": "Drafting and verifying",
    "tails": "Looking at discarded tails again, after the right token",
    "plain": "Plain decoding of the same prompt, for comparison",
    "check": "Comparing the two texts",
}


DTYPES = {"auto": "as fits the machine", "bf16": "bfloat16", "fp32": "float32"}
DEVICES = {"auto": "as fits the machine", "cpu": "the processor"}


@dataclass(frozen=True)
class Asked:
    """What a reader asked for, and what it is to run in and on: keys of DTYPES and DEVICES."""

    prompt: str
    settings: Settings
    dtype: str = "auto"
    device: str = "auto"


@dataclass
class _Loading:
    """The loads that everybody waits for, and the pairs that stay: one a precision and device."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    fraction: float = 0.0
    words: str = ""
    pairs: dict[tuple[str, str], Any] = field(default_factory=dict)


_LOADING = _Loading()


def loading() -> tuple[float, str]:
    """How far the load of the pair is, in [0, 1], and what it does; (0, "") if none goes on."""
    return (_LOADING.fraction, _LOADING.words) if _LOADING.lock.locked() else (0.0, "")


def load(dtype: str = "auto", device: str = "auto") -> Any:
    """The default pair in this precision; the first caller loads, the others wait for it."""
    with _LOADING.lock:
        if (dtype, device) not in _LOADING.pairs:
            import specdec

            def progress(fraction: float, words: str) -> None:
                _LOADING.fraction, _LOADING.words = fraction, words

            asked = {"dtype": dtype, "device": device}
            asked = {name: value for name, value in asked.items() if value != "auto"}
            pair = specdec.load_pair(**asked, progress=progress)
            same = (p for p in _LOADING.pairs.values() if p.hardware == pair.hardware)
            _LOADING.pairs[dtype, device] = next(same, pair)  # "auto" may be one of the others
            gc.collect()
            gc.freeze()  # or every later collection walks all of torch, holding the lock
        return _LOADING.pairs[dtype, device]


def warning(dtype: str = "auto", device: str = "auto") -> str:
    """What the probe of a loaded pair found to be said; "" if nothing, or not loaded yet."""
    pair = _LOADING.pairs.get((dtype, device))
    if pair is None or getattr(pair, "rows_are_exact", True):
        return ""
    from specdec.models.pairs import INEXACT

    return INEXACT


def has_gpu() -> bool:
    """Whether there is a choice of devices; False as long as no pair was loaded."""
    # Not before a pair is there: another thread may be in the middle of importing torch.
    return bool(_LOADING.pairs) and sys.modules["torch"].cuda.is_available()


def progress(job: Job) -> tuple[float, str]:
    """How far work with the pair is, in [0, 1], and what a reader who waits for it is told."""
    if ahead := GATE.ahead(job):
        return job.fraction, f"Waiting: {ahead} turn{'s' * (ahead != 1)} of other readers first"
    if job.words:
        return job.fraction, job.words
    fraction, words = loading()
    return fraction, words or "Loading the two models"


class Live:
    """One reader's run: started, stepped and cancelled by a page, decoded by a thread."""

    def __init__(self) -> None:
        self.asked: Asked | None = None
        self.trace: Trace | None = None
        self.plain: Trace | None = None
        self.check: Check | None = None
        self._run: Run | None = None
        self._job: Job | None = None

    @property
    def running(self) -> bool:
        """Whether a thread is at work for this reader."""
        return self._job is not None and self._job.running

    @property
    def error(self) -> str:
        """What went wrong, in a sentence; "" if nothing did."""
        return self._job.error if self._job else ""

    @property
    def ended(self) -> bool:
        """Whether the speculative run has come to its end."""
        return self.trace is not None and self.trace.stop_reason is not None

    def progress(self) -> tuple[float, str]:
        """How much of what goes on is done, in [0, 1], and what it is; (0, "") before any."""
        return progress(self._job) if self._job else (0.0, "")

    def start(self, asked: Asked, *, one_round: bool = False) -> None:
        """Begin or go on: `one_round` pauses after a round; other settings begin a new run."""
        if self.running:
            return
        if asked != self.asked or self.ended or self._run is None:
            self._reset(asked)
        self._job = Job(lambda job: self._work(job, one_round))

    def cancel(self) -> None:
        """Stop after the round in progress; what was written stays."""
        if self._job:
            self._job.cancel()

    def wait(self) -> None:
        """Return when the thread is done."""
        if self._job:
            self._job.wait()

    def close(self) -> None:
        """Free the caches, when the reader's tab has closed; a thread at work frees its own."""
        self.cancel()
        if self._run is not None and not self.running:
            self._run.close()

    def forget(self) -> None:
        """Back to where nothing had run; not while a thread is at work."""
        if not self.running:
            self._reset(None)
            self._job = None

    def _reset(self, asked: Asked | None) -> None:
        if self._run is not None:
            self._run.close()
        self.asked, self._run = asked, None
        self.trace = self.plain = self.check = None

    def _work(self, job: Job, one_round: bool) -> None:
        pair = load(self.asked.dtype, self.asked.device)
        if self._run is None:
            self._run = _run(pair, self.asked)
        before = self.trace
        self._advance(job, self._run, "trace", one_round)
        if job.cancelled:
            self._run.close()
            self.trace = self._run.trace
        job.say(1.0, DOING["tails"])
        self.trace = tail.of_pair(
            pair,
            self.trace,
            known=before,
            turn=lambda: GATE.turn(job),
            over=lambda: job.cancelled,
        )
        if self.ended and not job.cancelled:
            self._beside(job, pair)

    def _advance(self, job: Job, run: Run, name: str, one_round: bool = False) -> None:
        trace, n = getattr(self, name), self.asked.settings.max_new_tokens
        while not job.cancelled:
            job.say(len(trace.token_ids) / n if trace else 0.0, DOING[name])
            with GATE.turn(job):
                next(run)
            trace = run.trace
            setattr(self, name, trace)
            if trace.stop_reason or one_round:
                return

    def _beside(self, job: Job, pair: Any) -> None:
        """Plain decoding of the same prompt; if greedy texts part, both again at one shape."""
        run = _run(pair, self.asked, k=0)
        try:
            self._advance(job, run, "plain")
        finally:
            run.close()
        if job.cancelled or not self.asked.settings.sampling.greedy:
            return
        job.say(0.0, DOING["check"])
        with GATE.turn(job):
            self.check = check(pair, self.asked.prompt, self.trace, self.plain)


def _run(pair: Any, asked: Asked, **changed: Any) -> Run:
    run = rounds(pair, asked.prompt, **asked.settings.options() | changed)
    if run.prompt_tokens > MAX_PROMPT_TOKENS:
        run.close()
        raise ValueError(
            f"The prompt has {run.prompt_tokens} tokens; this page takes up to {MAX_PROMPT_TOKENS}."
        )
    return run


@st.cache_resource(scope="session", on_release=lambda live: live.close(), show_spinner=False)
def live() -> Live:
    """This reader's run; released, with its caches, when the tab closes."""
    return Live()
