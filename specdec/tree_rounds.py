"""Rounds as trees: their accepted path, what the end of the text cut, and a chain to show."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from specdec import tree

if TYPE_CHECKING:
    from specdec.trace import Round


def parents(r: Round) -> list[int]:
    """The parents [n] of the drafted tokens."""
    return [token.parent for token in r.drafted]


def branches(r: Round) -> bool:
    """Whether two drafted tokens follow the same one: it is no chain."""
    return parents(r) != tree.chain(len(r.drafted))


def path(r: Round) -> list[int]:
    """The accepted tokens in order, as indices."""
    return [i for i, token in enumerate(r.drafted) if token.verdict == "accepted"]


def cut(r: Round) -> list[int]:
    """The drafted tokens behind the end of the text, if it ended inside the draft."""
    kept = path(r)
    if len(r.written) > len(kept) or not kept:
        return []
    return tree.below(parents(r), kept[-1])


def depth(r: Round) -> int:
    """How far the draft reached ahead, what was cut not counted: of a chain its length."""
    gone = set(cut(r))
    return max((d for i, d in enumerate(tree.depths(parents(r))) if i not in gone), default=0)


def as_chain(r: Round) -> Round:
    """The same round for a screen that draws no tree: the accepted tokens, then the one that the
    target's own replaced. Of several siblings that failed it is the last: what was left of p after
    it is what the target drew from. A chain stays as it is."""
    if not branches(r):
        return r
    kept = path(r)
    last = kept[-1] if kept else -1
    failed = [i for i, t in enumerate(r.drafted) if t.verdict == "rejected" and t.parent == last]
    shown = [r.drafted[i] for i in [*kept, *failed[-1:]]]
    return replace(r, drafted=tuple(replace(t, parent=i - 1) for i, t in enumerate(shown)))
