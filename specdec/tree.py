"""Token trees: several guesses for one place, each with guesses of its own after it.

A tree is an array of parents: node i follows node parents[i] < i, or the text where that is -1.
A chain is the tree -1, 0, 1, … (Miao et al. 2024, "SpecInfer", verify such a tree in one pass).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np


def chain(n: int) -> list[int]:
    """The parents of n tokens, each of which follows the one before."""
    return list(range(-1, n - 1))


def spine(width: int, n: int) -> list[int]:
    """A shape of n nodes: `width` after the text, as many after the first of these, and so on.

    Example:
        >>> spine(2, 6)
        [-1, -1, 0, 0, 2, 2]
    """
    return [(i // width - 1) * width if i >= width else -1 for i in range(n)]


def full(width: int, n: int) -> list[int]:
    """A shape of n nodes: `width` after the text, and after every node, level by level.

    Example:
        >>> full(2, 6)
        [-1, -1, 0, 0, 1, 1]
    """
    return [i // width - 1 for i in range(n)]


def depths(parents: Sequence[int]) -> list[int]:
    """How deep every node stands [n]: 1 after the text, 2 after such a node, and so on."""
    found: list[int] = []
    for parent in parents:
        found.append(1 if parent < 0 else found[parent] + 1)
    return found


def positions(parents: Sequence[int], start: int) -> list[int]:
    """The position of every node [n] behind a text of `start` tokens: it depends on depth alone.

    Example:
        >>> positions([-1, -1, 0], 5)
        [5, 5, 6]
    """
    return [start + depth - 1 for depth in depths(parents)]


def places(parents: Sequence[int]) -> list[tuple[int, int]]:
    """(depth, which of the nodes of that depth, from 0) of every node [n].

    Example:
        >>> places([-1, -1, 0, 1])
        [(1, 0), (1, 1), (2, 0), (2, 1)]
    """
    seen: dict[int, int] = {}
    found = []
    for depth in depths(parents):
        found.append((depth, seen.get(depth, 0)))
        seen[depth] = seen.get(depth, 0) + 1
    return found


def mask(parents: Sequence[int]) -> np.ndarray:
    """Who sees whom, bool [n, n]: a node sees itself and its ancestors, never a sibling."""
    sees = np.eye(len(parents), dtype=bool)
    for i, parent in enumerate(parents):
        if parent >= 0:
            sees[i] |= sees[parent]
    return sees


def path(parents: Sequence[int], node: int) -> list[int]:
    """The nodes from the text down to this one; none for -1.

    Example:
        >>> path([-1, 0, 0, 2], 3)
        [0, 2, 3]
    """
    found: list[int] = []
    while node >= 0:
        found.append(node)
        node = parents[node]
    return found[::-1]


def below(parents: Sequence[int], node: int) -> list[int]:
    """All nodes that follow this one, at any distance, ascending."""
    found: set[int] = set()
    for i, parent in enumerate(parents):
        if parent == node or parent in found:
            found.add(i)
    return sorted(found)


def children(parents: Iterable[int]) -> Mapping[int, list[int]]:
    """Parent → the nodes that follow it, in order; one that nobody follows is no key."""
    found: dict[int, list[int]] = {}
    for i, parent in enumerate(parents):
        found.setdefault(parent, []).append(i)
    return found


def check(parents: Sequence[int], n: int) -> None:
    """ValueError unless these are the parents of n nodes, each of which comes before its own."""
    if len(parents) != n or any(not -1 <= parent < i for i, parent in enumerate(parents)):
        raise ValueError(
            f"The parents {list(parents)} are not those of {n} tokens: each must be -1 (the text) "
            "or an earlier token."
        )


def rows(parents: Sequence[int]) -> list[float]:
    """A row for every node [n] of a drawn tree: leaves from 0 down, others amid their children.

    Example:
        >>> rows([-1, -1, 0, 0])
        [0.5, 2.0, 0.0, 1.0]
    """
    after, found, leaves = children(parents), [0.0] * len(parents), 0
    waiting = after.get(-1, [])[::-1]
    seen: set[int] = set()
    while waiting:
        node = waiting[-1]
        below_it = after.get(node, [])
        if below_it and node not in seen:
            seen.add(node)
            waiting += below_it[::-1]
            continue
        waiting.pop()
        if below_it:
            found[node] = (found[below_it[0]] + found[below_it[-1]]) / 2
        else:
            found[node], leaves = float(leaves), leaves + 1
    return found
