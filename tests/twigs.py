"""Runs whose drafts are always the same tree: every kind of round happens in them."""

from __future__ import annotations

from functools import cache

from specdec.drafters import Draft
from specdec.law import Sampling
from specdec.trace import Round, Trace
from tests.pairs_np import GREEDY, SOFT, random_model, run_rounds, trace_of


class Twigs:
    """Always the same tree, whatever the text: chosen (q one-hot), or with these laws."""

    branches = True

    def __init__(self, tokens, parents, laws=None) -> None:
        self.tokens, self.parents, self.laws = tokens, parents, laws

    def propose(self, context, k, sampling, uniforms) -> Draft:
        n = min(k, len(self.tokens))
        return Draft(self.tokens[:n], self.laws, self.parents[:n])


# 2 and 1 after the text; 0 and 2 after the first of them, 3 after the second; 4 after that.
TOKENS, PARENTS = [2, 1, 0, 2, 3, 4], [-1, -1, 0, 0, 1, 4]
TARGET = random_model(5, seed=3, sharpness=1.0)


def sown(seed: int = 0, n: int = 30, sampling: Sampling = SOFT, **options) -> list[Round]:
    drafter = Twigs(TOKENS, PARENTS)
    options = {"tops": 5} | options
    return run_rounds(TARGET, drafter, [0, 1], k=6, n=n, sampling=sampling, rng=seed, **options)


@cache
def grown() -> list[Trace]:
    """Runs in which every kind of round happens, ends inside a tree included."""
    return [
        *(trace_of(sown(seed), [0, 1]) for seed in range(6)),
        *(trace_of(sown(seed, n), [0, 1]) for seed in range(6) for n in (1, 2, 3)),
        *(trace_of(sown(seed, stop_ids=(3,)), [0, 1]) for seed in range(6)),
        trace_of(sown(sampling=GREEDY), [0, 1]),
    ]


def verdicts(r: Round) -> str:
    return "".join(token.verdict[0] for token in r.drafted)
