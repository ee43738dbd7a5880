"""Ways to decode, as the bench runs them: ours, and the barest loop over the same model."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from specdec import adaptive, run
from specdec.models import feed
from specdec.trace import Trace
from specdec.ways import has_heads


@dataclass(frozen=True)
class Judged:
    """What became of one draft; `drafted` leaves out what the end of the text cut away."""

    accepted: int
    rejected: int
    drafted: int


@dataclass(frozen=True)
class Output:
    """What an arm made of one prompt; seconds from the call to the last token, prefill included.

    A target pass writes at least one token: the prefill counts only where it writes one too.
    """

    tokens: tuple[int, ...]
    seconds: float
    target_passes: int
    draft_passes: int = 0
    trace: Trace | None = None  # of a run of ours
    judged: tuple[Judged, ...] = ()  # of any other: its drafts, in order


class Arm(Protocol):
    """One way to decode greedily: at most n tokens after these ids."""

    name: str

    def run(self, prompt: Sequence[int], n: int) -> Output:
        """Decode once."""
        ...


@dataclass(frozen=True)
class Bare:
    """Plain decoding with nothing around it: a pass, the likeliest token, the next pass."""

    pair: Any
    name: str = "bare"

    def run(self, prompt: Sequence[int], n: int) -> Output:
        """Decode once."""
        began, ids = time.perf_counter(), list(prompt)
        scorer = self.pair.target.scorer(capacity=len(ids) + n)
        feed(scorer, ids[:-1])
        for _ in range(n):
            ids.append(int(scorer.score(ids[scorer.length :])[-1].argmax()))
            if ids[-1] in self.pair.stop_ids:
                break
        scorer.close()
        written = tuple(ids[len(prompt) :])
        return Output(written, time.perf_counter() - began, len(written))


@dataclass(frozen=True)
class Ours:
    """Our engine with these options of `specdec.rounds`; heads of laws are not recorded."""

    name: str
    pair: Any
    options: Mapping[str, Any]

    def run(self, prompt: Sequence[int], n: int) -> Output:
        """Decode once."""
        began = time.perf_counter()
        trace = run.generate(self.pair, prompt, max_new_tokens=n, tops=0, **self.options)
        return Output(
            trace.token_ids,
            time.perf_counter() - began,
            trace.target_passes,
            trace.draft_passes,
            trace,
        )


def ours(
    pair: Any, k: int, drafters: Sequence[str] | None = None, policies: Sequence[str] = ()
) -> list[Arm]:
    """The bare loop, plain decoding, and each drafter with k tokens a round, or as a policy says.

    `drafters` None: the small model, lookup, and heads if the pair has them. ValueError if there
    is no such drafter or policy.
    """
    if drafters is None:
        drafters = ["model", "lookup", *(["heads"] if has_heads(pair) else [])]
    for words in policies:
        adaptive.named(words)
    speculative = [
        Ours("-".join([drafter, *words]), pair, {"k": [k, *words][-1], "drafter": drafter})
        for drafter in drafters
        for words in [(), *((policy,) for policy in policies)]
    ]
    return [Bare(pair), Ours("plain", pair, {"k": 0}), *speculative]
