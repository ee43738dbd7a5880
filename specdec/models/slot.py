"""Where the rows of a pass stand in a sequence's cache, and what they attend to there.

Shapes: n rows of the slot, H query heads, KV key/value heads, G = H / KV queries to a key,
D numbers in a head, T keys attended to.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import torch.nn.functional as F
from torch import Tensor


@dataclass(frozen=True, eq=False)
class Slot:
    """Entries `at` … `at + rows - 1` of a cache, for rows that attend to entries 0 … `keys` - 1."""

    cache: Tensor  # [layers, 2 KV, capacity, D]
    at: int
    rows: int
    keys: int
    mask: Tensor | None  # [n G, keys] added to the scores: 0, or -inf where a row does not see

    def views(self) -> Iterator[tuple[Tensor, ...]]:
        """Of each layer: keys and values [1, KV, T, D], new entries [n, 2 KV, D], the mask."""
        KV = self.cache.shape[1] // 2
        keys, values = self.cache[:, None, :KV, : self.keys], self.cache[:, None, KV:, : self.keys]
        new = self.cache[:, :, self.at : self.at + self.rows].transpose(1, 2)
        for k, v, kv in zip(keys.unbind(), values.unbind(), new.unbind()):
            yield k, v, kv, self.mask


def attend(qkv: Tensor, k: Tensor, v: Tensor, kv: Tensor, mask: Tensor | None) -> Tensor:
    """What rows qkv [n, H + 2 KV, D] mix [n, H D]: first their keys and values go to the cache."""
    (n, every, D), KV = qkv.shape, k.shape[1]
    H = every - 2 * KV
    kv.copy_(qkv[:, H:])
    # The G queries of a key are rows of one matrix, so no key is ever repeated.
    q = qkv[:, :H].view(n, KV, H // KV, D).transpose(0, 1).reshape(1, KV, -1, D)
    mixed = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)  # [1, KV, n G, D]
    return mixed.view(KV, n, H // KV, D).transpose(0, 1).reshape(n, H * D)
