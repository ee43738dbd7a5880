"""A drafter with another tokenizer, as a pair holds it: text crosses between the two models."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from specdec.drafters.bridged import Bridged


class Bridge:
    """A model that drafts for a target with other tokens; all but its caches is the model's."""

    token_ids = None

    def __init__(self, model: Any, own: Any, ours: Any, stop_ids: Sequence[int]) -> None:
        self.model, self.own, self.ours, self.stop_ids = model, own, ours, tuple(stop_ids)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.model, name)

    def drafter(self) -> Bridged:
        """A drafter with a cache of its own, which grows: nobody knows its tokens beforehand."""
        return Bridged(self.model.scorer(), self.own, self.ours, self.stop_ids)

    def scorer(self, rows: int | None = None, capacity: int | None = None) -> Any:
        """ValueError: its logits are of tokens that the target does not have."""
        raise ValueError(
            f"{self.model.name} has another tokenizer than the target: only its text can be used, "
            "by the drafters 'model' and 'combined'."
        )
