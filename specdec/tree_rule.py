"""The acceptance rule of a tree: the guesses for one place are judged in turn by what is left of p.

The first guess x is kept with min(1, p(x) / q(x)). If it is not, p becomes the residual, and the
next guess is judged by that; when no guess is left the target's own token is drawn from it (Yang et
al. 2024, "Multi-Candidate Speculative Decoding", arXiv 2401.06706). Every guess has the q that *it*
was drawn from: one drawn after x, and not to be x, has q without x, renormalised. A guess that was
chosen (the w likeliest, any shape that looks at confidence) was drawn from nothing: its q is
one-hot, so it is kept with p(x), else x is taken out of p. Chosen guesses judged by a soft q, the
mix of the two, write another law than p.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Any

from specdec import tree
from specdec.arithmetic import Law, one_hot
from specdec.rule import acceptance, residual


def outcomes(
    p_rows: Sequence[Law],
    q_rows: Sequence[Law] | None,
    draft: Sequence[Any],
    parents: Sequence[int | None],
    uniforms: Sequence[float] | None = None,
) -> list[tuple[Any, list[int], Law]]:
    """All outcomes of a round: [(probability, accepted path, law of the next token)].

    p_rows has len(draft) + 1 laws: after the text, and after every node. q_rows has len(draft), or
    is None: every guess was chosen. A node with parent None is never judged.
    With `uniforms` (one per node) every test is settled and the one outcome they pick is left.

    Example:
        >>> p = {"a": 0.5, "b": 0.25, "c": 0.25}
        >>> for found in outcomes([p, p, p], None, ["c", "b"], [-1, -1]): print(found)
        (0.25, [0], {'a': 0.5, 'b': 0.25, 'c': 0.25})
        (0.25, [1], {'a': 0.5, 'b': 0.25, 'c': 0.25})
        (0.5, [], {'a': 1.0, 'b': 0.0, 'c': 0.0})
    """
    after = tree.children(parents)

    def walk(node: int, path: list[int], reached: Any) -> Iterator[tuple[Any, list[int], Law]]:
        p = p_rows[node + 1]
        for i in after.get(node, ()):
            q = _q(p, q_rows, draft, i)
            h = acceptance(p, q, draft[i])
            if uniforms is not None:
                h = int(uniforms[i] < h)
            if h:
                yield from walk(i, [*path, i], reached * h)
            reached = reached * (1 - h)
            if not reached:
                return
            p = residual(p, q)
        yield reached, path, p

    return list(walk(-1, [], 1))


def weigh(
    p_rows: Sequence[Law],
    q_rows: Sequence[Law] | None,
    draft: Sequence[Any],
    parents: Sequence[int],
) -> tuple[list[Law], list[Any], Callable[[int], Law]]:
    """Of every node: the law it is judged by [n], the chance to be kept [n], and node → residual.

    The law is the target's, less what the siblings before it have taken.
    """
    laws: list[Law] = [p_rows[parent + 1] for parent in parents]
    for siblings in tree.children(parents).values():
        for elder, i in pairwise(siblings):
            laws[i] = residual(laws[elder], _q(laws[elder], q_rows, draft, elder))
    chances = [acceptance(p, _q(p, q_rows, draft, i), draft[i]) for i, p in enumerate(laws)]
    return laws, chances, lambda i: residual(laws[i], _q(laws[i], q_rows, draft, i))


def failed(parents: Sequence[int | None], path: Sequence[int]) -> list[int]:
    """The nodes that were judged and not kept: the path's elder siblings, and all at its end."""
    after, found = tree.children(parents), []
    for node, kept in zip([-1, *path], [*path, None]):
        for i in after.get(node, ()):
            if i == kept:
                break
            found.append(i)
    return found


def _q(p: Law, q_rows: Sequence[Law] | None, draft: Sequence[Any], i: int) -> Law:
    return one_hot(p, draft[i]) if q_rows is None else q_rows[i]
