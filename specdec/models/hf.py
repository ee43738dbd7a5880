"""Any causal language model of transformers, with the library's own forward pass and cache.

`llama.py` is faster for the architectures that it knows; this file is for all the others.
"""

from __future__ import annotations

import inspect
from functools import cached_property
from pathlib import Path
from typing import Any

import torch

from specdec.models import hf_checks
from specdec.models.checkpoint import files
from specdec.models.hf_scorer import HFScorer
from specdec.models.parts import as_dtype, default_dtype
from specdec.models.shapes import check_shape, rows_are_exact


class HFModel:
    """Weights, shared by everybody; `scorer()` gives each run a cache of its own.

    `network` is any causal model of transformers; ValueError if its cache cannot be taken back.
    """

    def __init__(self, network: Any, *, name: str = "") -> None:
        config = network.config
        hf_checks.check(config)
        self.config, self.kind = config, config.model_type
        self.network, self.name = network.eval(), name or self.kind
        self.folder: Path | None = None  # the checkpoint's, if it was loaded from one
        self.device, self.dtype, self.token_ids = network.device, network.dtype, None
        text = config.get_text_config(decoder=True)
        self.vocab_size, self.context = text.vocab_size, hf_checks.context(text)
        self.running = hf_checks.has_state(config) and text.model_type in hf_checks.RUNNING
        self.windows = hf_checks.has_windows(config)
        takes = inspect.signature(network.forward).parameters
        self.keeps = "logits_to_keep" in takes
        self.positioned = "position_ids" in takes and self.context is not None
        self.parameters_bytes = sum(weight.nbytes for weight in network.parameters())
        self.cache_bytes_per_token = hf_checks.probe(self)

    @classmethod
    def load(
        cls,
        folder: str | Path,
        *,
        dtype: torch.dtype | str | None = None,
        device: torch.device | str | None = None,
    ) -> HFModel:
        """The checkpoint of a folder: config.json and safetensors; none of its code is run.

        dtype and device as in `Llama.load`. ValueError in a sentence if it cannot be used.
        """
        from transformers import AutoModelForCausalLM

        folder = Path(folder).expanduser()
        hf_checks.check(hf_checks.read_config(folder))
        files(folder)
        place = torch.device(device or ("cuda" if torch.cuda.is_available() else "cpu"))
        network, found = AutoModelForCausalLM.from_pretrained(
            folder,
            dtype=as_dtype(dtype) or default_dtype(place),
            trust_remote_code=False,
            use_safetensors=True,
            local_files_only=True,
            output_loading_info=True,
        )
        if found["missing_keys"]:  # the library would go on with random ones
            raise ValueError(f"{folder} has no weight {min(found['missing_keys'])!r}.")
        model = cls(network.to(place), name=folder.name)
        model.folder = folder
        return model

    def scorer(self, rows: int | None = None, capacity: int | None = None) -> HFScorer:
        """A new, empty cache. With `rows` every scored pass has one shape, as in `Llama.scorer`."""
        check_shape(rows, capacity)
        if rows is not None and not self.fixes_shapes:
            raise ValueError(
                f"{self.kind!r} cannot run every pass at one fixed shape (rows=): that needs a "
                "cache that keeps every token, and a model that heeds its length."
            )
        return HFScorer(self, rows, capacity)

    @cached_property
    def fixes_shapes(self) -> bool:
        """Whether `scorer(rows=...)` is offered: never with windows or a running state."""
        if self.running or self.windows:
            return False
        return hf_checks.same_at_one_shape(self, HFScorer(self, 8, 32))

    def rows_are_exact(self, rows: int) -> bool:
        """Whether a token's logits have the same bits in every row of a pass of this shape."""
        return self.fixes_shapes and rows_are_exact(self, rows)

    def close(self) -> None:
        """Free the weights."""
        self.network = None
