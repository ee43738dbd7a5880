"""llama.cpp as an arm of the bench: its own file of the weights and its own kernels."""

from __future__ import annotations

import socket
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from specdec.bench_arms import Output
from specdec.models.wire import Connection


@dataclass
class LlamaCpp:
    """Plain greedy decoding of a GGUF file; the server is started at the first run, and stays.

    It reads the whole prompt anew every time. Its texts may part from ours: it computes with the
    weights as they are in the file, in 4 bits perhaps, and rounds what they are multiplied with.
    RuntimeError if it is not installed, or the file cannot be read.
    """

    file: Path
    context: int = 2048
    name: str = "llama.cpp"
    _server: Any = field(default=None, repr=False)

    def run(self, prompt: Sequence[int], n: int) -> Output:
        """Decode once."""
        if self._server is None:
            self._server = start(self.file, self.context)
        asked = {"prompt": list(prompt), "n_predict": n, "temperature": 0.0}
        asked |= {"cache_prompt": False, "return_tokens": True}
        connection = Connection(self._server.listening_address, timeout=600.0)
        began = time.perf_counter()
        answer = connection.ask("/completion", asked)
        seconds = time.perf_counter() - began
        connection.close()
        tokens = tuple(answer["tokens"])
        return Output(tokens, seconds, len(tokens))


def start(file: Path, context: int) -> Any:
    """llama.cpp's server for one text at a time, on as many threads as torch has."""
    import torch

    try:
        import xllamacpp as llama
    except ImportError:
        raise RuntimeError("xllamacpp is not installed: pip install xllamacpp.") from None
    if not Path(file).is_file():
        raise RuntimeError(f"There is no file {file}.")
    asked = llama.CommonParams()
    asked.model.path, asked.verbosity = str(file), 0
    asked.n_parallel, asked.n_ctx = 1, context
    asked.cpuparams.n_threads = asked.cpuparams_batch.n_threads = torch.get_num_threads()
    with socket.socket() as free:  # one that nobody listens at
        free.bind(("127.0.0.1", 0))
        asked.port = free.getsockname()[1]
    return llama.Server(asked)
