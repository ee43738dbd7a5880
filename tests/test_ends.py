"""A text ends exactly at its limit, context, end token or stop, also inside a block."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest

from tests.pairs_np import (
    DRAFTERS,
    SOFT,
    distinct_target,
    ids_of,
    make_drafter,
    plain_ids,
    random_model,
    run_rounds,
    trace_of,
)

pytestmark = pytest.mark.long

EVERY = pytest.mark.parametrize("drafter", DRAFTERS)


@pytest.mark.parametrize("drafter", ["itself", "good", "lookup"])
@pytest.mark.parametrize("k", range(1, 9))
def test_exactly_max_new_tokens(drafter: str, k: int) -> None:
    target = random_model(9, seed=2)
    want = plain_ids(target, [1, 2], 10)
    for n in range(1, 11):
        rounds = run_rounds(target, make_drafter(drafter, target), [1, 2], k=k, n=n)
        assert ids_of(rounds) == want[:n]
        assert rounds[-1].stop_reason == "length"
        soft = run_rounds(target, make_drafter(drafter, target), [1, 2], k=k, n=n, sampling=SOFT)
        assert len(ids_of(soft)) == n


@EVERY
@pytest.mark.parametrize("at", range(20))
def test_the_end_token_is_accepted_inside_a_block(drafter: str, at: int) -> None:
    """Whatever stood behind it in the block is not emitted."""
    target, script = distinct_target()
    assert plain_ids(target, [0, 1], 20) == script
    small = make_drafter(drafter, target)
    rounds = run_rounds(target, small, [0, 1], k=6, n=20, stop_ids=[script[at]])
    assert ids_of(rounds) == script[: at + 1]
    assert rounds[-1].stop_reason == "eos"


@pytest.mark.parametrize("at", range(7))
def test_what_the_end_cut_away_counts_nowhere(at: int) -> None:
    target, script = distinct_target()
    [only] = run_rounds(target, target, [0, 1], k=6, n=20, stop_ids=[script[at]])
    trace = trace_of([only])
    kept = at + 1
    assert trace.tokens_per_pass == kept
    assert trace.accepted_histogram == (0,) * min(kept, 6) + (1,)
    assert (trace.alpha, trace.draft_yield) == (1, 1)
    assert [t.verdict for t in only.drafted] == ["accepted"] * min(kept, 6) + ["discarded"] * (
        6 - kept
    )
    assert only.lengths.target == (1, 2 + kept - 1)


@EVERY
def test_a_sampled_run_ends_at_the_first_end_token(drafter: str) -> None:
    """It is the run without an end token, cut."""
    target = random_model(12, seed=3, sharpness=1)
    for seed in range(10):
        options = {"k": 4, "n": 20, "sampling": SOFT, "rng": seed}
        whole = ids_of(run_rounds(target, make_drafter(drafter, target), [1], **options))
        end = whole[seed % 9]
        cut = run_rounds(target, make_drafter(drafter, target), [1], stop_ids=[end], **options)
        assert ids_of(cut) == whole[: whole.index(end) + 1]
        assert cut[-1].stop_reason == "eos"


@pytest.mark.parametrize("none", [(), [], None], ids=repr)
@EVERY
def test_no_end_token_runs_to_the_cap(drafter: str, none: object) -> None:
    target = random_model(9, seed=2)
    rounds = run_rounds(target, make_drafter(drafter, target), [1], k=3, n=17, stop_ids=none)
    assert len(ids_of(rounds)) == 17
    assert rounds[-1].stop_reason == "length"


@pytest.mark.parametrize("kind", [list, tuple, set, np.array], ids=lambda kind: kind.__name__)
def test_end_tokens_may_come_in_any_collection(kind: Callable) -> None:
    target, script = distinct_target()
    rounds = run_rounds(target, target, [0, 1], k=3, n=20, stop_ids=kind([script[4], script[2]]))
    assert ids_of(rounds) == script[:3]


@EVERY
@pytest.mark.parametrize("room", range(1, 11))
def test_the_context_ends_inside_a_block(drafter: str, room: int) -> None:
    """The scorer refuses a token too many, so nothing is ever fed beyond."""
    free = random_model(9, seed=2)
    for k in (1, 5):
        target = random_model(9, seed=2, context=3 + room)
        rounds = run_rounds(target, make_drafter(drafter, target), [1, 2, 3], k=k, n=50)
        assert ids_of(rounds) == plain_ids(free, [1, 2, 3], room)
        assert rounds[-1].stop_reason == "context"
        exact = run_rounds(target, make_drafter(drafter, target), [1, 2, 3], k=k, n=room)
        assert exact[-1].stop_reason == "length"


def test_the_earlier_end_wins() -> None:
    target, script = distinct_target()

    def run(n: int, stop_ids: Sequence[int], ends: int | None) -> tuple[list[int], str]:
        rounds = run_rounds(
            target,
            target,
            [0, 1],
            k=6,
            n=n,
            stop_ids=stop_ids,
            ends_at=lambda written: ends if ends and len(written) >= ends else None,
        )
        return ids_of(rounds), rounds[-1].stop_reason

    assert run(5, [script[3]], None) == (script[:4], "eos")
    assert run(3, [script[3]], None) == (script[:3], "length")
    assert run(9, [script[3]], 3) == (script[:3], "stop")
    assert run(9, [script[3]], 5) == (script[:4], "eos")
    assert run(9, [script[3]], 4) == (script[:4], "eos")  # both at one token: the end token
    assert run(4, [], 4) == (script[:4], "stop")
    assert run(9, [], 8) == (script[:8], "stop")  # in the second round
