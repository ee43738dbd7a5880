"""What is trained: heads on the target's features, or a small model of a few of its layers.

Their state has the names of the files that `specdec.models.heads` and `.pairs` read.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from specdec.distill.batches import Batch
from specdec.distill.layer import Block, Shape, layer_state, matrix, norm
from specdec.distill.unroll import Judge, unroll
from specdec.models.heads import EPS, ROPE_BASE

State = dict[str, Tensor]


class HeadsNet(nn.Module):
    """One layer over (embedding of the next token, feature), as `HeadsModel` computes it."""

    kind = "heads"

    def __init__(self, config: Any, state: State, embedding: Tensor, taps: Sequence[int]) -> None:
        super().__init__()
        self.taps, self.width = tuple(taps), config.hidden_size
        self.register_buffer("embedding", embedding, persistent=False)
        self.embed_norm, self.norm = norm(self.width, EPS), norm(self.width, config.rms_norm_eps)
        self.fc, self.lm_head = matrix(state, "fc"), matrix(state, "lm_head")
        self.mix = matrix(state, "mix") if self.taps else None
        self.layer = Block(Shape.of(config, ROPE_BASE), layer_state(state, "layer."))
        self.load_state_dict(state)

    def entry(self, ids: Tensor, features: Tensor) -> Tensor:
        """z [M, width] of tokens [M] and features [M, 1 + taps, width], or guesses [M, width]."""
        last = features if features.dim() == 2 else features[:, 0]
        x = self.embed_norm(F.embedding(ids, self.embedding).float())
        z = self.fc(torch.cat([x, last], -1))
        if self.mix is not None and features.dim() == 3:
            z = z + self.mix(features[:, 1:].flatten(1))
        return z.float()  # what norms read stays in fp32, also where matrices are in bf16

    def predict(self, batch: Batch, starts: Tensor, depths: int, judge: Judge) -> None:
        """Give `judge` the guesses of every depth (see `unroll`)."""
        unroll(self, batch, starts, depths, judge)


class SmallNet(nn.Module):
    """A Llama of few layers over the target's embedding table."""

    kind = "small"

    def __init__(self, config: Any, state: State, embedding: Tensor) -> None:
        super().__init__()
        self.taps, self.model = (), nn.Module()
        self.register_buffer("embedding", embedding, persistent=False)
        numbers = sorted({int(n.split(".")[2]) for n in state if n.startswith("model.layers.")})
        of = lambda i: layer_state(state, f"model.layers.{i}.")  # noqa: E731
        self.model.layers = nn.ModuleList(Block(Shape.of(config), of(i)) for i in numbers)
        self.model.norm = norm(config.hidden_size, config.rms_norm_eps)
        self.lm_head = matrix(state, "lm_head")
        self.load_state_dict(state)

    def predict(self, batch: Batch, starts: Tensor, depths: int, judge: Judge) -> None:
        """Give `judge` the row before every written token. It knows one depth: its own drafts
        are texts like any other to it, so neither `starts` nor `depths` matter."""
        x = F.embedding(batch.ids, self.embedding).float()
        for layer in self.model.layers:
            x = layer(x)
        at = torch.arange(x.shape[1], device=x.device)
        written = (at >= batch.first[:, None]) & (at < batch.sizes[:, None])
        texts, positions = written.nonzero().unbind(1)
        judge(1, self.model.norm(x[texts, positions - 1]), texts, positions)


def first_heads(config: Any, target: State, ids: Tensor, taps: Sequence[int], seed: int) -> State:
    """Heads to begin with: the target's last layer, over its feature and no more than that.

    The weight of the target's last norm goes into the head, so that a guess g is in the space of
    the features from the first step on.
    """
    width, last = config.hidden_size, config.num_hidden_layers - 1
    generator = torch.Generator().manual_seed(seed)
    token = torch.randn(width, width, generator=generator) * config.initializer_range
    state = layer_state(target, f"model.layers.{last}.")
    state = {f"layer.{name}": weight.float() for name, weight in state.items()}
    for name in ("self_attn.o_proj", "mlp.down_proj"):  # they wrote into a far larger row
        state[f"layer.{name}.weight"] = state[f"layer.{name}.weight"] * OUTPUT
    state["fc.weight"] = torch.cat([token, torch.eye(width)], 1)
    state["embed_norm.weight"] = state["norm.weight"] = torch.ones(width)
    state["lm_head.weight"] = (
        _head(config, target)[ids].float() * target["model.norm.weight"].float()
    )
    if taps:
        state["mix.weight"] = torch.zeros(width, len(taps) * width)
    return state


OUTPUT = 0.1  # of the copied layer's outputs


def first_small(config: Any, target: State, ids: Tensor, layers: Sequence[int]) -> State:
    """A small model to begin with: these layers of the target, its last norm, rows of its head."""
    state = {}
    for new, old in enumerate(layers):
        parts = layer_state(target, f"model.layers.{old % config.num_hidden_layers}.")
        state |= {f"model.layers.{new}.{name}": w.float() for name, w in parts.items()}
    state["model.norm.weight"] = target["model.norm.weight"].float()
    return state | {"lm_head.weight": _head(config, target)[ids].float()}


def _head(config: Any, target: State) -> Tensor:
    tied = config.tie_word_embeddings
    return target["model.embed_tokens.weight" if tied else "lm_head.weight"]
