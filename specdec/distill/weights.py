"""The files of drafters: bf16 safetensors with their draft vocabulary, as the engine reads them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors import safe_open
from safetensors.torch import save_file
from torch import Tensor

from specdec.distill.files import whole
from specdec.distill.nets import HeadsNet, SmallNet

KINDS = ("heads", "small")


@dataclass(frozen=True, eq=False)
class Weights:
    """A drafter's weights, the ids of its head's rows, the layers that it reads, and facts."""

    state: dict[str, Tensor]
    ids: Tensor  # [v]
    taps: tuple[int, ...]
    facts: dict[str, str]

    @property
    def kind(self) -> str:
        """ "heads" or "small"."""
        return "heads" if "fc.weight" in self.state else "small"

    def net(self, config: Any, embedding: Tensor) -> HeadsNet | SmallNet:
        """What trains them, in fp32."""
        if self.kind == "heads":
            return HeadsNet(config, self.state, embedding, self.taps)
        return SmallNet(config, self.state, embedding)


def save(
    file: Path,
    state: Mapping[str, Tensor],
    ids: Tensor,
    taps: Sequence[int] = (),
    facts: Mapping[str, Any] | None = None,
) -> None:
    """Write them in bf16; `facts` go into the header."""
    parts = {n: w.detach().to("cpu", torch.bfloat16).contiguous() for n, w in state.items()}
    parts["draft_ids"] = ids.cpu().to(torch.int32)
    if taps:
        parts["taps"] = torch.tensor(list(taps), dtype=torch.int32)
    words = {name: str(value) for name, value in (facts or {}).items()}
    with whole(file) as making:
        save_file(parts, making, metadata={"format": "pt", **words})


def load(file: Path) -> Weights:
    """Read them. ValueError if the file is missing or no drafter's."""
    if not file.is_file():
        raise ValueError(f"There is no file {file} with a drafter's weights.")
    try:
        with safe_open(file, "pt") as opened:
            state = {name: opened.get_tensor(name) for name in opened.keys()}  # noqa: SIM118
            facts = dict(opened.metadata() or {})
        ids, taps = state.pop("draft_ids"), state.pop("taps", torch.zeros(0))
    except Exception as error:
        raise ValueError(f"{file} is no drafter's file, or is damaged: {error}") from error
    return Weights(state, ids.long(), tuple(int(i) for i in taps), facts)
