"""Reading a checkpoint folder, and refusing in words what the forward pass does not know."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from specdec.models.parts import Linear, RMSNorm, linear

FAMILY = ("llama", "mistral", "qwen2", "qwen3")  # model types, as config.json writes them


def read(folder: str | Path) -> tuple[Any, dict[str, Tensor]]:
    """The config (transformers') and the state dict of a folder: config.json and safetensors.

    ValueError in a sentence if the folder is no checkpoint or not of the Llama family.
    """
    from transformers import AutoConfig

    folder = Path(folder).expanduser()
    if not (folder / "config.json").is_file():
        raise ValueError(f"{folder} is no checkpoint folder: it has no config.json.")
    _check_type(json.loads((folder / "config.json").read_text("utf-8")).get("model_type"))
    config = AutoConfig.from_pretrained(folder, trust_remote_code=False, local_files_only=True)
    check(config)
    return config, _tensors(folder)


def files(folder: Path) -> list[Path]:
    """The safetensors files of a folder: one, or those that its index names."""
    index = folder / "model.safetensors.index.json"
    names = ["model.safetensors"]
    if index.is_file():
        names = sorted(set(json.loads(index.read_text("utf-8"))["weight_map"].values()))
    missing = [name for name in names if not (folder / name).is_file()]
    if missing:
        raise ValueError(f"{folder} lacks {missing[0]} (pickled weights are never read).")
    return [folder / name for name in names]


def check(config: Any) -> None:
    """ValueError, naming what it is, if the config asks for something that llama.py lacks."""
    _check_type(config.model_type)
    if config.hidden_act != "silu":
        raise ValueError(f"The activation is {config.hidden_act!r}; only 'silu' is supported.")
    if getattr(config, "quantization_config", None):
        raise ValueError("The checkpoint is quantised; expand its weights to bf16 or fp32 first.")
    if config.rope_parameters.get("partial_rotary_factor", 1.0) != 1.0:
        raise ValueError("The checkpoint rotates only a part of each head; that is not supported.")


def head_size(config: Any) -> int:
    """Numbers in one attention head."""
    return getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads


def context(config: Any) -> int:
    """The most tokens for which the forward pass is the checkpoint's.

    A sliding window changes nothing until a sequence outgrows it, and a scaling that follows the
    length nothing until it passes the first training's: the context ends there.
    """
    window = getattr(config, "sliding_window", None) if _slides(config) else None
    scaling = config.rope_parameters
    first = scaling.get("original_max_position_embeddings")
    limits = [config.max_position_embeddings, window]
    limits += [first] if scaling["rope_type"] == "longrope" else []
    return min(limit for limit in limits if limit)


def rope(config: Any) -> tuple[Tensor, float]:
    """Rotations per position [D / 2] in radians (Su et al. 2021), and a factor on cos and sin."""
    from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS

    kind = config.rope_parameters["rope_type"]
    if kind != "default":
        if kind not in ROPE_INIT_FUNCTIONS:
            raise ValueError(f"The RoPE scaling {kind!r} is not supported.")
        return ROPE_INIT_FUNCTIONS[kind](config, torch.device("cpu"))
    size = head_size(config)
    exponents = torch.arange(0, size, 2, dtype=torch.float32) / size
    return 1.0 / config.rope_parameters["rope_theta"] ** exponents, 1.0


class Weights:
    """Takes weights out of a state dict, side by side where one multiplication serves several."""

    def __init__(
        self, state: dict[str, Tensor], device: torch.device, dtype: torch.dtype, eps: float
    ) -> None:
        self.state, self.device, self.dtype, self.eps = state, device, dtype, eps
        self.nbytes = 0  # of the norms and matrices taken

    def __contains__(self, name: str) -> bool:
        return name in self.state

    def __getitem__(self, name: str) -> Tensor:
        if name not in self.state:
            raise ValueError(f"The checkpoint has no weight {name!r}.")
        return self.state[name].detach().to(self.device, self.dtype)

    def norm(self, name: str) -> RMSNorm:
        """The norm of this name."""
        return self._count(RMSNorm(self[f"{name}.weight"], self.eps))

    def linear(self, *names: str) -> Linear:
        """The matrices of these names as one, their outputs side by side."""
        biases = [self[f"{name}.bias"] for name in names if f"{name}.bias" in self]
        weight = torch.cat([self[f"{name}.weight"] for name in names])
        return self._count(linear(weight, torch.cat(biases) if biases else None))

    def _count(self, part: Linear | RMSNorm) -> Linear | RMSNorm:
        self.nbytes += part.nbytes
        return part


def _slides(config: Any) -> bool:
    kinds = getattr(config, "layer_types", None)
    return "sliding_attention" in kinds if kinds else True


def _check_type(kind: str | None) -> None:
    if kind not in FAMILY:
        raise ValueError(
            f"The architecture is {kind!r}; this forward pass knows {', '.join(FAMILY)}."
        )


def _tensors(folder: Path) -> dict[str, Tensor]:
    from safetensors.torch import load_file

    return {name: t for file in files(folder) for name, t in load_file(file).items()}
