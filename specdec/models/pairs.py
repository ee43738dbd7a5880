"""A pair: the target, a small model that drafts for it, and the tokenizer they share."""

from __future__ import annotations

import copy
import warnings
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from specdec.models import hub, sources, trained
from specdec.models.fetch import fetch, is_fetched, target_folder
from specdec.models.hardware import describe
from specdec.models.job import Progress
from specdec.models.vocabulary import read_tokenizer, stops
from specdec.text import Texts
from specdec.trace import Memory

if TYPE_CHECKING:
    import torch

    from specdec.models.heads import HeadsModel
    from specdec.models.hf import HFModel
    from specdec.models.llama import Llama
    from specdec.models.vocabulary import Fitted

INEXACT = (
    "On this machine a row of a pass depends on its place in it, also at a fixed shape: greedy "
    "texts may part from plain decoding at near ties even with rows=."
)
NATURAL = (
    "This architecture cannot run every pass at one fixed shape (rows=): in low precision greedy "
    "texts may part from plain decoding at near ties."
)
BASE = "HuggingFaceTB/SmolLM2-135M-Instruct"  # what the default target was made from
SMALL = Path(__file__).parents[2] / "assets" / "drafters" / "small.safetensors"
HEADS_NAME = "heads.safetensors"


@dataclass(frozen=True)
class Pair:
    """Two models without caches, so that any number of runs can share them."""

    name: str
    description: str
    target: Llama | HFModel
    draft: Llama | HFModel | Fitted
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
    bridge: bool = False,
    partial: int = 0,
) -> Pair:
    """The default pair, "target folder+draft folder", or "org/target+org/drafter" of the hub;
    or "target folder+file.safetensors", a drafter of `specdec.distill` ("default": our target);
    or "http://host:port+drafter", a target on a server (`specdec.models.remote_pair`).

    The default target is fetched on first need, and so is a pair of `hub.PAIRS`. `dtype`: "bf16",
    "fp32" or None, the best of this machine. `progress(fraction, words)` is called while fetching,
    and says before loading what memory it takes. `bridge`: two folders, or ids, may have different
    tokenizers; the drafter's text is then read again in the target's tokens. ValueError if the two
    make no pair or do not fit into memory, FetchError if the default target cannot be fetched.
    `partial`: the law of a target on a server may be cut to so many tokens (0: it is refused then).
    """
    run_in = _where(dtype, device)
    if bridge and (name == "default" or trained.is_trained(name) or sources.is_remote(name)):
        raise ValueError("A bridge is for two folders, or two ids of the hub.")
    if partial and not sources.is_remote(name):
        raise ValueError("partial is for a target on a server; any other tells its whole law.")
    if name == "default":
        if not is_fetched():
            fetch(progress=progress)
        sources.check_room(name, needed(name, dtype=dtype, device=device), run_in[1], progress)
        return _probed(_default(*run_in), progress)
    if sources.is_remote(name):
        from specdec.models import remote_pair

        return remote_pair.load(name, *run_in, progress, partial=partial)
    if trained.is_trained(name):
        sources.check_room(name, trained.needed(name, *run_in), run_in[1], progress)
        return _probed(trained.load(name, *run_in), progress)
    two = sources.load(name, *run_in, progress, bridge)
    heads = two.folder / HEADS_NAME
    pair = Pair(
        name,
        two.description,
        two.target,
        two.draft,
        two.tokenizer,
        two.stop_ids,
        heads if heads.is_file() else None,
    )
    return _probed(pair, progress)


def needed(
    name: str = "default",
    *,
    dtype: torch.dtype | str | None = None,
    device: torch.device | str | None = None,
) -> int:
    """Bytes of memory that the weights of a pair take, by the headers of its files alone.

    Where they are not fetched yet, by the list of the hub's pairs. ValueError if it is no pair.
    """
    run_in = _where(dtype, device)
    if sources.is_remote(name):
        drafter = name.partition("+")[2].strip()
        name = "default" if drafter in ("", "default") else drafter
        if name != "default":
            return sources.needed(drafter, *run_in)
    if trained.is_trained(name):
        return trained.needed(name, *run_in)
    if name != "default":
        return sum(sources.needed(one, *run_in) for one in sources.names(name))
    from specdec.models.plan import numbers_in

    small = numbers_in([SMALL]) * run_in[0].itemsize
    if not is_fetched():
        return hub.CHECKPOINTS[BASE].parameters * run_in[0].itemsize + small
    return sources.needed(str(target_folder()), *run_in) + small


def _where(dtype, device) -> tuple[torch.dtype, torch.device]:
    """The dtype and device that models are loaded in and on, where none is named."""
    import torch

    from specdec.models.parts import as_dtype, default_dtype

    device = torch.device(device or ("cuda" if torch.cuda.is_available() else "cpu"))
    return as_dtype(dtype) or default_dtype(device), device


def _probed(pair: Pair, progress: Progress | None) -> Pair:
    """The pair; a warning where its fixed shapes are not exact, which no library promises."""
    if progress:
        progress(1.0, "Probing whether a fixed shape gives the same bits in every row")
    if not pair.rows_are_exact:
        fixes = getattr(pair.target, "fixes_shapes", True)
        warnings.warn(INEXACT if fixes else NATURAL, RuntimeWarning, stacklevel=3)
    return pair


def _default(dtype: torch.dtype, device: torch.device) -> Pair:
    from specdec.models.llama import Llama

    folder = target_folder()
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


def small_model(target: Llama, file: str | Path = SMALL) -> Llama:
    """The bundled drafter: layers like the target's, its embedding table, a head for some ids."""
    from safetensors.torch import load_file

    from specdec.models.llama import Llama

    state = load_file(file)
    config = copy.deepcopy(target.config)
    layers = {int(key.split(".")[2]) for key in state if key.startswith("model.layers.")}
    config.num_hidden_layers, config.tie_word_embeddings = len(layers), False
    small = Llama(
        config,
        state,
        name="small model",
        dtype=target.dtype,
        device=target.device,
        embedding=target.embedding,
        token_ids=state.pop("draft_ids").numpy().astype(np.int64),
    )
    small.file = Path(file)
    return small
