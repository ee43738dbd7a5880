"""Turn a GGUF file into a checkpoint folder in bf16: python -m specdec.models.convert FILE FOLDER.

A process of its own, because it needs half a gigabyte for some seconds and must be stoppable.
"""

from __future__ import annotations

import sys
from pathlib import Path


def convert(gguf: str | Path, folder: str | Path) -> None:
    """Expand the quantised weights, round them to bf16, save them with config and tokenizer."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    gguf = Path(gguf)
    source = {"pretrained_model_name_or_path": gguf.parent, "gguf_file": gguf.name}
    expanded = AutoModelForCausalLM.from_pretrained(**source, dtype=torch.float32)
    config = expanded.config
    if hasattr(config, "quantization_config"):
        del config.quantization_config  # true of the file, not of the expanded weights
    model = AutoModelForCausalLM.from_config(config, dtype=torch.bfloat16)
    model.load_state_dict({k: v.to(torch.bfloat16) for k, v in expanded.state_dict().items()})
    model.save_pretrained(folder)
    AutoTokenizer.from_pretrained(**source).save_pretrained(folder)


if __name__ == "__main__":
    convert(*sys.argv[1:3])
