"""A pair whose target is on a server: who drafts for it here, and whether they belong together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from specdec.models import completions, fetch, hub, pairs, sources, vocabulary
from specdec.models.job import Progress
from specdec.models.remote import RemoteModel
from specdec.models.wire import RemoteError
from specdec.text import Texts

if TYPE_CHECKING:
    import torch

PROBE = 'A probe, of 12 + 30 = 42 parts: naïve "Ünïcode", 字 and 😀.\n\n\tdef f(x):  return x\n'
WEIGHTS_PROBE = "The capital of France is Paris. Water boils at 100 degrees"
FARTHEST = 0.5  # nats, the mean over the likeliest tokens; llama.cpp's 4-bit kernels are 0.11 off


@dataclass(frozen=True)
class RemotePair(pairs.Pair):
    """A target on a server; what drafts for it, and the tokenizer, are here."""

    @property
    def hardware(self) -> tuple[str, str, str]:
        """dtype, device, machine: the server does not tell more than where it is."""
        return self.target.dtype, self.target.device, self.target.place

    @property
    def memory(self) -> None:
        """Nobody tells what a server's weights take."""
        return None


class NoModel:
    """In the drafter's place where only a tokenizer is here: prompt lookup needs no more."""

    name, token_ids, context = "no model", None, None

    def __init__(self, vocab_size: int) -> None:
        self.vocab_size = vocab_size

    def scorer(self, rows: int | None = None, capacity: int | None = None) -> Any:
        """ValueError: there are no weights."""
        raise ValueError(
            "This pair has a tokenizer but no drafter's weights here: draft with 'lookup', or name "
            "a folder with a small model after the server's address."
        )

    def close(self) -> None:
        """Nothing to free."""


class Names:
    """Text → id, for servers that name tokens by text; RemoteError if it names none, or several."""

    def __init__(self, texts: Any, size: int) -> None:
        self.texts, self.size = texts, size

    @cached_property
    def ids(self) -> dict[str, int | None]:
        """None where several ids have one text."""
        found: dict[str, int | None] = {}
        for i in range(self.size):
            text = self.texts.decode([i])
            found[text] = None if text in found else i
        return found

    def __call__(self, text: str) -> int:
        token = self.ids.get(text)
        if token is None:
            many = "several tokens" if text in self.ids else "no token"
            raise RemoteError(
                f"The server names a token {text!r}, which is {many} here: it must tell ids "
                "(llama.cpp and vLLM do), or it has another tokenizer."
            )
        return token


def load(
    name: str,
    dtype: torch.dtype,
    device: torch.device,
    progress: Progress | None = None,
    **options: Any,
) -> RemotePair:
    """The pair of "http://host:port+drafter"; `options` are those of `RemoteModel`.

    The drafter: nothing or "default" (the server runs the default target, which is also needed
    here), a folder with a small model or with a tokenizer alone, or a listed model of the hub.
    ValueError or RemoteError in a sentence if the two do not make a pair.
    """
    address, _, drafter = (part.strip() for part in name.partition("+"))
    if drafter in ("", "default"):
        folder, draft, ends, known = _default(dtype, device, progress)
    else:
        folder, draft, ends = _named(drafter, dtype, device, progress)
        known = None
    tokenizer = vocabulary.read_tokenizer(folder)
    texts = Texts(tokenizer)
    size = max(tokenizer.get_vocab().values()) + 1
    most = max(size, getattr(draft, "vocab_size", 0))  # tables are often longer than vocabularies
    names = Names(texts, size)
    target = RemoteModel(address, **{"vocab_size": most, "named": names} | options)
    check_tokenizer(target, tokenizer, texts, size)
    if known:
        check_weights(target, *known)
    if draft is None:
        draft = NoModel(target.vocab_size)
    else:
        draft = vocabulary.fit(draft, target.vocab_size, min(ends, default=0))
    words = f"{target.name} at {target.place} with {draft.name}"
    return RemotePair(name, words, target, draft, tokenizer, ends)


def check_tokenizer(model: RemoteModel, tokenizer: Any, texts: Any, size: int) -> None:
    """RemoteError unless ids mean the same tokens there and here, as far as it can be asked.

    By the server's own /tokenize where it has one, and by the text of a token that it writes.
    """
    if size > model.vocab_size:
        raise RemoteError(
            f"{model.address} knows {model.vocab_size} tokens, and the tokenizer here {size}: "
            "they differ."
        )
    ours = list(tokenizer.encode(PROBE, add_special_tokens=False))
    asked = {"model": model.served, "content": PROBE, "prompt": PROBE}
    asked |= {"add_special": False, "add_special_tokens": False}
    answer = model.connection.ask("/tokenize", asked, optional=True)
    theirs = answer.get("tokens") if isinstance(answer, dict) else None
    if theirs is not None and theirs != ours:
        raise RemoteError(f"{model.address} has another tokenizer: it splits a probe otherwise.")
    answer = model.complete([ours], 1, model.connection)
    [row], [text] = completions.rows(answer, 1, 1, model.named), completions.written(answer)
    token = max(row, key=row.get)
    here = texts.piece(token).strip()
    if text.strip() and "\ufffd" not in here + text and text.strip() != here:
        raise RemoteError(
            f"{model.address} has another tokenizer: its token {token} is {text!r}, here {here!r}."
        )


def check_weights(model: RemoteModel, ids: Sequence[int], known: np.ndarray) -> None:
    """RemoteError if the server's log-probs after ids[: i + 1] are far from the known row i.

    `known` are logits or log-probs [n, V] of the right weights, at any precision.
    """
    exact = known - np.logaddexp.reduce(known.astype(np.float64), axis=1, keepdims=True)
    rows = completions.dense(
        model.rows([ids[: i + 1] for i in range(len(ids))], 10), model.vocab_size
    )
    told = rows[:, : exact.shape[1]] > -np.inf
    far = float(np.abs(rows[:, : exact.shape[1]] - exact)[told].mean())
    if far > FARTHEST:
        raise RemoteError(
            f"{model.address} runs other weights than expected: its log-probs are {far:.2f} nats "
            "off on average. To draft for another target name a drafter's folder after the address."
        )


def _default(dtype, device, progress) -> tuple[Path, Any, tuple[int, ...], tuple]:
    """Folder, the bundled small model, stop ids, and known rows; the local target is let go."""
    from specdec.models.llama import Llama

    folder = fetch.fetch(progress=progress)
    bytes_ = pairs.needed(dtype=dtype, device=device)
    sources.check_room("the default pair", bytes_, device, progress)
    local = Llama.load(folder, dtype=dtype, device=device)
    tokenizer = vocabulary.read_tokenizer(folder)
    ids = tokenizer.encode(WEIGHTS_PROBE, add_special_tokens=False)
    scorer = local.scorer()
    known = (ids, scorer.score(ids))
    scorer.close()
    return folder, pairs.small_model(local), vocabulary.stops(folder, tokenizer), known


def _named(drafter: str, dtype, device, progress) -> tuple[Path, Any, tuple[int, ...]]:
    if drafter in hub.CHECKPOINTS and hub.is_id(drafter):
        folder = hub.snapshot(drafter, weights=True)
    else:
        folder = Path(drafter).expanduser()
    if not vocabulary.has_tokenizer(folder):
        raise ValueError(f"{folder} has no tokenizer, which the target's texts need.")
    ends = vocabulary.stops(folder, vocabulary.read_tokenizer(folder))
    if not any(folder.glob("*.safetensors")):
        return folder, None, ends
    from specdec.models.plan import plan

    bytes_ = sources.needed(str(folder.resolve()), dtype, device)
    sources.check_room(drafter, bytes_, device, progress)
    draft = plan(folder).loader.load(folder, dtype=dtype, device=device)
    draft.name = folder.name if folder.is_dir() else drafter
    return folder, draft, ends
