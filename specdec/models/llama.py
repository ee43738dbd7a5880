"""The Llama family's forward pass, with a key/value cache whose only state is its length.

Shapes: n tokens of a pass, H query heads, KV key/value heads, G = H / KV queries that share one,
D the size of a head, T the keys attended to. (Touvron et al. 2023; Su et al. 2021 for RoPE.)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from specdec.models.linear import Linear

BLOCK = 256  # prompt tokens per pass: bounds the memory of a long prefill


@dataclass(frozen=True)
class Layer:
    """One transformer block."""

    norm_in: Tensor  # [width]
    qkv: Linear  # [(H + 2 KV) D, width]
    qk_norm: Tensor | None  # [H + KV, D], Qwen3
    out: Linear  # [width, H D]
    norm_mlp: Tensor  # [width]
    gate_up: Linear  # [2 inner, width]
    down: Linear  # [width, inner]


class Llama:
    """Weights, shared by everybody; `scorer()` gives a run a cache of its own.

    `config` is transformers'; `state` its state dict. A model with `token_ids` [v] (ascending)
    has v logit columns, one for each of these ids; `embedding` lends it another model's table.
    """

    def __init__(
        self,
        config: Any,
        state: dict[str, Tensor],
        *,
        name: str = "",
        dtype: torch.dtype | None = None,
        device: str | torch.device | None = None,
        embedding: Tensor | None = None,
        token_ids: np.ndarray | None = None,
    ) -> None:
        check(config)
        self.config, self.name = config, name
        self.device = torch.device(device or ("cuda" if torch.cuda.is_available() else "cpu"))
        self.dtype = dtype or default_dtype(self.device)
        self.H, self.KV = config.num_attention_heads, config.num_key_value_heads
        self.D = getattr(config, "head_dim", None) or config.hidden_size // self.H
        self.eps = config.rms_norm_eps
        self.vocab_size, self.context = config.vocab_size, context(config)
        frequencies, self.rope_scale = rope(config)
        self.frequencies = frequencies.to(self.device)  # [D / 2]
        with torch.inference_mode():
            self._take(state, embedding, token_ids)

    def _take(self, state, embedding, token_ids) -> None:
        def get(name: str) -> Tensor:
            return state[name].to(self.device, self.dtype)

        def linear(*names: str) -> Linear:
            biases = [get(f"{n}.bias") for n in names if f"{n}.bias" in state]
            weight = torch.cat([get(f"{n}.weight") for n in names])
            return Linear(weight, torch.cat(biases) if biases else None)

        borrowed = embedding is not None
        self.embedding = embedding if borrowed else get("model.embed_tokens.weight")
        tied = "lm_head.weight" not in state
        head = self.embedding if tied else get("lm_head.weight")
        self.token_ids = None
        if token_ids is not None:
            order = np.argsort(token_ids)
            self.token_ids = np.asarray(token_ids, np.int64)[order]
            head = head[torch.from_numpy(order)]
        self.head = Linear(head)
        self.norm_out = get("model.norm.weight")
        self.layers = []
        for i in range(self.config.num_hidden_layers):
            at, mlp = f"model.layers.{i}.self_attn.", f"model.layers.{i}.mlp."
            qk = None
            if at + "q_norm.weight" in state:
                q, k = get(at + "q_norm.weight"), get(at + "k_norm.weight")
                qk = torch.cat([q.expand(self.H, -1), k.expand(self.KV, -1)])
            self.layers.append(
                Layer(
                    get(f"model.layers.{i}.input_layernorm.weight"),
                    linear(at + "q_proj", at + "k_proj", at + "v_proj"),
                    qk,
                    linear(at + "o_proj"),
                    get(f"model.layers.{i}.post_attention_layernorm.weight"),
                    linear(mlp + "gate_proj", mlp + "up_proj"),
                    linear(mlp + "down_proj"),
                )
            )
        small = [self.norm_out] + [t for l in self.layers for t in (l.norm_in, l.norm_mlp, l.qk_norm)]
        linears = [self.head] + [m for l in self.layers for m in (l.qkv, l.out, l.gate_up, l.down)]
        self.parameters_bytes = (
            sum(t.nbytes for t in small if t is not None)
            + sum(m.nbytes for m in linears)
            + (0 if borrowed or tied else self.embedding.nbytes)
        )
        itemsize = torch.empty(0, dtype=self.dtype).itemsize
        self.cache_bytes_per_token = len(self.layers) * 2 * self.KV * self.D * itemsize

    @classmethod
    def load(
        cls,
        folder: str | Path,
        *,
        dtype: torch.dtype | None = None,
        device: str | torch.device | None = None,
    ) -> Llama:
        """A checkpoint folder: config.json and one safetensors file, or several."""
        from safetensors import safe_open
        from transformers import AutoConfig

        folder = Path(folder)
        config = AutoConfig.from_pretrained(folder, trust_remote_code=False, local_files_only=True)
        state = {}
        for file in sorted(folder.glob("*.safetensors")):
            with safe_open(file, "pt") as f:
                state |= {name: f.get_tensor(name) for name in f.keys()}
        return cls(config, state, name=folder.name, dtype=dtype, device=device)

    def scorer(self, rows: int | None = None, capacity: int | None = None) -> LlamaScorer:
        """A new, empty cache over these weights."""
        return LlamaScorer(self, rows, capacity)

    def forward(
        self, ids: Tensor, positions: Tensor, cache: Tensor, at: int, mask: Tensor | None, keys: int
    ) -> Tensor:
        """Hidden rows [n, width] of ids [n], whose keys and values go to cache[..., at : at + n, :].

        cache [layers, 2 KV, capacity, D]; the pass attends to the first `keys` entries, where
        `mask` [n G, keys] (0 or -inf, added to the scores) lets it.
        """
        H, KV, D, n = self.H, self.KV, self.D, len(ids)
        x = F.embedding(ids, self.embedding)  # [n, width]
        angle = positions[:, None] * self.frequencies  # [n, D / 2]
        cos, sin = angle.cos() * self.rope_scale, angle.sin() * self.rope_scale
        cos = torch.cat([cos, cos], -1).to(self.dtype)[:, None]  # [n, 1, D]
        sin = torch.cat([-sin, sin], -1).to(self.dtype)[:, None]
        for layer, kv in zip(self.layers, cache.unbind()):
            qkv = layer.qkv(self.norm(x, layer.norm_in)).view(n, H + 2 * KV, D)
            qk = qkv[:, : H + KV]  # queries and keys turn together
            if layer.qk_norm is not None:
                qk.copy_(F.rms_norm(qk, (D,), None, self.eps) * layer.qk_norm)
            turned = qk.roll(D // 2, -1)
            qk.mul_(cos).addcmul_(turned, sin)
            kv[:, at : at + n] = qkv[:, H:].transpose(0, 1)
            # Queries that share a key are rows of one matrix: nothing is repeated for them.
            q = qkv[:, :H].view(n, KV, H // KV, D).transpose(0, 1).reshape(1, KV, -1, D)
            mixed = F.scaled_dot_product_attention(
                q, kv[None, :KV, :keys], kv[None, KV:, :keys], attn_mask=mask
            )  # [1, KV, n G, D]
            mixed = mixed.view(KV, n, H // KV, D).transpose(0, 1).reshape(n, H * D)
            x = layer.out.add(mixed, x)
            gate, up = layer.gate_up(self.norm(x, layer.norm_mlp)).chunk(2, -1)
            x = layer.down.add(F.silu(gate) * up, x)
        return x

    def norm(self, x: Tensor, weight: Tensor) -> Tensor:
        """x ÷ its root mean square, times weight."""
        return F.rms_norm(x, x.shape[-1:], weight, self.eps)

    def logits(self, hidden: Tensor) -> Tensor:
        """Logits [n, v] of hidden rows [n, width]."""
        return self.head(self.norm(hidden, self.norm_out))

    def rows_are_exact(self, rows: int, capacity: int = 256) -> bool:
        """Whether a token's logits have the same bits in every row of a pass of this shape.

        The libraries underneath do not promise it, so a run that relies on it asks first.
        """
        ids = np.random.default_rng(0).integers(self.vocab_size, size=2 * rows)
        scorer = self.scorer(rows, capacity)
        scorer.feed(ids[:rows])
        seen = []
        for row in range(rows):  # the last of these tokens is in row 0, 1, 2, …
            while scorer.length < len(ids) - 1 - row:
                scorer.score(ids[scorer.length : scorer.length + 1])
            scorer.rollback(len(ids) - 1 - row)
            seen.append(scorer.score(ids[scorer.length :])[-1])
        scorer.close()
        return all(np.array_equal(seen[0], other) for other in seen)


class LlamaScorer:
    """Keys and values of a prefix of one sequence. A length is all that a rollback changes."""

    def __init__(self, model: Llama, rows: int | None, capacity: int | None) -> None:
        if rows is not None and (rows < 4 or rows % 4):
            raise ValueError(f"rows is {rows}; it must be 4, 8, 12 or another multiple of 4.")
        if rows and capacity is None:
            raise ValueError(f"rows={rows} fixes every shape, so it needs a capacity too.")
        self.model, self.rows, self.length = model, rows, 0
        self.vocab_size, self.context = model.vocab_size, model.context
        self.token_ids = model.token_ids
        self.grows, self._branched, self._hidden, self._parents = capacity is None, None, None, None
        most = self.context + (rows or 0)  # padding rows may stand beyond the context
        self._cache = self._room(256 if capacity is None else min(capacity, most))

    def score(self, tokens: Sequence[int], parents: Sequence[int] | None = None) -> np.ndarray:
        """Feed tokens after the cached ones; logits float32 [n, v] of what follows each.

        `parents` makes them a tree: the index in this call of the token that each one follows,
        -1 for the cached sequence.
        """
        if len(tokens) == 0:
            raise ValueError("score() needs at least one token.")
        with torch.inference_mode():
            hidden = self._pass(tokens, parents, self.rows)
            return self.model.logits(hidden)[: len(tokens)].float().cpu().numpy()

    def feed(self, tokens: Sequence[int]) -> None:
        """Feed tokens without asking for logits."""
        hidden = []
        with torch.inference_mode():
            for i in range(0, len(tokens), BLOCK):
                hidden.append(self._pass(tokens[i : i + BLOCK], None, None))
        self._hidden = torch.cat(hidden) if hidden else None

    def rollback(self, length: int) -> None:
        """Forget all but the first `length` tokens."""
        if not 0 <= length <= self.length:
            raise ValueError(f"Cannot roll back to {length}: the length must be in [0, {self.length}].")
        self.length = length

    def close(self) -> None:
        """Free the cache."""
        self._cache = self._hidden = None

    def _room(self, capacity: int) -> Tensor:
        m = self.model
        shape = (len(m.layers), 2 * m.KV, capacity, m.D)
        return torch.zeros(shape, dtype=m.dtype, device=m.device)

    def _pass(self, tokens, parents, rows) -> Tensor:
        m, at, n = self.model, self.length, rows or len(tokens)
        ids = torch.zeros(n, dtype=torch.long)
        ids[: len(tokens)] = torch.as_tensor(np.asarray(tokens))
        if at + n > self._cache.shape[2]:
            if not self.grows: raise ValueError("full")
            bigger = self._room(min(self.context, 2 * (at + n)))
            bigger[:, :, : at] = self._cache[:, :, : at]
            self._cache = bigger
        keys = self._cache.shape[2] if rows else at + n
        pos = at + torch.arange(n, dtype=torch.float32)
        mask = None
        if n > 1:
            mask = torch.full((n, keys), -torch.inf, dtype=m.dtype).triu_(at + 1).repeat_interleave(m.H // m.KV, 0)
        hidden = m.forward(ids.to(m.device), pos.to(m.device), self._cache, at, mask, keys)
        self.length += len(tokens)
        self._hidden = hidden[: len(tokens)]
        return hidden


def default_dtype(device: torch.device) -> torch.dtype:
    """bf16 where the processor multiplies it directly, else fp32."""
    able = torch.cpu.get_capabilities()
    on_cpu = any(able.get(name, False) for name in ("avx512_bf16", "amx_bf16", "bf16"))
    return torch.bfloat16 if device.type == "cuda" or on_cpu else torch.float32

def check(config): pass
def context(config): return config.max_position_embeddings
def rope(config):
    from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS
    p = config.rope_parameters
    D = getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
    if p["rope_type"] == "default":
        return 1.0 / (p["rope_theta"] ** (torch.arange(0, D, 2, dtype=torch.float) / D)), 1.0
    return ROPE_INIT_FUNCTIONS[p["rope_type"]](config, None)
