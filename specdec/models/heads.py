"""Prediction heads on a target (EAGLE, Li et al. 2024): one layer that continues its features.

A feature f is the target's last hidden row ÷ its root mean square: the target's own summary of the
text so far. From f and the next token's embedding one layer guesses the feature after that token.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from specdec.models.checkpoint import Weights
from specdec.models.llama import Llama
from specdec.models.slot import Slot

HEADS = Path(__file__).parents[2] / "assets" / "drafters" / "heads.safetensors"
ROPE_BASE = 10_000.0
EPS = 1e-5


class HeadsModel:
    """Weights of the heads; the embedding table and the sizes of the layer are the target's.

    `state` names them: embed_norm, fc [width, 2 width], layer.…, norm, lm_head [v, width],
    draft_ids [v]; and, where the heads read layers `taps` of the target too, mix [width, t width].
    """

    name = "heads on the target"

    def __init__(self, target: Llama, state: dict[str, Tensor]) -> None:
        state = dict(state)
        ids = state.pop("draft_ids").cpu().numpy()
        taps = state.pop("taps", torch.zeros(0)).tolist()
        weights = Weights(state, target.device, target.dtype, EPS)
        self.embed_norm, self.fc = weights.norm("embed_norm"), weights.linear("fc")
        self.mix = weights.linear("mix") if taps else None
        self.body = Llama(
            one_layer(target.config),
            {renamed(name): weight for name, weight in state.items()},
            dtype=target.dtype,
            device=target.device,
            embedding=target.embedding,
            token_ids=ids,
        )
        self.token_ids, self.device, self.dtype = self.body.token_ids, target.device, target.dtype
        self.width, self.group = self.body.norm.size, target.heads // target.kv_heads
        self.parameters_bytes = self.body.parameters_bytes + weights.nbytes
        self.cache_bytes_per_token = self.body.cache_bytes_per_token
        target.taps = tuple(int(i) for i in taps)

    def room(self, entries: int) -> Tensor:
        """An empty cache [1, 2 KV, entries, D]."""
        shape = (1, 2 * self.body.kv_heads, entries, self.body.head_size)
        return torch.zeros(shape, dtype=self.dtype, device=self.device)

    def features(self, hidden: Tensor) -> Tensor:
        """The target's rows [n, (1 + taps) width], each width ÷ its root mean square."""
        parts = hidden.to(self.device, self.dtype).unflatten(-1, (-1, self.width))
        return F.rms_norm(parts, (self.width,), None, EPS).flatten(-2)

    def forward(
        self,
        ids: Tensor,
        features: Tensor,
        positions: Sequence[int],
        cache: Tensor,
        at: int,
        sees: np.ndarray,
    ) -> Tensor:
        """Guessed features g [n, width] after tokens ids [n], from the features before them.

        `features` are the target's [n, (1 + taps) width], or a g [n, width]. The entries stand in
        the cache from `at` on; `sees` [n, at + n] says which entries each of them attends to.
        """
        n = len(ids)
        x = self.embed_norm(F.embedding(ids, self.body.embedding))
        z = self.fc(torch.cat([x, features[:, : self.width]], -1))  # [n, width]
        if self.mix is not None and features.shape[1] > self.width:
            z = self.mix.add(features[:, self.width :].contiguous(), z)
        positions = torch.tensor(positions, dtype=torch.float32, device=self.device)
        mask = None if sees.all() else self._mask(sees)
        return self.body.norm(self.body.transform(z, positions, Slot(cache, at, n, at + n, mask)))

    def logits(self, g: Tensor) -> Tensor:
        """Logits [n, v] over `token_ids` of guessed features."""
        return self.body.head(g)

    def _mask(self, sees: np.ndarray) -> Tensor:
        """What is added to the scores [n G, at + n]: -inf where an entry is not seen."""
        seen = torch.from_numpy(sees).to(self.device)
        mask = torch.zeros(seen.shape, dtype=self.dtype, device=self.device)
        return mask.masked_fill_(~seen, -torch.inf).repeat_interleave(self.group, 0)


def heads_model(target: Llama, file: str | Path = HEADS) -> HeadsModel:
    """The heads of a file, for this target. ValueError if there is no file."""
    from safetensors.torch import load_file

    if not Path(file).is_file():
        raise ValueError(
            f"There are no heads in {file}; `python -m specdec distill train` makes them."
        )
    return HeadsModel(target, load_file(file))


def one_layer(config):
    """The target's config with one layer, a head of its own and the heads' RoPE base."""
    config = copy.deepcopy(config)
    config.num_hidden_layers, config.tie_word_embeddings = 1, False
    config.rope_parameters = {"rope_type": "default", "rope_theta": ROPE_BASE}
    return config


def renamed(name: str) -> str:
    """A weight's name in the heads' file → in a checkpoint of one layer."""
    if name.startswith("layer."):
        return f"model.layers.0.{name.removeprefix('layer.')}"
    return f"model.{name}" if name == "norm.weight" else name
