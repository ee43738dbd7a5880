"""A target's folder, by name, and what of it a training needs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch

from specdec.distill.batched import hidden_rows
from specdec.distill.files import fingerprint
from specdec.distill.texts import Text
from specdec.models import fetch
from specdec.models.job import Progress
from specdec.models.llama import Llama

ALIKE = 0.5  # of the stored favourites that must be the target's own
LOOKED_AT = 4  # texts


def folder_of(name: str, progress: Progress | None = None) -> Path:
    """The folder of a target: "default" (fetched on first need) or a path."""
    if name != "default":
        return Path(name).expanduser()
    if not fetch.is_fetched():
        fetch.fetch(progress=progress)
    return fetch.target_folder()


def facts(folder: Path) -> dict[str, str]:
    """What tells this target apart."""
    return {"target": folder.name, "fingerprint": fingerprint(folder)}


def check_texts(model: Llama, texts: Sequence[Text]) -> None:
    """ValueError unless this target wrote these texts, as its favourites say."""
    most = max(int(max(text.prompt.max(initial=0), text.written.max(initial=0))) for text in texts)
    if most >= model.vocab_size:
        raise ValueError(
            f"The texts have the id {most}; the target's vocabulary is [0, {model.vocab_size})."
        )
    some = [text for text in texts[:: max(1, len(texts) // LOOKED_AT)] if len(text.prompt)][
        :LOOKED_AT
    ]
    same = []
    with torch.inference_mode():
        for text, hidden in zip(some, hidden_rows(model, [text.ids for text in some])):
            rows = hidden[len(text.prompt) - 1 : -1]
            same.append(model.logits(rows).argmax(-1).cpu().numpy() == text.top[:, 0])
    share = float(np.concatenate(same).mean())
    if share < ALIKE:
        raise ValueError(
            f"Another model wrote these texts: of their favourites only {share:.0%} are this "
            "target's."
        )


def check_same(about: dict[str, Any], folder: Path, what: str) -> None:
    """ValueError if a file that names its target names another."""
    here = fingerprint(folder)
    if about.get("fingerprint", here) != here:
        raise ValueError(f"{what} was trained for {about.get('target')}, not for {folder.name}.")


def read_json(file: Path) -> dict[str, Any]:
    """A file of facts; empty if there is none."""
    return json.loads(file.read_text("utf-8")) if file.is_file() else {}
