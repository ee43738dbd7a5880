"""Small random checkpoints in the hub's format."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from transformers import AutoModelForCausalLM

V, CONTEXT = 97, 64
SIZES = {
    "vocab_size": V,
    "hidden_size": 48,
    "intermediate_size": 80,
    "num_hidden_layers": 3,
    "num_attention_heads": 6,
    "num_key_value_heads": 2,
    "max_position_embeddings": CONTEXT,
    "initializer_range": 0.2,
}


@contextmanager
def one_thread() -> Iterator[None]:
    """Small models gain nothing from threads, which wait for each other on a busy machine."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def build(config: Any, seed: int = 0) -> Any:
    """transformers' model in fp32, no weight at its trivial start (biases 0, norms 1)."""
    torch.manual_seed(seed)
    model = AutoModelForCausalLM.from_config(config, dtype=torch.float32).eval()
    with torch.no_grad():
        for name, weight in model.named_parameters():
            if name.endswith("bias"):
                weight.normal_(0, 0.5)
            elif "norm" in name or "ln_" in name:
                weight.uniform_(0.5, 1.5)
    return model


def save(config: Any, folder: Path, **how: Any) -> Any:
    """The built model, saved."""
    model = build(config)
    model.save_pretrained(folder, **how)
    return model


def save_tokenizer(
    folder: Path, words: int = V, first: str = "w0", order: Sequence[int] | None = None
) -> None:
    """A tokenizer of `words` whole words, w0 w1 …, of which the first can be called otherwise.

    `order` gives them other ids: that of word i is order[i].
    """
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    vocabulary = {first: 0} | {f"w{i}": i for i in range(1, words)}
    if order is not None:
        vocabulary = {word: int(order[i]) for word, i in vocabulary.items()}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token=first))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer, unk_token=first, eos_token="w2")
    fast.save_pretrained(folder)
