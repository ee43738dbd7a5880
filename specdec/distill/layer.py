"""One transformer block of the Llama family that can be trained, with a checkpoint's names."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from specdec.distill.rope import rotation, turned
from specdec.models import checkpoint


@dataclass(frozen=True)
class Shape:
    """Sizes that weights do not tell."""

    heads: int
    kv_heads: int
    head_size: int
    eps: float
    frequencies: Tensor  # [D / 2], rotations per position
    scale: float = 1.0  # of cos and sin

    @classmethod
    def of(cls, config: Any, base: float | None = None) -> Shape:
        """The target's; with a RoPE `base` of their own."""
        size = checkpoint.head_size(config)
        if base is None:
            frequencies, scale = checkpoint.rope(config)
        else:
            frequencies, scale = base ** -(torch.arange(0, size, 2).float() / size), 1.0
        sizes = config.num_attention_heads, config.num_key_value_heads, size
        return cls(*sizes, config.rms_norm_eps, frequencies, scale)


class Block(nn.Module):
    """Attention and MLP; `state` has the weights, and biases and head norms where there are any."""

    def __init__(self, shape: Shape, state: dict[str, Tensor]) -> None:
        super().__init__()
        self.shape, self.self_attn, self.mlp = shape, nn.Module(), nn.Module()
        self.register_buffer("frequencies", shape.frequencies.float(), persistent=False)
        for part, names in ((self.self_attn, "qkvo"), (self.mlp, ("gate", "up", "down"))):
            for name in names:
                prefix = "self_attn" if part is self.self_attn else "mlp"
                setattr(part, f"{name}_proj", matrix(state, f"{prefix}.{name}_proj"))
        for name in ("q_norm", "k_norm"):
            has = f"self_attn.{name}.weight" in state
            setattr(self.self_attn, name, norm(shape.head_size, shape.eps) if has else None)
        width = len(state["input_layernorm.weight"])
        self.input_layernorm = norm(width, shape.eps)
        self.post_attention_layernorm = norm(width, shape.eps)
        self.load_state_dict(state)

    def queries(self, n: Tensor, positions: Tensor) -> Tensor:
        """[..., H, D] of normed rows n [..., width] at positions [...]."""
        return self._heads(self.self_attn.q_proj, self.self_attn.q_norm, n, positions)

    def keys_values(self, n: Tensor, positions: Tensor) -> tuple[Tensor, Tensor]:
        """Both [..., KV, D]."""
        keys = self._heads(self.self_attn.k_proj, self.self_attn.k_norm, n, positions)
        return keys, self.self_attn.v_proj(n).unflatten(-1, (-1, self.shape.head_size))

    def finish(self, x: Tensor, mixed: Tensor) -> Tensor:
        """The block's output [..., width] of its input x and what attention mixed [..., H D]."""
        x = x + self.self_attn.o_proj(mixed)
        n, mlp = self.post_attention_layernorm(x), self.mlp
        return x + mlp.down_proj(F.silu(mlp.gate_proj(n)) * mlp.up_proj(n))

    def forward(self, x: Tensor) -> Tensor:
        """Whole sequences x [B, L, width], each row attending to those up to it."""
        n, positions = self.input_layernorm(x), torch.arange(x.shape[1], device=x.device)
        parts = (self.queries(n, positions), *self.keys_values(n, positions))
        q, k, v = (part.transpose(1, 2) for part in parts)
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
        return self.finish(x, mixed.transpose(1, 2).flatten(2))

    def _heads(self, matrix: nn.Linear, norm: nn.Module | None, n: Tensor, at: Tensor) -> Tensor:
        x = matrix(n).unflatten(-1, (-1, self.shape.head_size))
        return turned(
            norm(x.float()) if norm else x, *rotation(at, self.frequencies, self.shape.scale)
        )


def norm(width: int, eps: float) -> nn.RMSNorm:
    """A norm with weights of 1."""
    return nn.RMSNorm(width, eps)


def matrix(state: dict[str, Tensor], name: str) -> nn.Linear:
    """A matrix of this weight's size, and a bias where it has one; their values come later."""
    rows, columns = state[f"{name}.weight"].shape
    # Not initialised, which would also draw from the global generator.
    return nn.utils.skip_init(nn.Linear, columns, rows, bias=f"{name}.bias" in state)


def layer_state(state: dict[str, Tensor], prefix: str) -> dict[str, Tensor]:
    """The weights whose names begin with `prefix`, without it."""
    found = {name.removeprefix(prefix): w for name, w in state.items() if name.startswith(prefix)}
    return {name: w for name, w in found.items() if "rotary" not in name}
