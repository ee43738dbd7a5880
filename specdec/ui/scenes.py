"""The four scenes of the kiln: what is shown on the stage of "Watch it run"."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from specdec import toy
from specdec.trace import Trace
from specdec.ui import tables
from specdec.ui.stage import Costs

MOST_WORDS = 24


@dataclass(frozen=True)
class Scene:
    """One of the four: which drafter table it starts from, and what a draft pass costs there."""

    name: str  # in links: drafter=…
    title: str
    drafter: Mapping[str, str] | None  # None: the target alone
    c: float
    ask: str  # predict first
    answer: str
    notice: str


SCENES = (
    Scene(
        "none",
        "One token at a time",
        None,
        0.0,
        "Six words, one pass each. Could the passes run side by side?",
        "No. Each pass needs the word that the pass before it wrote: the chain is the problem.",
        "Writing is a chain: every pass waits for the one before. Checking a text that is already "
        "there is not: one pass gives a prediction after *every* prefix. The next scene lives on "
        "that difference.",
    ),
    Scene(
        "good",
        "Draft four, verify once",
        tables.DRAFTER,
        0.1,
        "The drafter says “the kiln cooled slowly”. How many words does the target's one pass add?",
        "Three: two that agree, and the target's own “held”, which the same pass had already "
        "computed.",
        "Two passes write six words. “slowly” is not wrong in itself: it was said after a wrong "
        "word, so nothing is known about it, and it goes. No round writes less than one word, so "
        "a bad draft costs time and nothing else.",
    ),
    Scene(
        "weak",
        "A drafter that never agrees",
        tables.WEAK,
        0.1,
        "Every first guess is wrong. What does a round still write?",
        "One word: the target's own. As many target passes as without a drafter, and the draft "
        "passes on top.",
        "The speed-up stands and falls with the share of guesses that are kept. Here it is 0: the "
        "text is right, and slower than plain decoding.",
    ),
    Scene(
        "perfect",
        "Always right, and slow",
        tables.PERFECT,
        0.9,
        "Every guess is kept: five words for one target pass. Is that five times as fast?",
        "No. Each guess cost 0.9 of a target pass, four of them 3.6: a round takes 4.6 passes for "
        "five words.",
        "A drafter good enough to be right all the time is nearly as big as the target, and both "
        "stay in memory. What pays is a drafter that is cheap *and* usually right.",
    ),
)


@dataclass(frozen=True)
class Show:
    """What a scene puts on the stage."""

    trace: Trace
    plain: Trace
    costs: Costs


def show(scene: Scene, target: toy.ToyModel, drafter: toy.ToyModel | None, k: int) -> Show:
    """Run a scene for real on these two toy models."""
    n = length(target)
    plain = toy.speculative_greedy(target, target, n, k=0)
    trace = toy.speculative_greedy(target, drafter, n, k=k) if drafter else plain
    return Show(trace, plain, Costs(draft_pass=scene.c))


def opening(scene: Scene, k: int) -> Show:
    """The scene with its own tables."""
    return show(scene, toy.table(tables.TARGET), scene.drafter and toy.table(scene.drafter), k)


def length(target: toy.ToyModel) -> int:
    """Words the target writes until it is silent, at most MOST_WORDS; at least one."""
    words: list[str] = []
    while len(words) < MOST_WORDS and (word := target(words)) != toy.END:
        words.append(word)
    return max(1, len(words))
