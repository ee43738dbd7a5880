"""Pairs from the Hugging Face hub: an allow-list with sizes, and how their files come here.

Only configurations, tokenizers and safetensors are fetched: nothing that could run.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

SETTINGS = ("*config.json", "*.index.json", "tokenizer*", "special_tokens_map.json")
SETTINGS += ("added_tokens.json", "vocab.*", "merges.txt", "chat_template*")
WEIGHTS = ("model*.safetensors",)


@dataclass(frozen=True)
class Checkpoint:
    """A model on the hub: how many numbers it has, and the bytes of its files."""

    parameters: int
    file_bytes: int


CHECKPOINTS = {
    "HuggingFaceTB/SmolLM2-135M-Instruct": Checkpoint(134_515_008, 269_030_016),
    "HuggingFaceTB/SmolLM2-360M-Instruct": Checkpoint(361_821_120, 723_642_240),
    "HuggingFaceTB/SmolLM2-1.7B-Instruct": Checkpoint(1_711_376_384, 3_422_752_768),
    "Qwen/Qwen2.5-0.5B-Instruct": Checkpoint(494_032_768, 988_065_536),
    "Qwen/Qwen2.5-1.5B-Instruct": Checkpoint(1_543_714_304, 3_087_428_608),
    "Qwen/Qwen2.5-3B-Instruct": Checkpoint(3_085_938_688, 6_171_877_376),
    "Qwen/Qwen2.5-7B-Instruct": Checkpoint(7_615_616_512, 15_231_233_024),
    "Qwen/Qwen3-0.6B": Checkpoint(596_049_920, 1_503_264_768),
    "Qwen/Qwen3-1.7B": Checkpoint(1_720_574_976, 4_063_479_808),
    "Qwen/Qwen3-4B": Checkpoint(4_022_468_096, 8_044_936_192),
    "openai-community/gpt2-large": Checkpoint(774_030_080, 3_247_115_264),
    "distilbert/distilgpt2": Checkpoint(81_912_576, 352_816_128),
    "meta-llama/Llama-3.2-1B-Instruct": Checkpoint(1_235_814_400, 2_471_628_800),
    "meta-llama/Llama-3.2-3B-Instruct": Checkpoint(3_212_749_824, 6_425_499_648),
}
PAIRS = (  # (target, drafter)
    ("HuggingFaceTB/SmolLM2-360M-Instruct", "HuggingFaceTB/SmolLM2-135M-Instruct"),
    ("HuggingFaceTB/SmolLM2-1.7B-Instruct", "HuggingFaceTB/SmolLM2-135M-Instruct"),
    ("Qwen/Qwen2.5-1.5B-Instruct", "Qwen/Qwen2.5-0.5B-Instruct"),
    ("Qwen/Qwen2.5-3B-Instruct", "Qwen/Qwen2.5-0.5B-Instruct"),
    ("Qwen/Qwen2.5-7B-Instruct", "Qwen/Qwen2.5-0.5B-Instruct"),
    ("Qwen/Qwen3-1.7B", "Qwen/Qwen3-0.6B"),
    ("Qwen/Qwen3-4B", "Qwen/Qwen3-0.6B"),
    ("openai-community/gpt2-large", "distilbert/distilgpt2"),
    ("meta-llama/Llama-3.2-3B-Instruct", "meta-llama/Llama-3.2-1B-Instruct"),
)


def is_id(name: str) -> bool:
    """Whether this could name a model on the hub: organisation/name, and no folder here."""
    return bool(re.fullmatch(r"[\w-]+/[\w.-]+", name)) and not Path(name).is_dir()


def check(target: str, draft: str) -> None:
    """ValueError unless this pair is on the list."""
    if (target, draft) not in PAIRS:
        raise ValueError(
            f"{target}+{draft} is not on the list of pairs that are fetched from the hub: "
            f"{', '.join('+'.join(pair) for pair in PAIRS)}. Any other needs two local folders."
        )


def cached(name: str, *, weights: bool) -> Path | None:
    """The folder of a model that was fetched before; None if something of it is missing."""
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import LocalEntryNotFoundError

    from specdec.models.checkpoint import files

    try:
        folder = Path(snapshot_download(name, local_files_only=True, allow_patterns=SETTINGS))
        if weights:
            files(folder)
    except (LocalEntryNotFoundError, ValueError):
        return None
    return folder if (folder / "config.json").is_file() else None


def snapshot(name: str, *, weights: bool) -> Path:
    """The folder of a model's settings, with its `weights` or without, fetched if need be.

    ValueError in a sentence if it cannot be had.
    """
    from huggingface_hub import errors, snapshot_download

    folder = cached(name, weights=weights)
    if folder is not None:
        return folder
    patterns = [*SETTINGS, *(WEIGHTS if weights else ())]
    try:
        snapshot_download(name, allow_patterns=patterns)
    except errors.GatedRepoError as error:
        raise ValueError(
            f"{name} is given out after you accept its licence: do so on "
            f"https://huggingface.co/{name}, then log in with `hf auth login`."
        ) from error
    except (OSError, errors.HTTPError) as error:
        raise ValueError(
            f"{name} is not here and could not be fetched from the hub: {_first_line(error)} "
            "Connect to the network, or give two local folders."
        ) from error
    folder = cached(name, weights=weights)
    if folder is None:
        raise ValueError(f"{name} lacks safetensors files (pickled weights are never read).")
    return folder


def _first_line(error: Exception) -> str:
    lines = [line for line in str(error).splitlines() if line.strip()]
    return lines[0].rstrip(".") + "." if lines else f"{type(error).__name__}."
