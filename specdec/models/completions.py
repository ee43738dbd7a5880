"""The answers of /v1/completions: log-probs by id, in the classic form and in llama.cpp's."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from specdec.models.wire import RemoteError

Row = dict[int, float]  # id → log-prob of the likeliest tokens after a prompt


def request(model: str, prompts: Sequence[Sequence[int]], logprobs: int) -> dict[str, Any]:
    """One token after each prompt, with the model's own log-probs beside it."""
    return {
        "model": model,
        "prompt": [list(map(int, prompt)) for prompt in prompts],
        "max_tokens": 1,
        "temperature": 0.0,  # of the written token alone: no server here cuts its log-probs by it
        "logprobs": logprobs,
        "return_tokens_as_token_ids": True,  # vLLM: "token_id:5" for " the"
    }


def rows(answer: Any, prompts: int, least: int, named: Callable[[str], int]) -> list[Row]:
    """What follows each prompt. RemoteError if an answer is missing, or knows under `least` ids.

    `named(text)` is the id of a token that the server calls by its text.
    """
    try:
        choices = sorted(answer["choices"], key=lambda choice: choice["index"])
        found = [dict(_entries(choice["logprobs"], named)) for choice in choices]
    except (AttributeError, KeyError, IndexError, TypeError, ValueError) as error:
        raise RemoteError(
            "The server's answer is not of the completions dialect, or without log-probs."
        ) from error
    if len(found) != prompts:
        raise RemoteError(f"The server answered {len(found)} of {prompts} prompts in one request.")
    fewest = min(map(len, found))
    if fewest < least:
        raise RemoteError(
            f"The server gave the log-probs of {fewest} tokens where {least} are needed; it may "
            "have a limit (vLLM: --max-logprobs)."
        )
    if not all(x <= 1e-3 for row in found for x in row.values()):  # neither for NaN
        raise RemoteError("The server gave log-probs that are none: more than 0, or no number.")
    return found


def dense(rows: Sequence[Row], vocab_size: int) -> np.ndarray:
    """Rows as log-probs float32 [n, V]; -inf where nothing is known."""
    found = np.full((len(rows), vocab_size), -np.inf, np.float32)
    for i, row in enumerate(rows):
        found[i, list(row)] = list(row.values())
    return found


def written(answer: Any) -> list[str]:
    """The text of the token that follows each prompt; "" where the server hides it."""
    return [c["text"] for c in sorted(answer["choices"], key=lambda choice: choice["index"])]


def mass(row: Row) -> float:
    """The probability of all tokens in a row."""
    return math.fsum(map(math.exp, row.values()))


def _entries(logprobs: Any, named: Callable[[str], int]) -> Iterator[tuple[int, float]]:
    if "content" in logprobs:
        for entry in logprobs["content"][0]["top_logprobs"]:
            yield int(entry["id"] if "id" in entry else named(entry["token"])), entry["logprob"]
        return
    for text, logprob in logprobs["top_logprobs"][0].items():
        prefix, _, number = text.partition("token_id:")
        by_id = not prefix and number.isdigit()
        yield int(number) if by_id else named(text), float(logprob)
