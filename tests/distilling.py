"""A tiny random target with a tokenizer, and texts that it wrote."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import torch
from transformers import LlamaConfig

from specdec.distill.prompts import Prompts
from specdec.distill.texts import Text, read
from specdec.distill.topics import Held
from specdec.distill.write import write
from specdec.models.llama import Llama
from specdec.models.vocabulary import read_tokenizer
from tests.tiny import SIZES, V, build, save_tokenizer

HELD = Held(("w95",), ("w37", "w48"))  # w2 ends a text, so it would part w20 and its like
ENDS = {"bos_token_id": 1, "eos_token_id": 2, "max_position_embeddings": 96}
LINES = tuple(f"w{i} w{i + 1} w{i + 2}" for i in range(30, 66))


def tiny_config(**more: Any) -> LlamaConfig:
    return LlamaConfig(**SIZES | ENDS | {"tie_word_embeddings": True} | more)


def tiny_folder(folder: Path, config: Any = None) -> Path:
    """A checkpoint of bf16 numbers: a copy of its layers in bf16 is the target itself."""
    build(config or tiny_config()).to(torch.bfloat16).save_pretrained(folder)
    save_tokenizer(folder)
    return folder


def tiny_model(folder: Path) -> Llama:
    return Llama.load(folder, dtype="fp32", device="cpu")


def write_texts(folder: Path, out: Path, **how: Any) -> list[Text]:
    """Some texts of this target."""
    asked = {"batch": 6, "new": 12, "tokens": 200, "top_k": 0} | how
    seed = asked.pop("seed", 0)
    prompts = Prompts(seed, HELD, LINES)
    write(tiny_model(folder), read_tokenizer(folder), (2,), out, prompts, **asked)
    return read([out])


def text(prompt: list[int], written: list[int], size: int = V, **more: Any) -> Text:
    """A text with laws that are sure of what was written."""
    n = len(written)
    top = (np.array(written)[:, None] + np.arange(8)) % size
    p = np.zeros((n, 8), np.float16)
    p[:, 0] = 1.0
    of = {"top": top, "p": p, "temperature": 0.0} | more
    return Text(np.array(prompt), np.array(written), **of)
