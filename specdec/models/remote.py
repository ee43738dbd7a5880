"""A target on a server: one request scores a draft, with a prompt for every one of its tokens.

Past one machine nothing else changes: the server may be one process on this computer, or vLLM on
many GPUs. It tells the log-probs of the likeliest tokens only, and our own law is made of these.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any
from urllib.parse import urlsplit

from specdec.models import completions
from specdec.models.completions import Row
from specdec.models.remote_scorer import RemoteScorer
from specdec.models.wire import Connection, RemoteError

LOGPROBS = 20  # asked for where no law says how many; vLLM's limit if it is told no other
AT_ONCE = 32  # prompts of a request
KEY = "SPECDEC_API_KEY"  # the variable with the server's key, if it wants one


class RemoteModel:
    """A model behind an OpenAI completions address; `scorer()` gives each run a text of its own.

    `vocab_size` and `context` are the server's where it tells them. `named(text)` is the id of a
    token for servers that name tokens by text. A law of more tokens than a server tells is
    refused, or cut to the likeliest `partial`, and the trace says how much was missing.
    """

    token_ids, fixes_shapes, dtype, device = None, False, "the server's", "remote"

    def __init__(
        self,
        address: str,
        *,
        vocab_size: int | None = None,
        name: str | None = None,
        partial: int = 0,
        timeout: float = 60.0,
        named: Callable[[str], int] | None = None,
    ) -> None:
        if not partial >= 0:
            raise ValueError(f"partial is {partial}; it must be 0 (never) or a number of tokens.")
        self.address, self.timeout = address.rstrip("/"), timeout
        self.partial, self.logprobs = partial, partial or LOGPROBS
        self.named = named or _unnamed
        self.connection = self.connect()
        about = self._about(name)
        meta = about.get("meta") or {}
        self.served, self.name = about["id"], about["id"].rsplit("/", 1)[-1]
        self.vocab_size = int(meta.get("n_vocab") or vocab_size or 0)
        if not self.vocab_size:
            raise ValueError(f"{address} does not say how many tokens it knows; give vocab_size.")
        room = meta.get("n_ctx") or about.get("max_model_len")
        self.context = int(room) - 1 if room else None  # it writes a token after each prompt
        self._answers_as: str | None = None

    @property
    def place(self) -> str:
        """Host and port, for the label of a trace."""
        return urlsplit(self.address).netloc.rpartition("@")[2]

    def connect(self) -> Connection:
        """A connection for one thread."""
        return Connection(self.address, self.timeout, os.environ.get(KEY, ""))

    def scorer(self, rows: int | None = None, capacity: int | None = None) -> RemoteScorer:
        """A new, empty text; the keys and values of its tokens are the server's business."""
        if rows is not None:
            raise ValueError("A server cannot be told to run every pass at one shape (rows=).")
        return RemoteScorer(self)

    def rows(
        self,
        prompts: Sequence[Sequence[int]],
        logprobs: int,
        least: int = 1,
        connection: Connection | None = None,
    ) -> list[Row]:
        """The likeliest tokens after each prompt, and their log-probs."""
        found: list[Row] = []
        for i in range(0, len(prompts), AT_ONCE):
            part = prompts[i : i + AT_ONCE]
            answer = self.complete(part, logprobs, connection or self.connection)
            found += completions.rows(answer, len(part), least, self.named)
        beyond = max((token for row in found for token in row), default=0)
        if beyond >= self.vocab_size:
            raise RemoteError(
                f"The server's token {beyond} is outside the vocabulary [0, {self.vocab_size}): it "
                "has another tokenizer."
            )
        return found

    def complete(self, prompts: Sequence[Sequence[int]], logprobs: int, to: Connection) -> Any:
        """The answer to one request. RemoteError if another model gives it than before."""
        answer = to.ask("/v1/completions", completions.request(self.served, prompts, logprobs))
        name = answer.get("model") if isinstance(answer, dict) else None
        self._answers_as = self._answers_as or name
        if name != self._answers_as:
            raise RemoteError(
                f"{self.address} now answers as {name!r}, no longer as {self._answers_as!r}."
            )
        return answer

    def rows_are_exact(self, rows: int) -> bool:
        """Nobody promises that a server's results do not depend on what else it computes."""
        return False

    def close(self) -> None:
        """Let go of the server."""
        self.connection.close()

    def _about(self, name: str | None) -> dict[str, Any]:
        answer = self.connection.ask("/v1/models")
        listed = answer.get("data") if isinstance(answer, dict) else None
        served = [m for m in listed or () if isinstance(m, dict) and isinstance(m.get("id"), str)]
        for model in served:
            if name in (None, model["id"]):
                return model
        there = ", ".join(model["id"] for model in served) or "none"
        raise RemoteError(f"{self.address} serves no model {name or ''!r}; it lists {there}.")


def _unnamed(text: str) -> int:
    raise RemoteError(
        f"The server names its tokens by text ({text!r}), and no tokenizer was given to read it."
    )
