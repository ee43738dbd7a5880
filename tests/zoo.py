"""Small configs of many architectures; their windows are shorter than the tests' texts."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
import transformers as tf
from safetensors.torch import load_file, save_file

from tests.tiny import build, save_tokenizer

V, CONTEXT, WINDOW = 97, 64, 6
SPECIAL = {"pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2}
OLD = {"vocab_size": V, "initializer_range": 0.2}  # names as GPT-2's generation had them
GPT = OLD | {"n_embd": 32, "n_layer": 2, "n_head": 4, "n_positions": CONTEXT}
GPT |= {"bos_token_id": 1, "eos_token_id": 2}
NEW = OLD | SPECIAL | {"hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2}
NEW |= {"num_attention_heads": 4, "num_key_value_heads": 2, "max_position_embeddings": CONTEXT}
SLIDING = NEW | {"sliding_window": WINDOW}
SIZED = {"head_dim": 8}
MAMBA = {"mamba_n_heads": 8, "mamba_d_head": 8, "mamba_d_state": 4, "mamba_chunk_size": 8}
LINEAR = {"linear_num_value_heads": 4, "linear_num_key_heads": 2}
LINEAR |= {"linear_key_head_dim": 8, "linear_value_head_dim": 8}
LINEAR |= {"layer_types": ["linear_attention", "full_attention"]}
EXPERTS = {"num_experts": 2, "num_experts_per_tok": 1, "moe_intermediate_size": 16}
OF_WIDTH = {"vocab_size": V, "hidden_size": 32, "state_size": 4, "num_hidden_layers": 2}


def phi3_long() -> Any:
    """RoPE that changes at 16 tokens."""
    scaling = {"rope_type": "longrope", "rope_theta": 1e4, "short_factor": [1.0] * 4}
    scaling |= {"long_factor": [2.0] * 4, "original_max_position_embeddings": 16}
    return tf.Phi3Config(
        **NEW, original_max_position_embeddings=16, rope_parameters=scaling, sliding_window=None
    )


def falcon(alibi: bool = False) -> Any:
    names = ("vocab_size", "initializer_range", "hidden_size", "num_hidden_layers")
    names += ("num_attention_heads", "max_position_embeddings")
    return tf.FalconConfig(**{name: NEW[name] for name in names}, alibi=alibi)


# Full attention: a cache is taken back by dropping its last entries.
FULL: dict[str, Callable[[], Any]] = {
    "gpt2": lambda: tf.GPT2Config(**GPT),
    "llama": lambda: tf.LlamaConfig(**NEW),
    "qwen2": lambda: tf.Qwen2Config(**NEW),
    "qwen3": lambda: tf.Qwen3Config(**NEW, **SIZED),
    "phi3": lambda: tf.Phi3Config(**NEW, sliding_window=None),
    "gpt-neox": lambda: tf.GPTNeoXConfig(**{k: NEW[k] for k in NEW if "key_value" not in k}),
    "opt": lambda: tf.OPTConfig(
        vocab_size=V,
        hidden_size=32,
        word_embed_proj_dim=32,
        ffn_dim=48,
        num_hidden_layers=2,
        num_attention_heads=4,
        max_position_embeddings=CONTEXT,
        init_std=0.2,
    ),
    "bloom": lambda: tf.BloomConfig(**OLD, hidden_size=32, n_layer=2, n_head=4),
    "falcon": falcon,
    "falcon, alibi": lambda: falcon(alibi=True),
    "mixtral": lambda: tf.MixtralConfig(**NEW, num_local_experts=4),
    "gpt-neo": lambda: tf.GPTNeoConfig(
        **OLD,
        hidden_size=32,
        num_layers=2,
        num_heads=4,
        max_position_embeddings=CONTEXT,
        attention_types=[[["global", "local"], 1]],
        window_size=WINDOW,
    ),
}
# Windows, or convolutions over a few tokens: they record what they leave behind.
WINDOWS: dict[str, Callable[[], Any]] = {
    "mistral": lambda: tf.MistralConfig(**SLIDING),
    "gemma2": lambda: tf.Gemma2Config(**SLIDING, **SIZED),
    "gemma3": lambda: tf.Gemma3TextConfig(
        **SLIDING, **SIZED, layer_types=["sliding_attention", "full_attention"]
    ),
    "gpt-oss": lambda: tf.GptOssConfig(
        **SLIDING, **SIZED, num_local_experts=4, num_experts_per_tok=2
    ),
    "lfm2": lambda: tf.Lfm2Config(**NEW, layer_types=["conv", "full_attention"]),
}
# A running state: copied before each pass.
RUNNING: dict[str, Callable[[], Any]] = {
    "mamba2": lambda: tf.Mamba2Config(
        **OF_WIDTH, num_heads=8, head_dim=8, n_groups=1, chunk_size=8
    ),
    "falcon_h1": lambda: tf.FalconH1Config(
        **NEW, **MAMBA | {"mamba_d_ssm": 32, "mamba_n_heads": 4}
    ),
    "granitemoehybrid": lambda: tf.GraniteMoeHybridConfig(
        **NEW,
        **MAMBA,
        layer_types=["mamba", "attention"],
        num_local_experts=2,
        shared_intermediate_size=16,
    ),
    "qwen3_5_text": lambda: tf.Qwen3_5TextConfig(**NEW, **LINEAR, **SIZED),
    "qwen3_next": lambda: tf.Qwen3NextConfig(
        **NEW, **LINEAR, **SIZED, **EXPERTS, shared_expert_intermediate_size=16
    ),
}
KNOWN = FULL | WINDOWS | RUNNING
# What is refused by its config, before any weight is read.
REFUSED: dict[str, Callable[[], Any]] = {
    "mamba": lambda: tf.MambaConfig(**OF_WIDTH),
    "jamba": lambda: tf.JambaConfig(**NEW, **EXPERTS, use_mamba_kernels=False),
    "recurrent_gemma": lambda: tf.RecurrentGemmaConfig(vocab_size=V, num_hidden_layers=3),
    "t5": lambda: tf.T5Config(vocab_size=V),
    "bart": lambda: tf.BartConfig(vocab_size=V),
    "clip": lambda: tf.CLIPConfig(),
}
# What is refused once it is seen to keep its state elsewhere, or nowhere, or to look ahead.
REFUSED_LATER: dict[str, Callable[[], Any]] = {
    "rwkv": lambda: tf.RwkvConfig(
        vocab_size=V,
        hidden_size=32,
        attention_hidden_size=32,
        num_hidden_layers=2,
        context_length=CONTEXT,
    ),
    "openai-gpt": lambda: tf.OpenAIGPTConfig(**{k: GPT[k] for k in GPT if "token" not in k}),
    "bert": lambda: tf.BertConfig(**{k: NEW[k] for k in NEW if "key_value" not in k}),
    "xlstm": lambda: tf.xLSTMConfig(
        vocab_size=V, hidden_size=32, num_heads=2, num_hidden_layers=2, num_blocks=2, chunk_size=8
    ),
    "gemma3_text": lambda: tf.Gemma3TextConfig(
        **SLIDING, **SIZED, use_bidirectional_attention=True
    ),
}


def saved(path: Path, kind: str, words: int = V, seed: int = 0, **changed: Any) -> Path:
    """A checkpoint of this architecture with a tokenizer, in this folder."""
    config = KNOWN[kind]()
    config.update(changed)
    build(config, seed).save_pretrained(path)
    save_tokenizer(path, words)
    return path


def near(folder: Path, like: Path, noise: float) -> Path:
    """The checkpoint `like` with noise on its weights: it often agrees."""
    folder.mkdir()
    for file in like.iterdir():
        (folder / file.name).write_bytes(file.read_bytes())
    torch.manual_seed(1)
    state = load_file(folder / "model.safetensors")
    noisy = {name: w + noise * w.std() * torch.randn_like(w) for name, w in state.items()}
    save_file(noisy, folder / "model.safetensors", {"format": "pt"})
    return folder
