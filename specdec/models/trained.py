"""A pair of a target and a drafter trained for it by `specdec.distill`: a folder and a file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from specdec.models import fetch
from specdec.models.vocabulary import read_tokenizer, stops

if TYPE_CHECKING:
    import torch

    from specdec.models.pairs import Pair

SUFFIX = ".safetensors"


def is_trained(name: str) -> bool:
    """Whether the drafter of "target+drafter" is such a file."""
    return name.endswith(SUFFIX)


def places(name: str) -> tuple[Path, Path]:
    """The target's folder ("default": where it is fetched to) and the drafter's file.

    ValueError if one is not there.
    """
    target, _, file = (part.strip() for part in name.rpartition("+"))
    folder = fetch.target_folder() if target == "default" else Path(target).expanduser()
    path = Path(file).expanduser()
    for missing in (folder / "config.json", path):
        if not missing.is_file():
            raise ValueError(f"There is no {missing}.")
    return folder, path


def needed(name: str, dtype: torch.dtype, device: torch.device) -> int:
    """Bytes that the weights of both take once they are loaded."""
    from specdec.models import sources
    from specdec.models.plan import numbers_in

    folder, file = places(name)
    target = sources.needed(str(folder.resolve()), dtype, device)
    return target + numbers_in([file]) * dtype.itemsize


def load(name: str, dtype: torch.dtype, device: torch.device) -> Pair:
    """The pair. With heads and no small model the target stands in as one: it can always draft."""
    from safetensors import safe_open

    from specdec.models.llama import Llama
    from specdec.models.pairs import HEADS_NAME, Pair, small_model

    folder, file = places(name)
    target = Llama.load(folder, dtype=dtype, device=device)
    with safe_open(file, "pt") as opened:
        heads = "fc.weight" in opened.keys()  # noqa: SIM118
    tokenizer, beside = read_tokenizer(folder), file if heads else folder / HEADS_NAME
    return Pair(
        name,
        f"{target.name} with {'heads' if heads else 'a small model'} trained on its text",
        target,
        target if heads else small_model(target, file),
        tokenizer,
        stops(folder, tokenizer),
        beside if beside.is_file() else None,
    )
