"""The target's forward pass over many sequences at once, with one cache for all of them.

Shapes: B sequences, S tokens of a pass, H query heads, KV key/value heads, G = H / KV, D numbers in
a head, T entries of the cache.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import torch
import torch.nn.functional as F
from torch import Tensor

from specdec.distill.rope import rotation, turned

if TYPE_CHECKING:
    from specdec.models.llama import Llama


def forward(
    model: Llama,
    ids: Tensor,
    positions: Tensor,
    cache: Tensor,
    at: int,
    sees: Tensor,
    taps: Sequence[int] = (),
) -> Tensor:
    """Hidden rows [B, S, (1 + taps) width] of ids [B, S], those of the layers `taps` beside them.

    Keys and values go to cache [layers, B, 2 KV, T, D] from entry `at` on; `sees` (bool)
    [B or 1, S, at + S] says which entries each row attends to.
    """
    (B, S), H, KV, D = ids.shape, model.heads, model.kv_heads, model.head_size
    cos, sin = rotation(positions, model.frequencies, model.rope_scale)  # [B, S, 1, D]
    rows = sees[:, None].repeat_interleave(H // KV, 2)  # [B, 1, S G, at + S]
    x, tapped = F.embedding(ids, model.embedding).view(B * S, -1), []
    for i, layer in enumerate(model.layers):
        if i in taps:
            tapped.append(x)
        q, k, v = layer.qkv(layer.norm(x)).view(B, S, -1, D).split([H, KV, KV], 2)
        if layer.norm_q is not None:
            q, k = layer.norm_q(q), layer.norm_k(k)
        q, k = turned(q, cos, sin), turned(k, cos, sin)
        cache[i, :, :KV, at : at + S] = k.transpose(1, 2)
        cache[i, :, KV:, at : at + S] = v.transpose(1, 2)
        # The G queries of a key are rows of one matrix, so no key is ever repeated.
        q = q.reshape(B, S, KV, H // KV, D).transpose(1, 2).reshape(B, KV, -1, D)
        keys, values = cache[i, :, :KV, : at + S], cache[i, :, KV:, : at + S]
        mixed = F.scaled_dot_product_attention(q, keys, values, attn_mask=rows)
        mixed = mixed.view(B, KV, S, H // KV, D).transpose(1, 2).reshape(B * S, H * D)
        x = layer.out.add(mixed, x)
        gate, up = layer.gate_up(layer.norm_mlp(x)).chunk(2, -1)
        x = layer.down.add(F.silu(gate) * up, x)
    return torch.cat([x, *tapped], -1).view(B, S, -1)


def begin(
    model: Llama, prefix: Sequence[int], size: int, capacity: int, taps: Sequence[int] = ()
) -> tuple[Tensor, Tensor]:
    """A cache for `size` sequences that all begin with `prefix`, computed once; its rows [n, …]."""
    n, device = len(prefix), model.device
    shape = (len(model.layers), size, 2 * model.kv_heads, capacity, model.head_size)
    cache = torch.zeros(shape, dtype=model.dtype, device=device)
    width = (1 + len(taps)) * model.norm.size
    if not n:
        return cache, torch.zeros(0, width, dtype=model.dtype, device=device)
    ids, at = torch.tensor([list(prefix)], device=device), torch.arange(n, device=device)
    causal = at[:, None] >= at
    hidden = forward(model, ids, at[None], cache[:, :1], 0, causal[None], taps)[0]
    cache[:, 1:, :, :n] = cache[:, :1, :, :n]
    return cache, hidden


def common_prefix(sequences: Sequence[Sequence[int]]) -> list[int]:
    """What all of these begin with, at least one token short of the shortest."""
    first, most = sequences[0], min(map(len, sequences)) - 1
    n = next((i for i in range(most) if any(s[i] != first[i] for s in sequences)), most)
    return [int(i) for i in first[:n]]


def hidden_rows(
    model: Llama, sequences: Sequence[Sequence[int]], taps: Sequence[int] = ()
) -> list[Tensor]:
    """Hidden rows [n, (1 + taps) width] of each sequence, after the last layer, before its norm."""
    prefix = common_prefix(sequences)
    n, longest, device = len(prefix), max(map(len, sequences)), model.device
    cache, first = begin(model, prefix, len(sequences), longest, taps)
    ids = torch.zeros(len(sequences), longest - n, dtype=torch.long)
    for row, sequence in zip(ids, sequences):
        row[: len(sequence) - n] = torch.tensor([int(i) for i in sequence[n:]])
    at = torch.arange(n, longest, device=device)
    sees = (
        torch.arange(longest, device=device) <= at[:, None]
    )  # padding comes after all it could spoil
    rows = forward(model, ids.to(device), at[None], cache, n, sees[None], taps)
    return [torch.cat([first, own[: len(s) - n]]) for own, s in zip(rows, sequences)]
