"""Which texts a training may see: whole topics are held out, found by their letters in prompts."""

from __future__ import annotations

import tomllib
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from specdec.distill.texts import Text
from specdec.presets import ASSETS, presets

ONE_IN = 50  # prompts held out where no prompt has a held-out topic
MOST = 0.5  # share of the prompts that one topic may be in


@dataclass(frozen=True)
class Held:
    """Words of the presets, and words of the evaluation: neither is trained on."""

    presets: tuple[str, ...]
    evaluation: tuple[str, ...]

    def is_preset(self, prompt: str) -> bool:
        """Whether a prompt is about a topic of the presets."""
        return _has(prompt, self.presets)

    def is_evaluation(self, prompt: str) -> bool:
        """Whether a prompt is about a topic of the evaluation."""
        return _has(prompt, self.evaluation)


@dataclass(frozen=True)
class Question:
    """A held-out prompt and its kind; `chat`: as a user's message."""

    kind: str
    prompt: str
    chat: bool = True


@dataclass(frozen=True)
class Split:
    """Texts to train on, texts to measure on meanwhile, and how many are in neither."""

    train: tuple[Text, ...]
    held: tuple[Text, ...]
    left_out: int
    how: str  # what was held out, in words


@cache
def lists() -> dict[str, Any]:
    """The lists of assets/text/distill.toml."""
    return tomllib.loads((ASSETS / "text" / "distill.toml").read_text(encoding="utf-8"))


def held(file: Path | None = None) -> Held:
    """The held-out words: the presets' always; the evaluation's of a file (one a line) or ours."""
    words = lists()["held_out"]
    if file is not None:
        words = [line.strip() for line in file.read_text(encoding="utf-8").splitlines()]
        words = [word for word in words if word]
        if not words:
            raise ValueError(f"{file} names no topic; write one a line.")
    lower = lambda some: tuple(word.lower() for word in some)  # noqa: E731
    return Held(lower(lists()["presets"]), lower(words))


def questions(words: Held, lines: Sequence[str] | None = None) -> list[Question]:
    """The prompts of an evaluation: the presets, then those of held-out topics.

    `lines` are the reader's own. ValueError if one of these has no held-out topic: its answer may
    have been trained on.
    """
    found = [Question(f"preset: {p.title.lower()}", p.prompt, p.chat) for p in presets()]
    if lines is not None:
        for line in lines:
            if not (words.is_evaluation(line) or words.is_preset(line)):
                raise ValueError(
                    f"The prompt {line!r} has no held-out topic; add one of its words."
                )
        return found + [Question("own", line) for line in lines]
    if words.evaluation != held().evaluation:
        templates = lists()["chat"]
        asked = [
            templates[i % 10].format(t=word, u=word) for i, word in enumerate(words.evaluation)
        ]
        return found + [Question("chat", prompt) for prompt in asked[:12]]
    return found + [
        Question(entry["kind"], entry["prompt"], not entry.get("raw", False))
        for entry in lists()["evaluation"]
    ]


def split(texts: Sequence[Text], prompts: Sequence[str], words: Held) -> Split:
    """Part the texts by their prompts (as texts). ValueError if a topic is in most of them."""
    lower = [prompt.lower() for prompt in prompts]
    for word in (*words.presets, *words.evaluation):
        share = sum(word in prompt for prompt in lower) / len(lower)
        if share > MOST:
            raise ValueError(
                f"The held-out topic {word!r} is in {share:.0%} of the prompts; it must be rarer."
            )
    rest = [(x, p) for x, p in zip(texts, lower) if not words.is_preset(p)]
    chosen = [words.is_evaluation(prompt) for _, prompt in rest]
    how = "prompts about " + ", ".join(words.evaluation)
    if not any(chosen):
        chosen = [zlib.crc32(prompt.encode()) % ONE_IN == 0 for _, prompt in rest]
        how = f"one prompt in {ONE_IN}, chosen by its hash, as none is about a held-out topic"
    train = tuple(x for (x, _), away in zip(rest, chosen) if not away)
    away = tuple(x for (x, _), away in zip(rest, chosen) if away)
    if not train:
        raise ValueError("All texts are about held-out topics; there is nothing to train on.")
    return Split(train, away, len(texts) - len(rest), how)


def _has(prompt: str, words: Sequence[str]) -> bool:
    lower = prompt.lower()
    return any(word in lower for word in words)
