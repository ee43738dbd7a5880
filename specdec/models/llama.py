"""The forward pass of the Llama family (Touvron et al. 2023), written to be read and to be fast.

Shapes: n tokens of a pass, H query heads, KV key/value heads, G = H / KV queries to a key,
D numbers in a head, T keys attended to, v logit columns.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from specdec.models import checkpoint
from specdec.models.parts import Linear, RMSNorm, as_dtype, default_dtype, linear
from specdec.models.scorer import LlamaScorer
from specdec.models.shapes import rows_are_exact
from specdec.models.slot import Slot, attend


@dataclass(frozen=True)
class Layer:
    """One transformer block."""

    norm: RMSNorm
    qkv: Linear  # width → (H + 2 KV) D
    norm_q: RMSNorm | None  # over each head (Qwen3)
    norm_k: RMSNorm | None
    out: Linear  # H D → width
    norm_mlp: RMSNorm
    gate_up: Linear  # width → 2 inner
    down: Linear  # inner → width


class Llama:
    """Weights and shapes, shared by everybody; `scorer()` gives each run a cache of its own.

    `state` is a state dict with transformers' names, `config` the config that goes with it.
    `embedding` [V, width] lends another model's table. `token_ids` [v] says which ids the rows of
    the head stand for, if they are not the whole vocabulary; the columns come out ascending.
    """

    def __init__(
        self,
        config: Any,
        state: dict[str, Tensor],
        *,
        name: str = "",
        dtype: torch.dtype | str | None = None,
        device: torch.device | str | None = None,
        embedding: Tensor | None = None,
        token_ids: np.ndarray | None = None,
    ) -> None:
        checkpoint.check(config)
        self.config, self.name = config, name
        self.folder: Path | None = None  # the checkpoint's, if it was loaded from one
        self.file: Path | None = None  # a drafter's, which borrows its target's table
        self.taps: tuple[int, ...] = ()  # layers whose input a drafter wants to read, ascending
        self.device = torch.device(device or ("cuda" if torch.cuda.is_available() else "cpu"))
        self.dtype = as_dtype(dtype) or default_dtype(self.device)
        self.heads, self.kv_heads = config.num_attention_heads, config.num_key_value_heads
        self.head_size = checkpoint.head_size(config)
        self.vocab_size, self.context = config.vocab_size, checkpoint.context(config)
        frequencies, self.rope_scale = checkpoint.rope(config)
        self.frequencies = frequencies.to(self.device)  # [D / 2]
        weights = checkpoint.Weights(state, self.device, self.dtype, config.rms_norm_eps)
        layers = range(config.num_hidden_layers)
        self.layers = [read_layer(weights, f"model.layers.{i}.") for i in layers]
        self.norm = weights.norm("model.norm")
        borrowed, tied = embedding is not None, config.tie_word_embeddings
        # A copy, because a view of the file would keep all of it in memory.
        self.embedding = embedding if borrowed else weights["model.embed_tokens.weight"].clone()
        head = self.embedding if tied else weights["lm_head.weight"]
        order = None if token_ids is None else np.argsort(token_ids)
        self.token_ids = None if order is None else np.asarray(token_ids, np.int64)[order]
        self.head = linear(head if order is None else head[torch.from_numpy(order)])
        own = 0 if borrowed or tied else self.embedding.nbytes
        self.parameters_bytes = weights.nbytes + self.head.nbytes + own
        self.cache_bytes_per_token = (
            2 * len(self.layers) * self.kv_heads * self.head_size * self.dtype.itemsize
        )

    @classmethod
    def load(
        cls,
        folder: str | Path,
        *,
        dtype: torch.dtype | str | None = None,
        device: torch.device | str | None = None,
    ) -> Llama:
        """The checkpoint of a folder: config.json and one safetensors file, or several.

        `dtype` None is bf16 where the processor multiplies bf16, else fp32; `device` None is the
        GPU if there is one. ValueError if the checkpoint is not one of the family.
        """
        config, state = checkpoint.read(folder)
        model = cls(config, state, name=Path(folder).name, dtype=dtype, device=device)
        model.folder = Path(folder)
        return model

    def scorer(self, rows: int | None = None, capacity: int | None = None) -> LlamaScorer:
        """A new, empty cache of `capacity` tokens (None: it grows).

        With `rows` every scored pass has that one shape: rows padded to this number, attention
        over the whole capacity. Then, if `rows_are_exact(rows)`, a token's logits have the same
        bits however many tokens the pass checks: speculation equals plain decoding in bf16.
        """
        return LlamaScorer(self, rows, capacity)

    def first(self, layers: int) -> Llama:
        """The same weights with the first so many layers only, then norm and head."""
        cut = copy.copy(self)
        cut.layers, cut.taps = self.layers[:layers], ()
        return cut

    def close(self) -> None:
        """Free the weights."""
        self.layers, self.embedding, self.head = [], None, None

    def forward(self, ids: Tensor, positions: Tensor, *slots: Slot) -> Tensor:
        """Hidden rows [n, width] after the last layer, for ids [n] at `positions` [n] (float)."""
        return self.transform(F.embedding(ids, self.embedding), positions, *slots)

    def transform(self, x: Tensor, positions: Tensor, *slots: Slot) -> Tensor:
        """Rows x [n, width] through all layers; beside them what the layers `taps` had read.

        The rows stand one behind another in the `slots` of one sequence, or of several: they
        share the matrices, and each sequence attends to its own cache alone.
        """
        n, H, KV, D = len(x), self.heads, self.kv_heads, self.head_size
        tapped = []
        cos, sin = self._rotation(positions)  # [n, 1, D]
        sizes, views = [slot.rows for slot in slots], [slot.views() for slot in slots]
        for i, (layer, *own) in enumerate(zip(self.layers, *views)):
            if i in self.taps:
                tapped.append(x)
            qkv = layer.qkv(layer.norm(x)).view(n, H + 2 * KV, D)
            if layer.norm_q is not None:
                qkv[:, :H] = layer.norm_q(qkv[:, :H])
                qkv[:, H : H + KV] = layer.norm_k(qkv[:, H : H + KV])
            qk = qkv[:, : H + KV]  # queries and keys turn together
            swapped = qk.roll(D // 2, -1)
            qk.mul_(cos).addcmul_(swapped, sin)
            mixed = [attend(rows, *view) for rows, view in zip(qkv.split(sizes), own)]
            x = layer.out.add(mixed[0] if len(mixed) == 1 else torch.cat(mixed), x)
            gate, up = layer.gate_up(layer.norm_mlp(x)).chunk(2, -1)  # [n, inner] each
            x = layer.down.add(F.silu(gate) * up, x)
        return torch.cat([x, *tapped], -1) if tapped else x  # [n, (1 + taps) width]

    def logits(self, hidden: Tensor) -> Tensor:
        """Logits [n, v] of hidden rows [n, width]; what was tapped beside them is not read."""
        return self.head(self.norm(hidden[:, : self.norm.size]))

    def rows_are_exact(self, rows: int, capacity: int = 256) -> bool:
        """Whether a token's logits have the same bits in every row of a pass of this shape.

        The libraries underneath do not promise it, so whoever relies on it asks first.
        """
        return rows_are_exact(self, rows, capacity)

    def _rotation(self, positions: Tensor) -> tuple[Tensor, Tensor]:
        """RoPE: x · cos + (x with its halves swapped) · sin, the signs taken into sin."""
        angle = positions[:, None] * self.frequencies  # [n, D / 2]
        cos, sin = angle.cos() * self.rope_scale, angle.sin() * self.rope_scale
        cos, sin = torch.cat([cos, cos], -1), torch.cat([-sin, sin], -1)
        return cos.to(self.dtype)[:, None], sin.to(self.dtype)[:, None]


def read_layer(weights: checkpoint.Weights, at: str) -> Layer:
    """The block whose weights' names begin with `at`."""
    attention, mlp = f"{at}self_attn.", f"{at}mlp."
    per_head = f"{attention}q_norm.weight" in weights
    return Layer(
        weights.norm(f"{at}input_layernorm"),
        weights.linear(*(f"{attention}{x}_proj" for x in "qkv")),
        weights.norm(f"{attention}q_norm") if per_head else None,
        weights.norm(f"{attention}k_norm") if per_head else None,
        weights.linear(f"{attention}o_proj"),
        weights.norm(f"{at}post_attention_layernorm"),
        weights.linear(f"{mlp}gate_proj", f"{mlp}up_proj"),
        weights.linear(f"{mlp}down_proj"),
    )
