"""How to train, and on what."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from specdec.scores import check

if TYPE_CHECKING:
    from specdec.distill.batches import Batch
    from specdec.distill.texts import Text


@dataclass(frozen=True)
class Settings:
    """How to train; the same settings continue a run."""

    rate: float = 8e-4
    batch: int = 12  # texts a step
    starts: int = 64  # places in each text that heads predict from
    depths: int = 4  # that heads are trained for on their own predictions
    weights: tuple[float, ...] = ()  # of the depths' losses; (): 0.9 to the power of depth - 1
    hard: float = 0.5  # share of the loss that is about the likeliest token alone
    sampled: int = 1024  # columns that stand for all that a batch does not need; 0: all
    average: float = 0.99  # of the weights that are written
    seed: int = 0

    def __post_init__(self) -> None:
        if not self.weights:
            object.__setattr__(self, "weights", tuple(0.9**d for d in range(self.depths)))
        for name in ("batch", "starts", "depths"):
            check(name, value := getattr(self, name), value >= 1, "1 or more")
        for name in ("hard", "average"):
            check(name, value := getattr(self, name), 0 <= value <= 1, "in [0, 1]")
        check("rate", self.rate, 0 < self.rate < 1, "in (0, 1)")
        check("sampled", self.sampled, self.sampled >= 0, "0 (all) or more")
        if len(self.weights) != self.depths:
            raise ValueError(
                f"There are {len(self.weights)} weights for {self.depths} depths; each has one."
            )


@dataclass(frozen=True)
class Data:
    """Texts to train on, texts to measure on, and how a batch is made of some."""

    train: Sequence[Text]
    held: Sequence[Text]
    make: Callable[[Sequence[Text]], Batch]
    bf16: bool = False  # multiply in bf16, where the machine does that fast
