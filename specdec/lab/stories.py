"""What the lab says about its rules, from assets/text/lab.toml."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache

from specdec.presets import ASSETS


@dataclass(frozen=True)
class Story:
    """A rule in words; only a wrong one has a symptom, a cause and a cure."""

    name: str
    does: str
    symptom: str = ""
    seen: str = ""
    cause: str = ""
    cure: str = ""


@cache
def stories() -> dict[str, Story]:
    """The stories by the names of their rules."""
    text = (ASSETS / "text" / "lab.toml").read_text(encoding="utf-8")
    return {entry["name"]: Story(**entry) for entry in tomllib.loads(text)["story"]}
