"""Prompts by kind, one list for the live page, the recorded traces and the bench."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path

ASSETS = Path(__file__).resolve().parent.parent / "assets"


@dataclass(frozen=True)
class Preset:
    """A prompt: a name for links, a title and what to notice for people; is it a chat message?"""

    name: str
    title: str
    chat: bool
    prompt: str
    notice: str = ""


def presets() -> tuple[Preset, ...]:
    """All presets, in the order in which they are shown."""
    data = tomllib.loads((ASSETS / "text" / "presets.toml").read_text(encoding="utf-8"))
    return tuple(Preset(**entry) for entry in data["preset"])
