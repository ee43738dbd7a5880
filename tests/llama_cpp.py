"""llama.cpp's own server, in this process, over a GGUF file."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import xllamacpp as llama


@contextmanager
def serving(file: Path, *, slots: int = 6, context: int = 64, exact: bool = False) -> Iterator[str]:
    """The address; `slots` prompts at once of up to `context` tokens each.

    `exact`: keys and values in fp32 and no fused attention, which keeps them in fp16.
    """
    asked = llama.CommonParams()
    asked.model.path, asked.port, asked.verbosity = str(file), _free_port(), 0
    asked.n_parallel, asked.n_ctx = slots, slots * context
    asked.cpuparams.n_threads = asked.cpuparams_batch.n_threads = 1  # its threads wait by spinning
    if exact:
        asked.cache_type_k = asked.cache_type_v = llama.ggml_type.GGML_TYPE_F32
        asked.flash_attn_type = llama.llama_flash_attn_type.LLAMA_FLASH_ATTN_TYPE_DISABLED
    server = llama.Server(asked)
    try:
        yield server.listening_address
    finally:
        del server  # its destructor ends it


def _free_port() -> int:
    with socket.socket() as any_port:
        any_port.bind(("127.0.0.1", 0))
        return any_port.getsockname()[1]
