"""Several prompts at once: every run is what it is alone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

from specdec import run, together
from specdec.models.together import score_together
from specdec.trace import Round, Seconds, Trace
from tests.heads import tiny_heads, tiny_target
from tests.pairs_np import closed, random_pair
from tests.tiny import one_thread

pytestmark = pytest.mark.long

PROMPTS = ["kiln", "the glaze ran", "a", "heat held", "k"]
RAGGED = [  # lengths, k, drafters, laws and ends, all at once
    {"k": 4, "max_new_tokens": 9},
    {"k": 1, "max_new_tokens": 14, "temperature": 0.8, "seed": 3},
    {"k": 0, "max_new_tokens": 5},
    {"k": 6, "drafter": "lookup", "max_new_tokens": 12, "temperature": 1.0},
    {"k": 3, "rule": "block", "temperature": 1.0, "max_new_tokens": 7},
]


@pytest.fixture(autouse=True)
def alone() -> Iterator[None]:
    with one_thread():
        yield


def untimed(trace: Trace) -> Trace:
    """A trace without what a clock said."""
    rounds: tuple[Round, ...] = tuple(
        replace(r, seconds=Seconds(0.0, 0.0, 0.0, 0.0)) for r in trace.rounds
    )
    return replace(trace, rounds=rounds)


def test_each_run_is_its_own_whatever_the_others_do() -> None:
    pair = random_pair()
    found = together.generate(pair, PROMPTS, each=RAGGED)
    alone = [run.generate(pair, p, **options) for p, options in zip(PROMPTS, RAGGED)]
    assert [untimed(trace) for trace in found] == [untimed(trace) for trace in alone]
    assert len({len(trace.rounds) for trace in found}) > 2  # they did end at different times
    assert closed(pair)


@pytest.mark.parametrize("rows", [None, 8])
def test_a_pass_over_ragged_rows_is_the_passes_alone(rows: int | None) -> None:
    target = tiny_target(31)
    rng = np.random.default_rng(0)
    texts = [rng.integers(31, size=n).tolist() for n in (9, 1, 17)]
    tree = [-1, 0, 0, 1, -1]
    asked = [([3, 1, 4], None), ([2], None), ([5, 6, 7, 8, 9], tree)]
    one = [target.scorer(rows, 40) for _ in texts]
    many = [target.scorer(rows, 40) for _ in texts]
    for scorers in (one, many):
        for scorer, text in zip(scorers, texts):
            scorer.feed(text)
    expected = [scorer.score(*own) for scorer, own in zip(one, asked)]
    found = score_together(many, *zip(*asked))
    for a, b, x, y in zip(found, expected, many, one):
        np.testing.assert_allclose(a, b, atol=2e-5 * np.abs(b).max())
        np.testing.assert_allclose(x.features, y.features, atol=1e-4)
        assert (x.length, x.features_from) == (y.length, y.features_from)
    for scorers in (one, many):
        scorers[2].keep([0, 2])  # the accepted path of the tree
    again = [[s.score([1]) for s in scorers] for scorers in (one, many)]
    for a, b in zip(*again):
        np.testing.assert_allclose(a, b, atol=2e-5 * np.abs(b).max())


def test_what_does_not_fit_changes_no_cache() -> None:
    scorers = [tiny_target(31, seed=i).scorer() for i in range(2)]
    with pytest.raises(ValueError, match="several models"):
        score_together(scorers, [[1], [2]], [None, None])
    target = tiny_target(31)
    scorers = [target.scorer() for _ in range(2)]
    with pytest.raises(ValueError, match="outside the vocabulary"):
        score_together(scorers, [[1], [31]], [None, None])
    assert [s.length for s in scorers] == [0, 0]


def test_passes_of_one_model_are_made_together() -> None:
    target, calls = tiny_target(31), []
    forward = target.forward
    target.forward = lambda ids, positions, *slots: (
        calls.append(len(slots)) or forward(ids, positions, *slots)
    )
    pair = with_target(target)
    found = together.generate(pair, [[1, 2, 3], [4, 5], [6]], k=0, max_new_tokens=6)
    assert calls == [1, 1] + [3] * 6  # two prefills (the third prompt has none), then six passes
    del target.forward
    for trace, prompt in zip(found, ([1, 2, 3], [4, 5], [6])):
        alone = run.generate(pair, prompt, k=0, max_new_tokens=6)
        assert trace.token_ids == alone.token_ids


@pytest.mark.parametrize("drafter", ["model", "heads", "tree", "early-exit", "combined"])
def test_every_way_to_draft_works_together(drafter: str) -> None:
    pair = with_target(tiny_target(31))
    prompts = [[1, 2, 3, 1, 2], [4, 5], [6, 7, 8, 9]]
    found = together.generate(pair, prompts, k=3, drafter=drafter, max_new_tokens=8)
    for trace, prompt in zip(found, prompts):
        alone = run.generate(pair, prompt, k=3, drafter=drafter, max_new_tokens=8)
        assert (
            trace.token_ids
            == alone.token_ids
            == run.plain(pair, prompt, max_new_tokens=8).token_ids
        )
        assert trace.accepted_histogram == alone.accepted_histogram


def test_one_that_fails_ends_them_all_in_its_own_words() -> None:
    pair = with_target(tiny_target(31))
    with pytest.raises(ValueError, match="outside the vocabulary"):
        together.generate(pair, [[1, 2], [3, 99]], k=2, max_new_tokens=20)
    with pytest.raises(ValueError, match="2 prompts, but options for 1"):
        together.generate(pair, [[1], [2]], each=[{}])
    assert together.generate(pair, []) == []


def with_target(target):
    """A pair of this target, another as its drafter, and heads."""
    pair = random_pair()
    pair.target, pair.draft = target, tiny_target(31, seed=1)
    pair.heads = tiny_heads(target, list(range(31)))
    return pair
