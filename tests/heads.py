"""A tiny random target with random heads, and the heads' laws computed without any cache."""

from __future__ import annotations

from functools import cache

import numpy as np
import torch
import torch.nn.functional as F
from transformers import LlamaConfig

from specdec.models.heads import HeadsModel
from specdec.models.llama import Llama

WIDTH, INNER, HEADS, KV = 24, 20, 4, 2
SIZE = WIDTH // HEADS


def tiny_config(vocab: int, layers: int = 3, context: int = 64) -> LlamaConfig:
    """A Llama so small that a generation can be enumerated."""
    return LlamaConfig(
        vocab_size=vocab,
        hidden_size=WIDTH,
        intermediate_size=INNER,
        num_hidden_layers=layers,
        num_attention_heads=HEADS,
        num_key_value_heads=KV,
        max_position_embeddings=context,
        tie_word_embeddings=True,
    )


@cache
def tiny_target(vocab: int, seed: int = 0, scale: float = 0.4) -> Llama:
    """Random weights, drawn large enough for laws that differ."""
    from transformers import AutoModelForCausalLM

    torch.manual_seed(seed)
    config = tiny_config(vocab)
    model = AutoModelForCausalLM.from_config(config, dtype=torch.float32)
    state = {n: w * scale / 0.02 for n, w in model.state_dict().items()}
    state |= {n: w * 0 + 1 for n, w in state.items() if "norm" in n}
    return Llama(config, state, dtype="fp32", device="cpu")


def tiny_state(ids: list[int], taps: tuple[int, ...] = (), seed: int = 1) -> dict:
    """Random heads over these ids."""
    torch.manual_seed(seed)
    kv = KV * SIZE
    shapes = {
        "fc": (WIDTH, 2 * WIDTH),
        "lm_head": (len(ids), WIDTH),
        "layer.self_attn.q_proj": (WIDTH, WIDTH),
        "layer.self_attn.k_proj": (kv, WIDTH),
        "layer.self_attn.v_proj": (kv, WIDTH),
        "layer.self_attn.o_proj": (WIDTH, WIDTH),
        "layer.mlp.gate_proj": (INNER, WIDTH),
        "layer.mlp.up_proj": (INNER, WIDTH),
        "layer.mlp.down_proj": (WIDTH, INNER),
    }
    if taps:
        shapes["mix"] = (WIDTH, len(taps) * WIDTH)
    state = {f"{name}.weight": 0.4 * torch.randn(shape) for name, shape in shapes.items()}
    for name in ("embed_norm", "norm", "layer.input_layernorm", "layer.post_attention_layernorm"):
        state[f"{name}.weight"] = 0.5 + torch.rand(WIDTH)
    state["draft_ids"] = torch.tensor(ids, dtype=torch.int32)
    return state | ({"taps": torch.tensor(taps, dtype=torch.int32)} if taps else {})


def tiny_heads(target: Llama, ids: list[int], taps: tuple[int, ...] = ()) -> HeadsModel:
    """The same as a model."""
    return HeadsModel(target, tiny_state(ids, taps))


def rms(x: torch.Tensor, weight: torch.Tensor | float = 1.0) -> torch.Tensor:
    return x / (x.pow(2).mean(-1, keepdim=True) + 1e-5).sqrt() * weight


def turned(x: torch.Tensor, position: int) -> torch.Tensor:
    """RoPE with base 10 000 of x [heads, D]."""
    angle = position / 10_000 ** (torch.arange(0, SIZE, 2) / SIZE)
    cos, sin = angle.cos().repeat(2), angle.sin().repeat(2)
    low, high = x.chunk(2, -1)
    return x * cos + torch.cat([-high, low], -1) * sin


def naive_logits(target: Llama, state: dict, context: list[int], drafted: list[int]) -> np.ndarray:
    """Logits [len(drafted) + 1, v] after context + drafted[:i], one number after another.

    True features up to the token before the last of the context, then the heads' own guesses.
    """
    w = {n.removesuffix(".weight").removeprefix("layer."): t for n, t in state.items()}
    scorer = target.scorer()
    scorer.score(context[:-1])
    rows = torch.from_numpy(scorer.features).unflatten(-1, (-1, WIDTH))
    features, entries, out = list(rms(rows).flatten(1)), [], []
    ids = [*context, *drafted]
    for i in range(len(ids) - 1):
        f = features[i]
        x = rms(target.embedding[ids[i + 1]], w["embed_norm"])
        z = w["fc"] @ torch.cat([x, f[:WIDTH]])
        if len(f) > WIDTH:
            z = z + w["mix"] @ f[WIDTH:]
        n = rms(z, w["input_layernorm"])
        q, k, v = ((w[f"self_attn.{c}_proj"] @ n).view(-1, SIZE) for c in "qkv")
        entries.append((turned(k, i), v))
        q, mixed = turned(q, i), []
        for head in range(HEADS):
            of = head // (HEADS // KV)
            keys, values = (torch.stack([e[j][of] for e in entries]) for j in (0, 1))
            mixed.append((keys @ q[head] / SIZE**0.5).softmax(0) @ values)
        y = z + w["self_attn.o_proj"] @ torch.cat(mixed)
        m = rms(y, w["post_attention_layernorm"])
        y = y + w["mlp.down_proj"] @ (F.silu(w["mlp.gate_proj"] @ m) * (w["mlp.up_proj"] @ m))
        g = rms(y, w["norm"])
        if i >= len(context) - 2:
            out.append((w["lm_head"] @ g).numpy())
            features.append(g)
    order = np.argsort(state["draft_ids"].numpy())
    return np.array(out)[:, order]
