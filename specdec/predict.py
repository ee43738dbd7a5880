"""Predict, then reveal: questions about recorded runs, with the answer that stands in the trace.

The answer of a test is computed once more by the rule, u < min(1, p/q). A question is a function
of (seed, step, hint): a link reproduces it.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal

from specdec import recordings, rule, tree_rounds
from specdec.presets import presets
from specdec.trace import Drafted, Round, Token, Top, Trace

Kind = Literal["judge", "count", "word"]
Hint = Literal["text", "laws"]
KINDS: tuple[Kind, ...] = ("judge", "count", "word")
HINTS: tuple[Hint, ...] = ("text", "laws")
MOST = 4  # choices of a word
KEPT, LOST = "accepted", "rejected"


@dataclass(frozen=True)
class Place:
    """Where a question stands: a recorded run, one of its rounds, a token of its draft."""

    preset: str
    way: str
    round: int  # index
    token: int = 0  # of the draft, in "judge"

    @property
    def trace(self) -> Trace:
        """The run."""
        return recordings.load(self.preset, self.way).speculative

    @property
    def of_round(self) -> Round:
        """The round."""
        return self.trace.rounds[self.round]


@dataclass(frozen=True)
class Choice:
    """A possible answer, its text, and the chance that the rule gave it."""

    text: str
    chance: float


@dataclass(frozen=True)
class Question:
    """What is asked, what is known before, what may be answered, and what is in the trace."""

    kind: Kind
    place: Place
    before: str  # the text so far, the drafted tokens that were kept included
    drafted: tuple[
        Drafted, ...
    ]  # what is known of the draft: one token, all of it, or the lost one
    choices: tuple[Choice, ...]
    right: int  # index of the choice that is in the trace

    @property
    def greedy(self) -> bool:
        """Whether both laws are sure of one token: shown, they would be the answer."""
        return self.place.trace.settings.sampling.greedy

    @property
    def guess(self) -> float:
        """The chance to be right without looking: 1 ÷ choices."""
        return 1 / len(self.choices)


def question(seed: int, step: int, hint: Hint = "text") -> Question:
    """The question at this step, from 0: the kinds in turn, from pools that the seed shuffles.

    With the hint "laws" where these leave something to chance. After a whole pool it begins anew.
    """
    kind = KINDS[step % len(KINDS)]
    rng = random.Random(f"{seed}|{kind}|{hint}")
    places = list(pool(kind, hint))
    rng.shuffle(places)
    place = places[step // len(KINDS) % len(places)]
    return _ASK[kind](place, f"{seed}|{step}")


@cache
def pool(kind: Kind, hint: Hint = "text") -> tuple[Place, ...]:
    """All places where a question of this kind can be asked; p and q known must not settle it."""
    greedy = hint == "text" and kind != "word"  # a greedy law has one token: no choice
    ways = [way for way, (_, s) in recordings.WAYS.items() if greedy or not s.greedy]
    return tuple(
        place
        for preset in presets()
        for way in ways
        for r in recordings.load(preset.name, way).speculative.rounds
        for place in _places(kind, Place(preset.name, way, r.index), r)
        if hint == "text" or max(choice.chance for choice in _ASK[kind](place, "").choices) < 1
    )


def kept(token: Drafted) -> bool:
    """The rule, once more: u < min(1, p/q); where nothing was drawn p is 1 or 0 and decides."""
    chance = rule.acceptance({token.id: token.p}, {token.id: token.q}, token.id)
    return (0.5 if token.u is None else token.u) < chance


def lengths(r: Round) -> list[float]:
    """The chances [n + 1] that the rule keeps 0, 1, … n tokens of this very draft."""
    p = [{token.id: token.p} for token in r.drafted]
    q = [{token.id: token.q} for token in r.drafted]
    chances = [0.0] * (len(p) + 1)
    for chance, accepted, _ in rule.outcomes(
        [*p, {}], q, [token.id for token in r.drafted], r.rule
    ):
        chances[accepted] += chance
    return chances


def law_of_own(r: Round) -> Top | None:
    """The head of the law from which the target's own token of a round was drawn."""
    lost = [token for token in r.drafted if token.verdict == "rejected"]
    return lost[0].residual_top if lost else r.written[-1].p_top


def _places(kind: Kind, place: Place, r: Round) -> list[Place]:
    whole = r.drafted and not tree_rounds.cut(r) and len(r.written) == r.accepted + 1
    if kind == "judge":
        judged = [i for i, token in enumerate(r.drafted) if token.verdict != "discarded"]
        return [Place(place.preset, place.way, r.index, i) for i in judged]
    if kind == "count":
        return [place] if whole else []
    top = law_of_own(r)
    ids = [x for x, _, _ in top.entries] if top else []
    return [place] if whole and len(ids) >= 2 and r.written[-1].id in ids else []


def _judge(place: Place, address: str) -> Question:
    token = place.of_round.drafted[place.token]
    chance = rule.acceptance({token.id: token.p}, {token.id: token.q}, token.id)
    choices = (Choice(KEPT, chance), Choice(LOST, 1 - chance))
    before = _before(place, place.of_round.drafted[: place.token])
    return Question("judge", place, before, (token,), choices, 0 if kept(token) else 1)


def _count(place: Place, address: str) -> Question:
    r = place.of_round
    choices = tuple(Choice(str(a + 1), chance) for a, chance in enumerate(lengths(r)))
    right = next((i for i, token in enumerate(r.drafted) if not kept(token)), len(r.drafted))
    return Question("count", place, _before(place), r.drafted, choices, right)


def _word(place: Place, address: str) -> Question:
    r = place.of_round
    own, lost = r.written[-1], [token for token in r.drafted if token.verdict == "rejected"]
    law = {x: Choice(text, mass) for x, text, mass in law_of_own(r).entries}
    ids = [own.id, *(token.id for token in lost)]
    ids += [x for x in law if x not in ids]
    chosen = [(x, law.get(x) or Choice(lost[0].text, 0.0)) for x in ids[:MOST]]
    random.Random(address).shuffle(chosen)
    right = [x for x, _ in chosen].index(own.id)
    before = _before(place, r.written[: r.accepted])
    return Question("word", place, before, tuple(lost), tuple(c for _, c in chosen), right)


def _before(place: Place, more: Sequence[Token] = ()) -> str:
    """What was written up to the round, and `more` of its draft."""
    written = [t for r in place.trace.rounds[: place.round] for t in r.written]
    return "".join(token.text for token in (*written, *more))


_ASK = {"judge": _judge, "count": _count, "word": _word}
