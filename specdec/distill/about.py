"""The first part of a model card: what the drafter is, and how it was trained."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from specdec.distill.weights import Weights


@dataclass(frozen=True, eq=False)
class Facts:
    """What the card tells of beside the results."""

    file: str
    weights: Weights
    pair: Any
    run: dict[str, Any]  # of the training; empty: it is not known
    log: Sequence[dict[str, Any]]
    k: int
    n: int
    hardware: tuple[str, str, str]

    @property
    def bytes_ratio(self) -> float:
        """Bytes that a drafter's pass reads ÷ bytes that a target's pass reads."""
        heads = self.weights.kind == "heads"
        drafter = self.pair.heads if heads else self.pair.draft
        return drafter.parameters_bytes / self.pair.target.parameters_bytes


def what(facts: Facts) -> list[str]:
    """Kind, sizes, vocabulary."""
    drafter, target = facts.weights, facts.pair.target
    numbers = sum(w.numel() for w in drafter.state.values())
    size = f"{numbers / 1e6:.2f} million numbers, {2 * numbers / 1e6:.1f} MB in bf16"
    name = facts.weights.facts.get("target", target.name)
    if drafter.kind == "heads":
        reads = "its last hidden row"
        if drafter.taps:
            reads += f" and what its layers {', '.join(map(str, drafter.taps))} read"
        title, body = "Heads", f"One layer over the target's features ({reads}): {size}."
    else:
        layers = sum(n.endswith("input_layernorm.weight") for n in drafter.state)
        title, body = "A small model", f"A Llama of {layers} layers: {size}."
    covered = facts.run.get("coverage")
    share = (
        f", which hold {covered:.1%} of the mass of its laws in held-out texts" if covered else ""
    )
    return [
        f"# {title} for {name}",
        "",
        f"`{facts.file}`. {body} The embedding table is the target's. The head writes over "
        f"{len(drafter.ids)} of {target.vocab_size} ids{share}; every other id has q = 0.",
        "It was made from the target's text and weights, and stands under the target's licence.",
    ]


def training(facts: Facts) -> list[str]:
    """Data, what was held out, settings."""
    run, last = facts.run, facts.log[-1] if facts.log else {}
    if not run:
        return ["## Training", "", "Nothing is known of it: its folder has no log."]
    steps = facts.weights.facts.get("step", last.get("step"))
    drawn = max((line.get("drawn", 0) for line in facts.log), default=0)
    settings = ", ".join(f"{name} {value}" for name, value in run["settings"].items())
    begun = run["init"] or "the target's own layers"
    return [
        "## Training",
        "",
        f"* Text: {run['texts']} texts, {run['tokens']} tokens that the target wrote.",
        f"* Held out of it: {run['held_texts']} texts: {run['held_out']}. "
        f"{run['left_out']} more, about topics of the presets, were left out.",
        f"* Steps: {steps}; {drawn} predictions trained on; begun from {begun}.",
        f"* Settings: {settings}.",
    ]
