"""Ways to draft. A drafter proposes tokens; the rule makes every one of them lossless."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from specdec.law import Sampling


@dataclass(frozen=True)
class Draft:
    """Proposed tokens with the laws they were drawn from."""

    tokens: Sequence[int]
    laws: np.ndarray | None = None  # [n, V of the target]; None: the drafter was sure (one-hot)
    parents: Sequence[int] | None = None  # a tree's parents; None: a chain
    passes: int = 0  # forward passes of a model that it took


class Drafter(Protocol):
    """Optional beside `propose`: `prefill(tokens)`, `length` with `rollback(length)` (a cache
    that the loop cuts back to the true sequence after every round), `close()`, and `branches`
    (true: its drafts may have parents; they are judged as trees, by "pq" alone)."""

    def propose(
        self, context: Sequence[int], k: int, sampling: Sampling, uniforms: Callable
    ) -> Draft:
        """At most k tokens to follow `context`; randomness is uniforms(position, purpose), and
        uniforms(position, purpose, child) where several tokens stand at one position."""
        ...


from specdec.drafters.combined import Combined  # noqa: E402  (they need Draft)
from specdec.drafters.early_exit import EarlyExit  # noqa: E402
from specdec.drafters.fixed import FixedDrafter  # noqa: E402
from specdec.drafters.heads import Heads  # noqa: E402
from specdec.drafters.lookup import PromptLookup  # noqa: E402
from specdec.drafters.model import ModelDrafter  # noqa: E402
from specdec.drafters.oracle import Oracle, RandomDrafter  # noqa: E402
from specdec.drafters.tree import Tree  # noqa: E402

__all__ = [
    "Combined",
    "Draft",
    "Drafter",
    "EarlyExit",
    "FixedDrafter",
    "Heads",
    "ModelDrafter",
    "Oracle",
    "PromptLookup",
    "RandomDrafter",
    "Tree",
]
