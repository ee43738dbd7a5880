"""A pair by its two names: found or fetched, and checked before any weight is read."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from specdec.models import hub, vocabulary
from specdec.models.bridge import Bridge
from specdec.models.hardware import free_bytes
from specdec.models.job import Progress

if TYPE_CHECKING:
    import torch


@dataclass(frozen=True)
class Two:
    """Two loaded models and what they share."""

    target: Any
    draft: Any
    tokenizer: Any
    stop_ids: tuple[int, ...]
    folder: Path  # the target's
    description: str


def names(name: str) -> tuple[str, str]:
    """Target and drafter of "target+drafter". ValueError if it is neither folders nor listed."""
    parts = [part.strip() for part in name.split("+")]
    if len(parts) != 2:
        raise ValueError(
            f"There is no pair {name!r}; it must be 'default', 'folder+folder', or 'org/target+"
            "org/drafter' from the list of the hub's pairs."
        )
    if any(map(hub.is_id, parts)):
        hub.check(*parts)
    return parts[0], parts[1]


def is_remote(name: str) -> bool:
    """Whether the target of this pair is on a server."""
    return name.startswith(("http://", "https://"))


def needed(name: str, dtype: torch.dtype, device: torch.device) -> int:
    """Bytes that the weights of one model take once they are loaded."""
    from specdec.models.checkpoint import files
    from specdec.models.plan import loaded_bytes, numbers_in, plan

    folder = hub.cached(name, weights=True) if hub.is_id(name) else _folder(name)
    if folder is None:
        return hub.CHECKPOINTS[name].parameters * dtype.itemsize
    return loaded_bytes(plan(folder), numbers_in(files(folder)), dtype, device)


def check_room(name: str, bytes_: int, device: torch.device, progress: Progress | None) -> None:
    """Say what the weights of a pair take. ValueError if the machine has less."""
    free = free_bytes(device)
    sizes = f"{bytes_ / 1e9:.2f} GB of memory; {free / 1e9:.2f} GB are free"
    if bytes_ > free:
        raise ValueError(
            f"The weights of {name} need {sizes}. Close other programs, or take a smaller pair or "
            "dtype."
        )
    if progress:
        progress(1.0, f"Loading the two models: {sizes}")


def load(
    name: str,
    dtype: torch.dtype,
    device: torch.device,
    progress: Progress | None,
    bridge: bool = False,
) -> Two:
    """Both models; with `bridge` their tokenizers may differ.

    ValueError in a sentence if they do not make a pair, or do not fit into memory.
    """
    from specdec.models.plan import plan

    both = names(name)
    target, draft = (plan(_place(one, weights=False, progress=progress)) for one in both)
    tokenizer = vocabulary.read_tokenizer(target.folder)
    own = tokenizer
    if vocabulary.has_tokenizer(draft.folder):
        own = vocabulary.read_tokenizer(draft.folder)
        if not bridge:
            vocabulary.compare(tokenizer, own)
    elif draft.vocab_size != target.vocab_size:
        raise ValueError(
            f"The drafter has no tokenizer, and {draft.vocab_size} tokens where the target has "
            f"{target.vocab_size}: nothing says that they are the same ones."
        )
    ends = [i for i in vocabulary.stops(draft.folder, own) if i < draft.vocab_size]
    check_room(name, sum(needed(one, dtype, device) for one in both), device, progress)
    models = []
    for source, one in zip(both, (target, draft)):
        folder = _place(source, weights=True, progress=progress)
        models.append(one.loader.load(folder, dtype=dtype, device=device))
        models[-1].name = Path(source).name
    big, small = models
    if bridge and own is not tokenizer:
        small = Bridge(small, own, tokenizer, ends)
    else:
        small = vocabulary.fit(small, big.vocab_size, min(ends, default=0))
    origin = "the Hugging Face hub" if hub.is_id(both[0]) else "local folders"
    return Two(
        big,
        small,
        tokenizer,
        vocabulary.stops(target.folder, tokenizer),
        big.folder,
        f"{big.name} with {small.name}, from {origin}" + ", bridged by text" * bridge,
    )


def _place(name: str, *, weights: bool, progress: Progress | None) -> Path:
    """The folder of a model; of one on the hub its settings at least."""
    if not hub.is_id(name):
        return _folder(name)
    if progress and hub.cached(name, weights=weights) is None:
        size = hub.CHECKPOINTS[name].file_bytes / 1e9
        progress(0.0, f"Fetching {name}: " + (f"{size:.2f} GB" if weights else "its settings"))
    return hub.snapshot(name, weights=weights)


def _folder(name: str) -> Path:
    return Path(name).expanduser()
