"""Heads on their own predictions for several depths, from many places of many texts at once.

Shapes: B texts, R starts in each, T entries made of true features, N starts that are still going.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import torch
from torch import Tensor

if TYPE_CHECKING:
    from specdec.distill.batches import Batch
    from specdec.distill.nets import HeadsNet

UNSEEN = -1e9  # finite, because a row of padding sees nothing at all

# (depth, guesses g [N, width], text [N], position of the token that g predicts [N]) → go on? [N]
Judge = Callable[[int, Tensor, Tensor, Tensor], Tensor]


def unroll(net: HeadsNet, batch: Batch, starts: Tensor, depths: int, judge: Judge) -> None:
    """From each start s [B, R] (-1: none) predict tokens s + 2, s + 3, …, as far as `judge` lets.

    Entry i is made of token i + 1 and of the feature at i; those up to the start are the target's,
    those after it the heads' own guesses, as in `specdec.models.heads_cache`.
    """
    (B, R), T, layer = starts.shape, int(starts.max()) + 1, net.layer
    at = torch.arange(T, device=starts.device)
    real = at < batch.sizes[:, None] - 1  # [B, T] an entry needs the next token
    z = net.entry(batch.ids[:, 1 : T + 1][real], batch.features[:, :T][real])
    n = layer.input_layernorm(z)
    keys, values = (spread(x, (B, T), real) for x in layer.keys_values(n, at.expand(B, T)[real]))
    sees = at <= starts[..., None]  # [B, R, T]
    texts, r = (starts >= 0).nonzero().unbind(1)
    place = (real.flatten().cumsum(0) - 1).view(B, T)[texts, starts[texts, r]]
    z, n, g = z[place], n[place], None
    own_keys: list[Tensor] = []
    own_values: list[Tensor] = []
    for depth in range(1, depths + 1):
        entry = starts[texts, r] + depth - 1  # [N]
        if depth > 1:
            z = net.entry(batch.ids[texts, entry + 1], g)
            n = layer.input_layernorm(z)
            for kept, x in zip((own_keys, own_values), layer.keys_values(n, entry)):
                kept.append(spread(x, (B, R), (texts, r)))
        queries = spread(layer.queries(n, entry), (B, R), (texts, r))
        mixed = attend(queries, keys, values, sees, own_keys, own_values)[texts, r]
        g = net.norm(layer.finish(z, mixed))
        on = judge(depth, g, texts, entry + 2) & (entry + 3 < batch.sizes[texts])
        texts, r, g = texts[on], r[on], g[on]
        if not len(texts):
            return


def attend(
    queries: Tensor,
    keys: Tensor,
    values: Tensor,
    sees: Tensor,
    own_keys: list[Tensor],
    own_values: list[Tensor],
) -> Tensor:
    """What each start's query mixes [B, R, H D]: of the true entries it sees, and all its own.

    queries [B, R, H, D]; keys, values [B, T, KV, D]; sees [B, R, T]; each of own_… [B, R, KV, D].
    """
    B, R, H, D = queries.shape
    KV, T = keys.shape[2], keys.shape[1]
    q = queries.view(B, R, KV, H // KV, D) / D**0.5
    scores = torch.einsum("brkgd,btkd->brkgt", q, keys)
    scores = [scores.masked_fill(~sees[:, :, None, None], UNSEEN)]
    scores += [(q * own[:, :, :, None]).sum(-1, keepdim=True) for own in own_keys]
    weights = torch.cat(scores, -1).softmax(-1)
    mixed = torch.einsum("brkgt,btkd->brkgd", weights[..., :T], values)
    for i, own in enumerate(own_values):
        mixed = mixed + weights[..., T + i, None] * own[:, :, :, None]
    return mixed.reshape(B, R, H * D)


def spread(rows: Tensor, shape: tuple[int, int], where: Tensor | tuple[Tensor, ...]) -> Tensor:
    """Rows [N, …] put to their places of zeros [*shape, …]."""
    where = where if isinstance(where, tuple) else (where,)
    return rows.new_zeros(*shape, *rows.shape[1:]).index_put(where, rows)
