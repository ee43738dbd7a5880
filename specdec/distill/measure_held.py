"""A quick look at held-out texts while training: acceptance per depth, without the engine."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn

from specdec.distill.batches import Batch, starts
from specdec.distill.texts import Text

TEXTS, STARTS, BATCH = 48, 32, 8  # of each temperature; of each text; at once


@dataclass(frozen=True)
class Held:
    """Per depth: share of greedy tokens hit, and Σ min(p, q) over the 8 ids stored of p (so a
    little too low); both where all depths before were accepted. `judged`: how many."""

    greedy: tuple[float | None, ...]
    overlap: tuple[float | None, ...]
    judged: tuple[int, ...]


@torch.no_grad()
def measure(
    net: nn.Module,
    texts: Sequence[Text],
    make: Callable[[Sequence[Text]], Batch],
    depths: int,
) -> Held:
    """Over greedy texts the share of hits, over those drawn at temperature 1 the overlap."""
    sums, counts = np.zeros((2, depths)), np.zeros((2, depths), int)
    for kind, temperature in enumerate((0.0, 1.0)):
        rng = np.random.default_rng(kind)
        some = [text for text in texts if abs(text.temperature - temperature) < 1e-3][:TEXTS]
        for a in range(0, len(some), BATCH):
            part = some[a : a + BATCH]
            judge = _Judge(make(part), net, kind, sums[kind], counts[kind], rng)
            net.predict(judge.batch, starts(part, STARTS, rng).to(judge.device), depths, judge)
    share = lambda i: tuple(  # noqa: E731
        round(float(s / n), 4) if n else None for s, n in zip(sums[i], counts[i])
    )
    return Held(share(0), share(1), tuple(counts[0].tolist()))


class _Judge:
    def __init__(
        self,
        batch: Batch,
        net: nn.Module,
        kind: int,
        sums: np.ndarray,
        counts: np.ndarray,
        rng: np.random.Generator,
    ) -> None:
        self.batch, self.net, self.kind, self.rng = batch, net, kind, rng
        self.sums, self.counts, self.device = sums, counts, batch.ids.device

    def __call__(self, depth: int, g: Tensor, texts: Tensor, positions: Tensor) -> Tensor:
        batch = self.batch
        own, columns = batch.own[texts, positions], batch.columns[texts, positions]
        p, logits = batch.p[texts, positions], self.net.lm_head(g).float()
        hit = logits.argmax(-1) == own
        q = logits.softmax(-1)
        shared = torch.minimum(p, q.gather(-1, columns.clamp(min=0)) * (columns >= 0)).sum(-1)
        self.counts[depth - 1] += len(g)
        self.sums[depth - 1] += (hit.float() if self.kind == 0 else shared).sum().item()
        if self.kind == 0:
            return hit
        chance = p.masked_fill(columns != own[:, None], 0).sum(-1)
        q_own = q.gather(-1, own.clamp(min=0)[:, None])[:, 0] * (own >= 0)
        u = torch.from_numpy(self.rng.random(len(g))).to(self.device)
        return (u * chance.clamp(min=1e-6) < q_own) & (own >= 0)
