"""Forgotten settings on a real pair: a text for every place with the same seed, and the biases."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, dataclass
from functools import cache
from typing import Any

import numpy as np

from specdec.lab import forgotten
from specdec.lab.forgotten import PLACES, RAW, Laws, Place
from specdec.lab.overlaps import Position, positions
from specdec.law import Sampling
from specdec.presets import ASSETS, Preset
from specdec.run import encode
from specdec.schema import build, parse
from specdec.trace import Source, Token

FILE = ASSETS / "traces" / "settings.json"
SAMPLING, K, N = Sampling(temperature=0.6, top_p=0.9), 4, 48
HEADS, WIDE = 4, 8  # positions kept to be looked at, and tokens of each


@dataclass(frozen=True)
class Way:
    """What one place makes of the text; biases as total variations, means over its positions."""

    place: str
    tokens: tuple[Token, ...]
    accepted: int
    rejected: int
    judged: float  # where a draft was judged
    most: float  # the largest of these
    bonus: float  # at a bonus token


@dataclass(frozen=True)
class Head:
    """A position: the text before it and the likeliest tokens of both models, without settings.

    p, q: raw chances, cut to these tokens and renormalised.
    """

    before: str
    tokens: tuple[Token, ...]
    p: tuple[float, ...]
    q: tuple[float, ...]

    def laws(self, sampling: Sampling) -> Laws:
        """The four laws of this position, among these tokens."""
        raw = [np.log(np.maximum(law, 1e-300)) for law in (self.p, self.q)]
        return Laws(*(s.law(logits) for s in (sampling, RAW) for logits in raw))


@dataclass(frozen=True)
class Forgotten:
    """All of it, after one prompt."""

    source: Source
    preset: str
    sampling: Sampling
    k: int
    seed: int
    ways: tuple[Way, ...] = ()
    heads: tuple[Head, ...] = ()

    def to_json(self) -> str:
        """As JSON text; `from_json` gives back an equal one."""
        return json.dumps(asdict(self), ensure_ascii=False, separators=(",", ":"))

    @classmethod
    def from_json(cls, text: str | bytes) -> Forgotten:
        """Read and check; ValueError says which field is wrong."""
        return build(cls, parse(text), "settings")


@cache
def recorded() -> Forgotten:
    """What was recorded with `python -m specdec pitfalls settings`."""
    return Forgotten.from_json(FILE.read_bytes())


def measure(
    pair: Any,
    preset: Preset,
    *,
    sampling: Sampling = SAMPLING,
    k: int = K,
    n: int = N,
    seed: int = 0,
    turn: Callable[[], AbstractContextManager] = nullcontext,
) -> Iterator[tuple[float, Forgotten]]:
    """(share done, what was found so far) after every place; stop reading to cancel."""
    source = Source("live", pair.target.name, pair.draft.name, *pair.hardware)
    prompt, ways, heads = encode(pair.tokenizer, preset.prompt, chat=preset.chat), [], ()
    for i, place in enumerate(PLACES, 1):
        with turn():
            run = _write(pair, place, prompt, sampling, k, n, seed)
            if i == 1:
                laws = [_laws(at, sampling) for at in positions(pair, prompt, run.ids)]
                heads = _heads(pair, prompt, run.ids, laws)
        judged, bonus = np.array([forgotten.bias(place, at) for at in laws], dtype=float).T
        tokens = tuple(map(Token, run.ids, pair.texts.of([*prompt, *run.ids], len(prompt))[0]))
        means = map(float, (judged.mean(), judged.max(), bonus.mean()))
        ways.append(Way(place.name, tokens, run.accepted, run.rejected, *means))
        found = Forgotten(source, preset.name, sampling, k, seed, tuple(ways), heads)
        yield i / len(PLACES), found


def _write(pair, place: Place, prompt, sampling, k: int, n: int, seed: int) -> forgotten.Run:
    room = len(prompt) + n + k + 1
    scorers = [model.scorer(capacity=room) for model in (pair.target, pair.draft)]
    try:
        options = {"k": k, "n": n, "sampling": sampling, "seed": seed, "stop_ids": pair.stop_ids}
        return forgotten.write(place, *scorers, prompt, **options)
    finally:
        for scorer in scorers:
            scorer.close()


def _laws(at: Position, sampling: Sampling) -> Laws:
    return Laws(*at.laws(sampling, sampling), *at.laws(RAW, RAW))


def _heads(
    pair: Any, prompt: Sequence[int], ids: Sequence[int], laws: Sequence[Laws]
) -> tuple[Head, ...]:
    """The positions where every wrong place shows best, in the order of the text."""
    wrong = [place for place in PLACES if place.name not in forgotten.RIGHT]
    bent = [min(max(forgotten.bias(place, at)) for place in wrong) for at in laws]
    chosen = sorted(np.argsort(bent, kind="stable")[-HEADS:].tolist())
    return tuple(_head(pair, prompt, ids[:i], laws[i]) for i in chosen)


def _head(pair: Any, prompt: Sequence[int], before: Sequence[int], at: Laws) -> Head:
    likely = np.sort(np.argsort(-(at.raw_p + at.raw_q), kind="stable")[:WIDE]).tolist()
    texts = pair.texts.of([*prompt, *before], len(prompt))[0]
    laws = (at.raw_p[likely], at.raw_q[likely])
    return Head(
        "".join(texts),
        tuple(Token(i, pair.texts.piece(i)) for i in likely),
        *(tuple((law / law.sum()).tolist()) for law in laws),
    )
