"""Where a training stands: weights, averages, optimizer and place in the data, in one file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import torch
from torch import Tensor, nn

from specdec.distill.batches import Place
from specdec.distill.files import whole

STABLE, DECAYING = "state.pt", "decay.pt"


@dataclass
class State:
    """All that goes on from step to step.

    A checkpoint of the decay lies beside the last one before it: when the decay has ended, a longer
    training goes on from there, as if there had been none.
    """

    net: nn.Module
    optimizer: torch.optim.Optimizer
    average: dict[str, Tensor] = field(default_factory=dict)
    step: int = 0
    place: Place = field(default_factory=Place)
    text: int = 0  # different written tokens seen
    drawn: int = 0  # predictions trained on
    decay: float = 1.0  # of the rate; it never rises again

    def __post_init__(self) -> None:
        self.average = {n: w.detach().clone() for n, w in self.net.named_parameters()}

    def follow(self, most: float) -> None:
        """Let the averages follow the weights; sooner in the first steps."""
        keep = min(most, self.step / (self.step + 9))
        with torch.no_grad():
            for name, weight in self.net.named_parameters():
                self.average[name].lerp_(weight, 1 - keep)

    def swap(self) -> None:
        """Exchange weights and averages: to measure, and back again."""
        for name, weight in self.net.named_parameters():
            weight.data, self.average[name] = self.average[name], weight.data

    def save(self, folder: Path) -> None:
        """Write the checkpoint, whole."""
        numbers = {"place": [self.place.epoch, self.place.at], "decay": self.decay}
        numbers |= {name: getattr(self, name) for name in ("step", "text", "drawn")}
        parts = {"net": self.net.state_dict(), "optimizer": self.optimizer.state_dict()}
        with whole(folder / (STABLE if self.decay == 1.0 else DECAYING)) as making:
            torch.save(parts | {"average": self.average, "numbers": numbers}, making)

    def load(self, folder: Path) -> bool:
        """Take up the checkpoint of the folder; False if there is none."""
        files = [folder / name for name in (DECAYING, STABLE) if (folder / name).is_file()]
        if not files:
            return False
        parts = torch.load(files[0], map_location="cpu", weights_only=True)
        self.net.load_state_dict(parts["net"])
        self.optimizer.load_state_dict(parts["optimizer"])
        for name, weight in parts["average"].items():
            self.average[name].copy_(weight)
        numbers = dict(parts["numbers"])
        self.place = Place(*numbers.pop("place"))
        for name, value in numbers.items():
            setattr(self, name, value)
        return True


def has_state(folder: Path) -> bool:
    """Whether a training was begun in this folder."""
    return any((folder / name).is_file() for name in (STABLE, DECAYING))


def adam(net: nn.Module, rate: float) -> torch.optim.AdamW:
    """AdamW with weight decay on the matrices alone."""
    groups: Sequence[list[nn.Parameter]] = ([], [])
    for weight in net.parameters():
        groups[weight.dim() < 2].append(weight)
    decays = (
        {"params": groups[0], "weight_decay": 0.01},
        {"params": groups[1], "weight_decay": 0.0},
    )
    return torch.optim.AdamW(
        [g for g in decays if g["params"]], lr=rate, betas=(0.9, 0.98), eps=1e-10
    )
