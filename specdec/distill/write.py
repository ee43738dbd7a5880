"""Step 1: the target writes text, many sequences at once, and its laws are kept."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from specdec.distill.generate import write_batch
from specdec.distill.prompts import Prompts
from specdec.distill.texts import count, save
from specdec.models.job import Progress
from specdec.run import encode
from specdec.scores import check

if TYPE_CHECKING:
    from specdec.models.llama import Llama


def write(
    model: Llama,
    tokenizer: Any,
    stop_ids: Sequence[int],
    folder: Path,
    prompts: Prompts,
    *,
    batch: int = 32,
    new: int = 144,
    longest: int = 256,
    temperatures: Sequence[float] = (0.0, 0.0, 0.6, 0.8, 1.0),
    top_k: int = 64,
    tokens: int = 1_000_000,
    end: float = np.inf,
    progress: Progress = lambda fraction, words: None,
    clock: Callable[[], float] = time.time,
) -> int:
    """Write files of `batch` texts, of `new` tokens at most, until there are `tokens` of this seed.

    Files that are there are counted and left alone, so a stopped run goes on where it was. Prompts
    of more than `longest` tokens are left out. Returns the tokens written, now and before.
    """
    for name, value in (("batch", batch), ("n", new), ("tokens", tokens)):
        check(name, value, value >= 1, "1 or more")
    for value in (*temperatures, *(() if temperatures else (np.nan,))):
        check("temperatures", value, 0 <= value < np.inf, "0 or more, at least one")
    check("top_k", top_k, top_k >= 0, "0 (all) or more")
    total, number, began, before = 0, 0, clock(), None
    while total < tokens:
        file = folder / f"s{prompts.seed}_{number:05d}.npz"
        if not file.is_file():
            before = total if before is None else before
            if clock() >= end:
                break
            texts, chat = prompts.batch(number, batch)
            ids = [encode(tokenizer, text, chat=chat) for text in texts]
            ids = [i for i in ids if len(i) <= min(longest, model.context - new)]
            if not ids:
                raise ValueError(f"No prompt of a batch has at most {longest} tokens.")
            rng = np.random.default_rng([prompts.seed, 3, number])
            drawn_at = rng.choice(temperatures, len(ids))
            uniforms = rng.random((new, len(ids)))
            save(
                file, write_batch(model, ids, drawn_at, uniforms, stop_ids, top_k), model.vocab_size
            )
        total, number = total + count(file), number + 1
        if before is not None:
            speed = (total - before) / max(clock() - began, 1e-9)
            progress(min(1.0, total / tokens), f"Writing: {total} tokens, {speed:.0f} a second")
    return total
