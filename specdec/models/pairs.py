"""A pair: the target, a small model that drafts for it, and the tokenizer they share."""

from __future__ import annotations

import copy
import json
import warnings
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from specdec.models.fetch import fetch, is_fetched, target_folder
from specdec.models.hardware import describe
from specdec.models.job import Progress
from specdec.text import Texts
from specdec.trace import Memory

if TYPE_CHECKING:
    import torch

    from specdec.models.heads import HeadsModel
    from specdec.models.llama import Llama

INEXACT = (
    "On this machine a row of a pass depends on its place in it, also at a fixed shape: greedy "
    "texts may part from plain decoding at near ties even with rows=."
)
SMALL = Path(__file__).parents[2] / "assets" / "drafters" / "small.safetensors"
HEADS_NAME = "heads.safetensors"


@dataclass(frozen=True)
class Pair:
    """Two models without caches, so that any number of runs can share them."""

    name: str
    description: str
    target: Llama
    draft: Llama
    tokenizer: Any
    stop_ids: tuple[int, ...]  # tokens that end a text
    heads_file: Path | None = None  # of heads trained for this target

    @cached_property
    def heads(self) -> HeadsModel:
        """Heads on the target, loaded on first need. ValueError if the pair has none."""
        from specdec.models.heads import heads_model

        if self.heads_file is None:
            raise ValueError(
                f"The pair {self.name!r} has no heads: {HEADS_NAME} is missing in the target's "
                "folder. `python -m specdec distill` trains them."
            )
        return heads_model(self.target, self.heads_file)

    @cached_property
    def rows_are_exact(self) -> bool:
        """Whether runs with `rows=` are bit for bit the same here: probed once, with 8 rows."""
        return self.target.rows_are_exact(8)

    @cached_property
    def texts(self) -> Texts:
        """Texts of tokens."""
        return Texts(self.tokenizer)

    @property
    def hardware(self) -> tuple[str, str, str]:
        """What the models run in and on: dtype, device, machine."""
        device, dtype = self.target.device, str(self.target.dtype).removeprefix("torch.")
        return dtype, str(device), describe(device)

    @property
    def memory(self) -> Memory:
        """Bytes of the weights of both models, and of a cached token of each."""
        models = (self.target, self.draft)
        weights, tokens = "parameters_bytes", "cache_bytes_per_token"
        return Memory(*(getattr(model, name) for name in (weights, tokens) for model in models))

    def close(self) -> None:
        """Free the weights of both models; their scorers cannot be used any more."""
        self.target.close()
        self.draft.close()


def load_pair(
    name: str = "default",
    *,
    dtype: torch.dtype | str | None = None,
    device: torch.device | str | None = None,
    progress: Progress | None = None,
) -> Pair:
    """The default pair (its target is fetched on first need), or "target folder+draft folder".

    `dtype`: "bf16", "fp32" or None, the best of this machine. `progress(fraction, words)` is
    called while fetching. ValueError if the folders do not make a pair, FetchError if the target
    cannot be fetched.
    """
    if name == "default":
        return _probed(_default(dtype, device, progress), progress)
    folders = [Path(part.strip()).expanduser() for part in name.split("+")]
    if len(folders) != 2:
        raise ValueError(f"There is no pair {name!r}; it must be 'default' or 'folder+folder'.")
    return _probed(_local(name, *folders, dtype, device), progress)


def _probed(pair: Pair, progress: Progress | None) -> Pair:
    """The pair; a warning where its fixed shapes are not exact, which no library promises."""
    if progress:
        progress(1.0, "Probing whether a fixed shape gives the same bits in every row")
    if not pair.rows_are_exact:
        warnings.warn(INEXACT, RuntimeWarning, stacklevel=3)
    return pair


def _default(dtype, device, progress: Progress | None) -> Pair:
    from specdec.models.llama import Llama

    folder = target_folder()
    if not is_fetched():
        fetch(progress=progress)
    if progress:
        progress(1.0, "Loading the two models")
    target = Llama.load(folder, dtype=dtype, device=device)
    small = small_model(target)
    description = (
        "SmolLM2-135M-Instruct, its 4-bit weights (Q4_1) expanded to bf16, with a small model of "
        f"{len(small.layers)} layers trained on its text"
    )
    tokenizer = read_tokenizer(folder)
    return Pair(
        "default",
        description,
        target,
        small,
        tokenizer,
        stops(folder, tokenizer),
        SMALL.with_name(HEADS_NAME),
    )


def _local(name: str, target: Path, draft: Path, dtype, device) -> Pair:
    from specdec.models.llama import Llama

    sizes = _vocabulary(target), _vocabulary(draft)
    if sizes[0] != sizes[1]:
        raise ValueError(
            f"The vocabularies differ: the target's has {sizes[0]} tokens, the drafter's "
            f"{sizes[1]}. A pair must share one."
        )
    tokenizer = read_tokenizer(target)
    if (draft / "tokenizer.json").is_file():
        _compare(tokenizer.get_vocab(), read_tokenizer(draft).get_vocab())
    models = [Llama.load(folder, dtype=dtype, device=device) for folder in (target, draft)]
    description = f"{target.name} with {draft.name}, from local folders"
    heads = target / HEADS_NAME
    return Pair(
        name,
        description,
        *models,
        tokenizer,
        stops(target, tokenizer),
        heads if heads.is_file() else None,
    )


def small_model(target: Llama, file: str | Path = SMALL) -> Llama:
    """The bundled drafter: layers like the target's, its embedding table, a head for some ids."""
    from safetensors.torch import load_file

    from specdec.models.llama import Llama

    state = load_file(file)
    config = copy.deepcopy(target.config)
    layers = {int(key.split(".")[2]) for key in state if key.startswith("model.layers.")}
    config.num_hidden_layers, config.tie_word_embeddings = len(layers), False
    return Llama(
        config,
        state,
        name="small model",
        dtype=target.dtype,
        device=target.device,
        embedding=target.embedding,
        token_ids=state.pop("draft_ids").numpy().astype(np.int64),
    )


def read_tokenizer(folder: Path) -> Any:
    """The tokenizer of a checkpoint folder; no code of the folder is run."""
    from transformers import AutoTokenizer

    try:
        return AutoTokenizer.from_pretrained(folder, trust_remote_code=False, local_files_only=True)
    except (OSError, ValueError) as error:
        raise ValueError(f"{folder} has no tokenizer that can be read.") from error


def stops(folder: Path, tokenizer: Any) -> tuple[int, ...]:
    """The ids that end a text, as the folder's generation settings, config and tokenizer say."""
    ids = {tokenizer.eos_token_id}
    for name in ("generation_config.json", "config.json"):
        if (folder / name).is_file():
            eos = json.loads((folder / name).read_text("utf-8")).get("eos_token_id")
            ids |= set(eos) if isinstance(eos, list) else {eos}
    return tuple(sorted(ids - {None}))


def _vocabulary(folder: Path) -> int:
    """The vocabulary's size in a folder's config.json, read before any weights."""
    file = folder / "config.json"
    if not file.is_file():
        raise ValueError(f"{folder} is no checkpoint folder: it has no config.json.")
    return json.loads(file.read_text("utf-8")).get("vocab_size")


def _compare(target: dict[str, int], draft: dict[str, int]) -> None:
    """ValueError if an id that both vocabularies use stands for two different tokens."""
    by_id = {i: token for token, i in draft.items()}
    for token, i in target.items():
        if by_id.get(i, token) != token:
            raise ValueError(
                f"The tokenizers differ: id {i} is {token!r} to the target, {by_id[i]!r} to the "
                "drafter. A pair must share one."
            )
