"""A small checkpoint as a GGUF file, for llama.cpp: the same weights in fp32."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gguf
import numpy as np

from tests.tiny import V


def write_gguf(network: Any, path: Path, words: int = V) -> Path:
    """A Llama of transformers with the words w0 w1 … of `tiny.save_tokenizer`."""
    config = network.config
    out = gguf.GGUFWriter(path, "llama")
    out.add_block_count(config.num_hidden_layers)
    out.add_context_length(config.max_position_embeddings)
    out.add_embedding_length(config.hidden_size)
    out.add_feed_forward_length(config.intermediate_size)
    out.add_head_count(config.num_attention_heads)
    out.add_head_count_kv(config.num_key_value_heads)
    out.add_layer_norm_rms_eps(config.rms_norm_eps)
    out.add_rope_freq_base(config.rope_parameters["rope_theta"])
    out.add_vocab_size(words)
    out.add_tokenizer_model("gpt2")
    out.add_tokenizer_pre("smollm")
    out.add_token_list([f"w{i}" for i in range(words)])
    out.add_token_types([gguf.TokenType.CONTROL] * 3 + [gguf.TokenType.NORMAL] * (words - 3))
    out.add_token_merges(["w 1"])
    out.add_bos_token_id(1)
    out.add_eos_token_id(2)
    names = gguf.get_tensor_name_map(gguf.MODEL_ARCH.LLAMA, config.num_hidden_layers)
    for name, weight in network.state_dict().items():
        heads = {"q_proj": config.num_attention_heads, "k_proj": config.num_key_value_heads}
        kind = name.split(".")[-2]
        values = np.ascontiguousarray(weight.float().numpy())
        if kind in heads:
            values = interleaved(values, heads[kind])
        out.add_tensor(names.get_name(name, (".weight",)), values)
    out.write_header_to_file()
    out.write_kv_data_to_file()
    out.write_tensors_to_file()
    out.close()
    return path


def interleaved(weight: np.ndarray, heads: int) -> np.ndarray:
    """Rows of a projection [heads · 2 · half, width] as llama.cpp turns them: in pairs."""
    halves = weight.reshape(heads, 2, -1, weight.shape[1])
    return np.ascontiguousarray(halves.swapaxes(1, 2)).reshape(weight.shape)
