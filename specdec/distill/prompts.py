"""Prompts for the target to answer: the lines of a file, or templates × topics of our own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from specdec.distill.topics import Held, lists

CHAT_SHARE = 0.85  # of the batches of our own prompts; the others continue plain text
CODE, MATHS = 0.2, 0.05  # shares of the chat prompts


@dataclass(frozen=True)
class Prompts:
    """An endless supply, the same for the same seed: `batch(number)` is addressed, not consumed.

    Of `lines` each is taken once before any is taken again. No prompt is about a preset's topic.
    """

    seed: int
    held: Held
    lines: tuple[str, ...] | None = None  # None: our own
    raw: bool = False  # the lines are texts to continue, not messages

    def batch(self, number: int, size: int) -> tuple[list[str], bool]:
        """Prompts of a batch, and whether they are chat messages."""
        rng = np.random.default_rng([self.seed, 1, number])
        if self.lines is not None:
            return [self._line(number * size + i) for i in range(size)], not self.raw
        chat = bool(rng.random() < CHAT_SHARE)
        return [self._own(rng, chat) for _ in range(size)], chat

    def _line(self, at: int) -> str:
        turn, place = divmod(at, len(self.lines))
        order = np.random.default_rng([self.seed, 2, turn]).permutation(len(self.lines))
        return self.lines[order[place]]

    def _own(self, rng: np.random.Generator, chat: bool) -> str:
        while self.held.is_preset(prompt := made(rng, chat)):
            pass
        return prompt


def made(rng: np.random.Generator, chat: bool) -> str:
    """One prompt of our own."""
    of = lists()
    pick = lambda name: of[name][rng.integers(len(of[name]))]  # noqa: E731
    t, u = (of["topics"][i] for i in rng.choice(len(of["topics"]), 2, replace=False))
    if not chat:
        return pick("raw").format(t=t, u=u)
    kind = rng.random()
    if kind < CODE:
        return pick("code").format(c=pick("tasks"))
    if kind < CODE + MATHS:
        return pick("maths").format(a=rng.integers(10, 300), b=rng.integers(2, 60))
    return pick("chat").format(t=t, u=u)


def of_file(file: Path, seed: int, held: Held, raw: bool = False) -> Prompts:
    """The prompts of a file, one a line; `\\n` in a line is a line break. ValueError if none."""
    return Prompts(seed, held, tuple(allowed(lines_of(file), held, file)), raw)


def lines_of(file: Path) -> list[str]:
    """The prompts of a file."""
    if not file.is_file():
        raise ValueError(f"There is no file {file} with prompts.")
    lines = file.read_text(encoding="utf-8").splitlines()
    return [line.replace("\\n", "\n") for line in lines if line.strip()]


def allowed(lines: Sequence[str], held: Held, file: Path) -> list[str]:
    """Those that are not about a preset's topic. ValueError if none is left."""
    kept = [line for line in lines if not held.is_preset(line)]
    if not kept:
        raise ValueError(f"{file} has no prompt, or none without a preset's topic.")
    return kept
