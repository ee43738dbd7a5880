"""The ways to draft that have a name: what each makes of a pair, and what it weighs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from specdec.drafters import (
    Combined,
    Drafter,
    EarlyExit,
    Heads,
    ModelDrafter,
    PromptLookup,
    RandomDrafter,
    Tree,
)
from specdec.scores import check
from specdec.trace import Settings

WIDTH = 2  # guesses for one place of a tree
EXIT = 5 / 6  # of the target's layers; one not trained for it has little to say before


@dataclass(frozen=True)
class Asked:
    """What a drafter is made of: the pair, the settings, the run's own target scorer."""

    pair: Any
    settings: Settings
    scorer: Any
    capacity: int  # tokens that a cache must have room for


@dataclass(frozen=True)
class Way:
    """One way to draft."""

    make: Callable[[Asked], Drafter]
    words: str  # on the screen; {model}: the name of the pair's small model
    weighs: str = ""  # whose weights and cache it adds: "draft", "heads", or nobody's
    confident: bool = False  # whether its drafts may end by confidence
    passes: bool = True  # whether a draft costs passes at all


def named(name: str, pair: Any) -> Way:
    """The way of this name for this pair."""
    return (BY_HEADS if has_heads(pair) else {}).get(name, WAYS[name])


def has_heads(pair: Any) -> bool:
    """Whether heads were trained for the pair's target."""
    file = getattr(pair, "heads_file", None)
    return file is not None and Path(file).is_file()


def _model(o: Asked) -> Drafter:
    if hasattr(o.pair.draft, "drafter"):  # it has another tokenizer
        check("confidence", x := o.settings.confidence, not x, "0 for a drafter bridged by text")
        return o.pair.draft.drafter()
    small = o.pair.draft.scorer(capacity=o.capacity)
    return ModelDrafter(small, o.pair.target.vocab_size, o.settings.confidence)


def _heads(o: Asked) -> Heads:
    return Heads(o.scorer, o.pair.heads, o.settings.confidence)


def _early_exit(o: Asked) -> EarlyExit:
    layers = getattr(o.pair.target, "layers", ())
    return EarlyExit(o.scorer, max(1, round(EXIT * len(layers))), o.settings.confidence)


def _tree(by: Callable[[Asked], Drafter]) -> Callable[[Asked], Drafter]:
    return lambda o: Tree(by(o), WIDTH)


def _copy_or(other: Callable[[Asked], Drafter]) -> Callable[[Asked], Drafter]:
    """A single word that stood there before is a poor reason to leave the model unasked."""
    return lambda o: Combined(PromptLookup(min_ngram=2), other(o))


WAYS = {
    "model": Way(_model, "{model}", "draft", confident=True),
    "lookup": Way(lambda o: PromptLookup(), "prompt lookup", passes=False),
    "heads": Way(_heads, "heads on the target", "heads", confident=True),
    "tree": Way(_tree(_model), "a tree by {model}", "draft"),
    "early-exit": Way(_early_exit, "the target's first layers", confident=True),
    "combined": Way(_copy_or(_model), "prompt lookup, else {model}", "draft", confident=True),
    "random": Way(lambda o: RandomDrafter(o.pair.target.vocab_size), "random tokens", passes=False),
}
BY_HEADS = {  # the same by heads on the target, where they were trained
    "tree": Way(_tree(_heads), "a tree by heads", "heads"),
    "combined": Way(_copy_or(_heads), "prompt lookup, else heads", "heads", confident=True),
}
DRAFTERS = tuple(WAYS)
