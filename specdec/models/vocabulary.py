"""One vocabulary for two models: compared token by token, and seen through the target's ids."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from specdec.models import feed

TOKENIZERS = ("tokenizer.json", "tokenizer.model", "vocab.json", "vocab.txt")


def read_tokenizer(folder: Path) -> Any:
    """The tokenizer of a checkpoint folder; no code of the folder is run."""
    from transformers import AutoTokenizer

    try:
        return AutoTokenizer.from_pretrained(folder, trust_remote_code=False, local_files_only=True)
    except (OSError, ValueError) as error:
        raise ValueError(f"{folder} has no tokenizer that can be read.") from error


def has_tokenizer(folder: Path) -> bool:
    """Whether the folder has a tokenizer's file; a drafter may do without."""
    return any((folder / name).is_file() for name in TOKENIZERS)


def stops(folder: Path, tokenizer: Any) -> tuple[int, ...]:
    """The ids that end a text, as the folder's generation settings, config and tokenizer say."""
    ids = {tokenizer.eos_token_id}
    for name in ("generation_config.json", "config.json"):
        if (folder / name).is_file():
            eos = json.loads((folder / name).read_text("utf-8")).get("eos_token_id")
            ids |= set(eos) if isinstance(eos, list) else {eos}
    return tuple(sorted(ids - {None}))


def compare(target: Any, draft: Any) -> None:
    """ValueError, saying what differs, unless both tokenizers mean the same tokens by their ids.

    Only the added ones (<|im_start|> and such) may be missing in one of them.
    """
    ours, theirs = target.get_vocab(), draft.get_vocab()
    if ours == theirs:
        return
    by_id = [{i: token for token, i in vocabulary.items()} for vocabulary in (ours, theirs)]
    extra = set(target.get_added_vocab().values()) | set(draft.get_added_vocab().values())
    differing = [
        i
        for i in sorted(by_id[0].keys() | by_id[1].keys())
        if by_id[0].get(i) != by_id[1].get(i)
        and not (i in extra and None in (by_id[0].get(i), by_id[1].get(i)))
    ]
    if differing:
        first = differing[0]
        names = [repr(ids[first]) if first in ids else "nothing" for ids in by_id]
        raise ValueError(
            f"The tokenizers differ: the target's has {len(ours)} tokens, the drafter's "
            f"{len(theirs)}, and {len(differing)} ids mean different ones; id {first} is "
            f"{names[0]} to the target, {names[1]} to the drafter. A pair must share one."
        )


def fit(draft: Any, vocab_size: int, eos: int) -> Any:
    """The drafter for a target of `vocab_size` rows, which may be padded more or less than it."""
    return draft if draft.vocab_size == vocab_size else Fitted(draft, vocab_size, eos)


class Fitted:
    """A drafter seen through the target's ids, where the two tables have different lengths.

    The ids that it lacks have q = 0, and are fed to it as `eos`; what the target lacks is cut off.
    Any q is lossless, so neither can change the text.
    """

    def __init__(self, model: Any, vocab_size: int, eos: int) -> None:
        if not 0 <= eos < model.vocab_size:
            raise ValueError(f"eos is {eos}; it must be in [0, {model.vocab_size}).")
        self.model, self.vocab_size, self.eos = model, vocab_size, eos
        known = np.arange(model.vocab_size) if model.token_ids is None else model.token_ids
        self.token_ids = known[known < vocab_size]  # [v], ascending

    def __getattr__(self, name: str) -> Any:
        return getattr(self.model, name)  # all else is the model's

    def scorer(self, rows: int | None = None, capacity: int | None = None) -> FittedScorer:
        """A new, empty cache."""
        return FittedScorer(self, self.model.scorer(rows=rows, capacity=capacity))


class FittedScorer:
    """A Scorer over the drafter's own; ids and columns are the target's."""

    def __init__(self, model: Fitted, own: Any) -> None:
        self.own, self.eos, self.own_size = own, model.eos, own.vocab_size
        self.vocab_size, self.token_ids = model.vocab_size, model.token_ids
        self.context = getattr(own, "context", None)

    @property
    def length(self) -> int:
        """Cached tokens."""
        return self.own.length

    def score(self, tokens: Sequence[int], parents: Sequence[int] | None = None) -> np.ndarray:
        """Logits float32 [n, v] for `token_ids`."""
        return self.own.score(self._known(tokens), parents)[:, : len(self.token_ids)]

    def feed(self, tokens: Sequence[int]) -> None:
        """Cache tokens without asking what follows them."""
        feed(self.own, self._known(tokens))

    def rollback(self, length: int) -> None:
        """Forget all but the first `length` tokens."""
        self.own.rollback(length)

    def close(self) -> None:
        """Free the cache."""
        self.own.close()

    def _known(self, tokens: Sequence[int]) -> list[int]:
        beyond = [i for i in tokens if not 0 <= i < self.vocab_size]
        if beyond:
            raise ValueError(
                f"The id {beyond[0]} is outside the vocabulary [0, {self.vocab_size})."
            )
        return [int(i) if i < self.own_size else self.eos for i in tokens]
