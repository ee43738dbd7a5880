"""Sampling settings that one place of the loop forgot: what is written then, exactly, and a text.

Four laws meet at a position: p and q with the settings, and the raw ones (temperature 1, no cut).
Each step takes one of two; the engine takes the same everywhere, which is "nowhere" here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from specdec import rule
from specdec.arithmetic import cut_ratio
from specdec.lab.laws import variation
from specdec.law import Sampling, draw
from specdec.models import feed
from specdec.uniforms import DRAFT, REPLACE, TEST, Uniforms

RAW = Sampling(temperature=1.0)


@dataclass(frozen=True)
class Laws:
    """The four laws [V] of one position; a step that needs two of them may be given two."""

    p: np.ndarray | None = None
    q: np.ndarray | None = None
    raw_p: np.ndarray | None = None
    raw_q: np.ndarray | None = None


Pick = Callable[[Laws], np.ndarray]


def _p(laws: Laws) -> np.ndarray:
    return laws.p


def _q(laws: Laws) -> np.ndarray:
    return laws.q


def _raw_p(laws: Laws) -> np.ndarray:
    return laws.raw_p


def _raw_q(laws: Laws) -> np.ndarray:
    return laws.raw_q


@dataclass(frozen=True)
class Place:
    """Where the settings are forgotten; the other fields say which law each step takes."""

    name: str
    title: str
    draws: Pick = _q  # what a draft is drawn from
    over: Pick = _p  # the ratio: over ÷ under
    under: Pick = _q
    wants: Pick = _p  # the residual: max(0, wants − has)
    has: Pick = _q
    bonus: Pick = _p  # after a full acceptance


PLACES = (
    Place("nowhere", "Nowhere: the engine"),
    Place("draw", "The drafter's draw", draws=_raw_q),
    Place("under", "q in the ratio", under=_raw_q),
    Place("over", "p in the ratio", over=_raw_p),
    Place("residual", "The residual", wants=_raw_p, has=_raw_q),
    Place("bonus", "The bonus token", bonus=_raw_p),
    Place("drafter", "The whole drafter", draws=_raw_q, under=_raw_q, has=_raw_q),
    Place("target", "The whole target", over=_raw_p, wants=_raw_p, bonus=_raw_p),
)
RIGHT = ("nowhere", "drafter")  # the places that bend no law


def by_name(name: str) -> Place:
    """The place of this name; ValueError if there is none."""
    for place in PLACES:
        if place.name == name:
            return place
    raise ValueError(f"There is no place {name!r}; there are {', '.join(p.name for p in PLACES)}.")


def judged_law(place: Place, laws: Laws) -> np.ndarray:
    """The law [V] of a token written where a draft was judged, by adding up all drafts."""
    kept = _kept(place, laws)
    lost = place.draws(laws).sum() - kept.sum()
    return kept + lost * rule.residual(place.wants(laws), place.has(laws))


def alpha(place: Place, laws: Laws) -> Any:
    """The chance that the draft is kept."""
    return _kept(place, laws).sum()


def bias(place: Place, laws: Laws) -> tuple[Any, Any]:
    """Total variation against p where a draft was judged, and at a bonus token."""
    return variation(judged_law(place, laws), laws.p), variation(place.bonus(laws), laws.p)


def _kept(place: Place, laws: Laws) -> np.ndarray:
    drafts, kept = place.draws(laws), place.draws(laws) * 0
    for x in np.flatnonzero(drafts):
        kept[x] = drafts[x] * _chance(place, laws, x)
    return kept


def _chance(place: Place, laws: Laws, x: int) -> Any:
    return cut_ratio(place.over(laws)[x], place.under(laws)[x])


@dataclass(frozen=True)
class Run:
    """What was written, and what became of the drafts that were judged."""

    ids: tuple[int, ...]
    accepted: int
    rejected: int


def write(
    place: Place,
    target: Any,
    small: Any,
    prompt: Sequence[int],
    *,
    k: int,
    n: int,
    sampling: Sampling,
    seed: int = 0,
    stop_ids: Sequence[int] = (),
) -> Run:
    """n tokens by speculation on two scorers, with the settings forgotten at `place`.

    The uniforms are those of the engine: with "nowhere" the tokens are its own, one by one.
    """
    ids, accepted, rejected = list(prompt), 0, 0
    uniforms, end = Uniforms(seed), len(ids) + n
    for scorer in (target, small):
        feed(scorer, ids[:-1])
    while len(ids) < end and (len(ids) == len(prompt) or ids[-1] not in stop_ids):
        new, kept, lost = _round(place, target, small, ids, k, sampling, uniforms)
        cut = next((i + 1 for i, x in enumerate(new) if x in stop_ids), len(new))
        cut = min(cut, end - len(ids))
        accepted, rejected = accepted + min(kept, cut), rejected + (lost if cut > kept else 0)
        ids += new[:cut]
        for scorer in (target, small):
            scorer.rollback(min(scorer.length, len(ids) - 1))
    return Run(tuple(ids[len(prompt) :]), accepted, rejected)


def _round(
    place: Place, target: Any, small: Any, ids: list[int], k: int, sampling: Sampling, uniforms
) -> tuple[list[int], int, int]:
    """The new tokens, how many of them are accepted drafts, and 1 if a draft was rejected."""
    start, columns = len(ids), getattr(small, "token_ids", None)
    drafted, q_laws = [], []
    for i in range(k):
        logits = small.score((ids + drafted)[small.length :])[-1]
        q_laws.append([_whole(s.law(logits), columns, target.vocab_size) for s in (sampling, RAW)])
        law = place.draws(Laws(q=q_laws[-1][0], raw_q=q_laws[-1][1]))
        drafted.append(draw(law, uniforms(start + i, DRAFT)))
    rows = target.score(ids[target.length :] + drafted)[-1 - k :]
    for i, (x, (q, raw_q)) in enumerate(zip(drafted, q_laws)):
        laws = Laws(sampling.law(rows[i]), q, RAW.law(rows[i]), raw_q)
        if uniforms(start + i, TEST) >= _chance(place, laws, x):
            law = rule.residual(place.wants(laws), place.has(laws))
            return [*drafted[:i], draw(law, uniforms(start + i, REPLACE))], i, 1
    laws = Laws(sampling.law(rows[k]), raw_p=RAW.law(rows[k]))
    return [*drafted, draw(place.bonus(laws), uniforms(start + k, REPLACE))], k, 0


def _whole(law: np.ndarray, columns: np.ndarray | None, vocab_size: int) -> np.ndarray:
    """A law over all of the target's tokens."""
    if columns is None:
        return law
    whole = np.zeros(vocab_size)
    whole[columns] = law
    return whole
