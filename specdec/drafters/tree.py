"""Drafting a tree: several guesses for one place, so that one of them may be kept."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from specdec import tree
from specdec.constraint import NothingAllowed
from specdec.cuts import largest
from specdec.drafters import Draft
from specdec.law import Sampling, draw
from specdec.scores import check
from specdec.uniforms import DRAFT

FIXED = {"spine": tree.spine, "full": tree.full}
SHAPES = ("confident", *FIXED)


class Tree:
    """k guesses in a tree by the model of another drafter, a `ModelDrafter` or `Heads`.

    k is the budget, in any `shape`. "confident": at each level those `width` places grow whose
    chances from the text down are largest, and of all guesses the k best are kept (Li et al. 2024,
    "EAGLE-2"). "spine" and "full" are fixed, see `specdec.tree`. Guesses are the `width` likeliest
    tokens: chosen, so their q is one-hot. With `sampled` they are drawn without replacement, which
    needs a fixed shape: one that followed what was drawn would bend the law.

    The target's rows see other neighbours than in plain decoding, so in low precision near ties
    may part the two texts also with `rows`. Only a target of the Llama family can verify a tree.
    """

    branches = True

    def __init__(
        self, drafter, width: int = 2, shape: str = "confident", sampled: bool = False
    ) -> None:
        check("width", width, width >= 1 and width % 1 == 0, "a whole number, 1 or more")
        check("shape", shape, shape in SHAPES, f"one of {', '.join(SHAPES)}")
        if not hasattr(drafter, "level"):
            raise ValueError(f"{type(drafter).__name__} drafts one token after another, no tree.")
        if sampled and shape not in FIXED:
            raise ValueError(
                f"Guesses that are drawn need a shape that is fixed before; {shape!r} is not."
            )
        self.drafter, self.width, self.shape, self.sampled = drafter, int(width), shape, sampled
        self.vocab_size, self.token_ids = drafter.vocab_size, drafter.token_ids
        self.context = getattr(drafter, "context", np.inf)
        if hasattr(drafter, "follow"):
            self.follow = drafter.follow

    @property
    def length(self) -> int:
        """Cached tokens of the text; the tree's own are dropped before its draft is handed on."""
        return self.drafter.length

    def prefill(self, tokens: Sequence[int]) -> None:
        """As the drafter does."""
        self.drafter.prefill(tokens)

    def rollback(self, length: int) -> None:
        """As the drafter does."""
        self.drafter.rollback(length)

    def close(self) -> None:
        """Free the drafter's cache."""
        self.drafter.close()

    def propose(
        self, context: Sequence[int], k: int, sampling: Sampling, uniforms: Callable
    ) -> Draft:
        """At most k guesses, siblings in the order in which they are judged."""
        k = int(max(0, min(k, self.context + 1 - len(context))))
        grown = Grown(self.drafter, context)
        if k and self.shape in FIXED:
            self._fill(grown, FIXED[self.shape](self.width, k), sampling, uniforms)
        elif k:
            return self._confident(grown, k, sampling)
        return grown.draft(range(len(grown.tokens)))

    def _confident(self, grown: Grown, k: int, sampling: Sampling) -> Draft:
        """Grow `width` places of every level, then keep the k guesses with the largest chances.

        No guess has a larger chance than its parent, so what is kept is a tree.
        """
        chances, nodes = {-1: 1.0}, [-1]
        for _ in range(1 + (k - 1) // self.width):
            new = []
            for node, logits in grown.after(nodes):
                law = self._law(logits, grown.history(node), heat(sampling))
                for x in likeliest(law, self.width):
                    new.append(grown.add(x, node))
                    chances[new[-1]] = chances[node] * law[x]
            nodes = best(new, chances, self.width)
            if not nodes:
                break
        return grown.draft(best(range(len(grown.tokens)), chances, k))

    def _fill(self, grown: Grown, shape: list[int], sampling: Sampling, uniforms: Callable) -> None:
        """Guess for every place of a shape; where a law has fewer tokens, its last stay empty."""
        places, after, level = tree.places(shape), tree.children(shape), {-1: -1}
        while level:
            new: dict[int, int] = {}  # place in the shape → node
            for (place, node), (_, logits) in zip(level.items(), grown.after([*level.values()])):
                history = grown.history(node)
                law = self._law(logits, history, sampling if self.sampled else heat(sampling))
                numbers = (uniforms(len(history), DRAFT, places[i][1]) for i in after[place])
                for i, (x, q) in zip(after[place], self._guesses(law, numbers, len(after[place]))):
                    new[i] = grown.add(x, node, q)
            level = {place: node for place, node in new.items() if place in after}

    def _guesses(self, law: np.ndarray, numbers: Iterator[float], n: int) -> Iterator[tuple]:
        """(token, the law that it was drawn from, or None: it was chosen), n at most."""
        if not self.sampled:
            yield from ((x, None) for x in likeliest(law, n))
            return
        for u in numbers:
            if not law.any():
                return
            x = draw(law, u)
            yield x, law
            law = without(law, x)

    def _law(self, logits: np.ndarray, history: list[int], sampling: Sampling) -> np.ndarray:
        """The law [V of the target]; nothing but zeros where nothing may follow."""
        law = np.zeros(self.vocab_size)
        try:
            known = slice(None) if self.token_ids is None else self.token_ids
            law[known] = sampling.law(logits, history, self.token_ids)
        except NothingAllowed:
            pass
        return law


class Grown:
    """A tree that grows level by level behind a context."""

    def __init__(self, drafter, context: Sequence[int]) -> None:
        self.drafter, self.context, self.passes = drafter, list(context), 0
        self.tokens, self.parents, self.laws = [], [], []
        self.inner: list[int] = []  # nodes that were grown

    def add(self, token: int, parent: int, law: np.ndarray | None = None) -> int:
        """A new node."""
        self.tokens.append(int(token))
        self.parents.append(parent)
        self.laws.append(law)
        return len(self.tokens) - 1

    def history(self, node: int) -> list[int]:
        """The text down to a node."""
        return self.context + [self.tokens[i] for i in tree.path(self.parents, node)]

    def after(self, nodes: list[int]) -> Iterator[tuple[int, np.ndarray]]:
        """Logits [v] of what follows each of the nodes, by one pass; -1 is the context."""
        if nodes == [-1]:
            rows = [self.drafter.first(self.context)]
            if rows[0] is None:  # heads without features
                return iter(())
        else:
            self.inner += nodes
            at = {-1: -1} | {node: i for i, node in enumerate(self.inner)}
            fed = [self.tokens[i] for i in self.inner], [at[self.parents[i]] for i in self.inner]
            rows = self.drafter.level(*fed, len(nodes))
        self.passes += 1
        return zip(nodes, rows)

    def draft(self, nodes: Sequence[int]) -> Draft:
        """These nodes as a draft; their parents are among them."""
        at = {-1: -1} | {node: i for i, node in enumerate(nodes)}
        laws = [self.laws[i] for i in nodes]
        return Draft(
            [self.tokens[i] for i in nodes],
            np.array(laws) if laws and laws[0] is not None else None,
            [at[self.parents[i]] for i in nodes],
            self.passes,
        )


def heat(sampling: Sampling) -> Sampling:
    """The same at temperature 1 and uncut: what a model holds to be likely, also where greedy."""
    return replace(sampling, temperature=1.0, top_k=0, top_p=1.0, min_p=0.0)


def likeliest(law: np.ndarray, n: int) -> list[int]:
    """The n likeliest ids, the likeliest first, ties by id; none without a chance."""
    ids = largest(law, n)
    return [int(i) for i in ids[np.argsort(-law[ids], kind="stable")] if law[i] > 0]


def best(nodes: Sequence[int], chances: dict[int, float], n: int) -> list[int]:
    """The n nodes with the largest chances, ties by age; ascending."""
    return sorted(sorted(nodes, key=lambda i: -chances[i])[:n])


def without(law: np.ndarray, x: int) -> np.ndarray:
    """The law once x is drawn and may not be drawn again; nothing but zeros if x was all of it."""
    left = law.copy()
    left[x] = 0.0
    total = left.sum()
    return left / total if total > 0 else left
