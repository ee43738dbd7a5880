"""A pair's models in transformers' own classes, from the same weights: for a peer of ours."""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn


class ReducedHead(nn.Module):
    """A head of v rows that stand for some ids; the logit of every other id is -inf.

    A head of all ids would multiply by rows that nobody ever draws from.
    """

    def __init__(self, weight: Tensor, token_ids: Tensor, vocab_size: int) -> None:
        super().__init__()
        self.vocab_size = vocab_size
        self.weight = nn.Parameter(weight, requires_grad=False)  # [v, width]
        self.register_buffer("token_ids", token_ids)  # [v]

    def forward(self, x: Tensor) -> Tensor:
        """Logits [..., V] of hidden rows [..., width]."""
        logits = x.new_full((*x.shape[:-1], self.vocab_size), -torch.inf)
        logits[..., self.token_ids] = F.linear(x, self.weight)
        return logits


def target_network(pair: Any) -> Any:
    """The target. ValueError if it does not come from a folder."""
    return _network(pair.target)


def draft_network(pair: Any, target: Any) -> Any:
    """The drafter; one that borrows its target's table borrows that of `target` here."""
    if getattr(pair.draft, "file", None) is not None:
        return _reduced(pair.draft, target)
    return _network(pair.draft)


def _network(model: Any) -> Any:
    from transformers import AutoModelForCausalLM

    if getattr(model, "network", None) is not None:  # ours runs on transformers' own
        return model.network
    if getattr(model, "folder", None) is None:
        raise ValueError(f"{model.name!r} was not loaded from a folder: nothing else can load it.")
    network = AutoModelForCausalLM.from_pretrained(
        model.folder,
        dtype=model.dtype,
        trust_remote_code=False,
        use_safetensors=True,
        local_files_only=True,
    )
    return network.to(model.device).eval()


def _reduced(small: Any, target: Any) -> Any:
    from safetensors.torch import load_file
    from transformers import AutoModelForCausalLM

    state = load_file(small.file)
    ids, head = state.pop("draft_ids").long(), state.pop("lm_head.weight")
    network = AutoModelForCausalLM.from_config(small.config, dtype=small.dtype)
    network.set_input_embeddings(target.get_input_embeddings())
    network.lm_head = ReducedHead(head.to(small.dtype), ids, small.vocab_size)
    missing, unknown = network.load_state_dict(state, strict=False)
    lacking = [n for n in missing if "embed_tokens" not in n and not n.startswith("lm_head.")]
    if lacking or unknown:
        raise ValueError(f"{small.file} does not fit the drafter: {[*lacking, *unknown][0]!r}.")
    return network.to(small.device).eval()
