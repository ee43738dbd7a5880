"""How a checkpoint folder is loaded, and what it weighs then: told before a weight is read."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from specdec.models import checkpoint, hf_checks
from specdec.models.parts import packing_works

if TYPE_CHECKING:
    import torch

    from specdec.models.hf import HFModel
    from specdec.models.llama import Llama

HEADER_MOST = 100 * 2**20  # bytes; the format's own limit


@dataclass(frozen=True)
class Plan:
    """A folder with what it will be loaded by."""

    folder: Path
    config: Any
    loader: type[Llama] | type[HFModel]
    vocab_size: int


def plan(folder: Path) -> Plan:
    """How this folder is loaded. ValueError if it cannot be."""
    config = hf_checks.read_config(folder)
    text = config.get_text_config(decoder=True)
    return Plan(folder, config, loader(config), text.vocab_size)


def loader(config: Any) -> type[Llama] | type[HFModel]:
    """`Llama` where that forward pass is the checkpoint's at every length, else `HFModel`."""
    from specdec.models.hf import HFModel
    from specdec.models.llama import Llama

    try:
        checkpoint.check(config)
        if checkpoint.context(config) == config.max_position_embeddings:
            return Llama
    except ValueError:
        pass
    hf_checks.check(config)
    return HFModel


def loaded_bytes(plan: Plan, numbers: int, dtype: torch.dtype, device: torch.device) -> int:
    """Bytes of the weights once they are loaded, `numbers` of them in the file."""
    from specdec.models.llama import Llama

    if plan.loader is Llama and plan.config.tie_word_embeddings:
        packed = device.type == "cpu" and packing_works(dtype)
        numbers += packed * plan.config.vocab_size * plan.config.hidden_size  # the head's own copy
    return numbers * dtype.itemsize


def numbers_in(files: Sequence[Path]) -> int:
    """How many numbers safetensors files hold, from their headers alone. ValueError if damaged."""
    return sum(
        math.prod(entry["shape"])
        for file in files
        for name, entry in _header(file).items()
        if name != "__metadata__"
    )


def _header(file: Path) -> dict[str, Any]:
    with file.open("rb") as opened:
        size = int.from_bytes(opened.read(8), "little")
        try:
            if size > HEADER_MOST:
                raise ValueError
            return json.loads(opened.read(size))
        except ValueError as error:
            raise ValueError(f"{file} is no safetensors file, or is damaged.") from error
