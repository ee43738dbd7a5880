"""How far guesses are from the target's law: cross-entropy with what is stored of it."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from specdec.distill.batches import Batch

SMALLEST = 1e-4  # of a probability, before its logarithm
FLOOR = -30.0  # logarithm of a q outside the draft vocabulary


class Loss:
    """A judge that sums up the loss of a batch, each depth with its weight.

    The target's law p is stored as 8 ids and the mass of all others, so the loss is
    -Σ m log q over the 8, and -rest · log(1 - Σ q) for the others. `hard` moves that share of m to
    the likeliest id, which is what greedy decoding asks for. Ids outside the draft vocabulary
    cannot be learnt and are left out of the sum.

    q is normalised over the columns that the batch needs and `sampled` others, which stand for
    all the rest (0: over all columns).
    """

    def __init__(
        self,
        batch: Batch,
        head: Tensor,
        *,
        hard: float,
        weights: Sequence[float],
        sampled: int,
        rng: np.random.Generator,
    ) -> None:
        self.batch, self.hard, self.weights, self.rng = batch, hard, weights, rng
        needed = torch.cat([batch.columns.flatten(), batch.own.flatten()]).unique()
        needed = needed[needed >= 0].cpu().numpy()
        rest = np.setdiff1d(np.arange(len(head)), needed)
        some = rng.choice(rest, sampled, replace=False) if 0 < sampled < len(rest) else rest
        device = head.device
        self.chosen = torch.from_numpy(np.concatenate([needed, some])).to(device)
        self.place = torch.full((len(head),), -1, device=device)
        self.place[self.chosen] = torch.arange(len(self.chosen), device=device)
        self.head = head[self.chosen]  # [m, width]
        self.stands_for = torch.zeros(len(self.chosen), device=device)
        self.stands_for[len(needed) :] = math.log(len(rest) / max(1, len(some))) if len(rest) else 0
        self.total: Tensor | float = 0.0
        self.sums, self.counts = np.zeros(len(weights)), np.zeros(len(weights))

    def __call__(self, depth: int, g: Tensor, texts: Tensor, positions: Tensor) -> Tensor:
        """Add the loss of guesses g [N, width]; which of them to go on from [N].

        Those whose token would have been accepted: it was the favourite, or a draw lets it pass.
        """
        batch = self.batch
        columns, p = batch.columns[texts, positions], batch.p[texts, positions]  # [N, 8]
        own = batch.own[texts, positions]  # [N]
        logits = F.linear(g, self.head).float()
        log_total = (logits + self.stands_for).logsumexp(-1)
        log_q = self._at(logits, columns) - log_total[:, None]
        loss = cross_entropy(p, log_q.where(columns >= 0, FLOOR), columns >= 0, self.hard)
        self.total = self.total + self.weights[depth - 1] * loss.sum()
        self.sums[depth - 1] += loss.sum().item()
        self.counts[depth - 1] += len(g)
        with torch.no_grad():
            q = (self._at(logits, own[:, None])[:, 0] - log_total).exp() * (own >= 0)
            chance = p.masked_fill(columns != own[:, None], 0).sum(-1)
            favourite = self.chosen[logits.argmax(-1)] == own
            u = torch.from_numpy(self.rng.random(len(g))).to(g.device)
            return favourite | (u * chance.clamp(min=1e-3) < q)

    def _at(self, logits: Tensor, columns: Tensor) -> Tensor:
        return logits.gather(-1, self.place[columns.clamp(min=0)].clamp(min=0))


def cross_entropy(p: Tensor, log_q: Tensor, known: Tensor, hard: float) -> Tensor:
    """Loss [N] of log q [N, 8] against the head of a law p [N, 8], both of the same ids."""
    mass = p * (1 - hard)
    mass = torch.cat([mass[:, :1] + hard, mass[:, 1:]], 1) * known
    rest = (1 - p.sum(-1)).clamp(min=0) * (1 - hard)
    others = (1 - (log_q.exp() * known).sum(-1)).clamp(min=SMALLEST)
    return -(mass * log_q).sum(-1) - rest * others.log()
