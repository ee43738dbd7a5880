"""The four rates of a trace and its text, counted after the cut."""

from __future__ import annotations

from dataclasses import replace

import pytest

from specdec.trace import Drafted, Lengths, Round, Seconds, Trace, Written
from tests.pairs_np import trace_of


def make_round(verdicts: str, end: str | None = None, start: int = 1) -> Round:
    """A round by its verdicts, as "aard": accepted, accepted, rejected, discarded.

    `end`: the round was cut there, or ended the text with all that it wrote.
    """
    words = {"a": "accepted", "r": "rejected", "d": "discarded"}
    drafts = tuple(
        Drafted(7, "x", 0.5, 0.5, None, 1.0, words[v], i - 1) for i, v in enumerate(verdicts)
    )
    kinds = ["accepted"] * verdicts.count("a")
    if "r" in verdicts:
        kinds.append("corrected")
    elif "d" not in verdicts:
        kinds.append("bonus")
    tokens = tuple(Written(7, "x", 0.5, None, kind) for kind in kinds)
    return Round(
        0,
        start,
        len(verdicts),
        "pq",
        drafts,
        tokens,
        Seconds(),
        Lengths((0, 1)),
        len(verdicts),
        end,
    )


def test_the_four_rates_of_a_run() -> None:
    trace = trace_of([make_round("aard"), make_round("aaaa"), make_round("rddd"), make_round("")])
    assert trace.alpha == 6 / 8  # accepted ÷ judged
    assert trace.draft_yield == 6 / 12  # accepted ÷ drafted
    assert trace.per_position == (2 / 3, 2 / 3, 1 / 3, 1 / 3)
    assert trace.tokens_per_pass == (3 + 5 + 1 + 1) / 4
    assert trace.accepted_histogram == (2, 0, 1, 0, 1)
    assert trace.target_passes == 4
    assert trace.draft_passes == 12
    assert len(trace.token_ids) == sum(len(r.written) for r in trace.rounds) == 10


@pytest.mark.parametrize("reason", ["eos", "stop", "length", "context"])
def test_mean_length_counted_tokens_after_the_end(reason: str) -> None:
    """Five drafted, all would be accepted, the text ends with the third: 3 tokens, not 6."""
    trace = trace_of([make_round("aaadd", reason)])
    assert trace.tokens_per_pass == 3
    assert trace.alpha == 1
    assert trace.draft_yield == 1  # what the end cut away was never a chance
    assert trace.per_position == (1, 1, 1)
    assert trace.accepted_histogram == (0, 0, 0, 1)


def test_a_cut_round_leaves_the_rates_of_the_others() -> None:
    trace = trace_of([make_round("ardd"), make_round("addd", "eos")])
    assert trace.alpha == 2 / 3
    assert trace.draft_yield == 2 / 5
    assert trace.per_position == (1, 0, 0, 0)
    assert trace.tokens_per_pass == 3 / 2


def test_the_published_yield_falls_with_k_and_alpha_does_not() -> None:
    """α = .8, k = 4 → .59: rounds in exactly the proportions of independent tests."""
    counts = {"rddd": 125, "ardd": 100, "aard": 80, "aaar": 64, "aaaa": 256}
    trace = trace_of([make_round(v) for v, n in counts.items() for _ in range(n)])
    assert trace.alpha == pytest.approx(0.8)
    assert trace.draft_yield == pytest.approx(0.59, abs=0.001)
    assert trace.per_position == pytest.approx((0.8, 0.64, 0.512, 0.4096))
    assert trace.tokens_per_pass == pytest.approx((1 - 0.8**5) / 0.2)


def test_no_draft_no_rate_instead_of_a_division_by_zero() -> None:
    for trace in (trace_of([make_round("", "length")]), trace_of([make_round("")] * 3)):
        assert trace.alpha is None
        assert trace.draft_yield is None
        assert trace.per_position == ()
        assert trace.tokens_per_pass == 1
        assert trace.accepted_histogram == (len(trace.rounds),)
    nothing = trace_of([])
    assert nothing.tokens_per_pass is None
    assert nothing.accepted_histogram == ()
    assert nothing.text == ""
    assert nothing.seconds == Seconds()


def test_seconds_add_up_and_prefill_stays_apart() -> None:
    rounds = [
        replace(make_round("a"), seconds=Seconds(1, 2, 3, 4)),
        replace(make_round("a"), seconds=Seconds(10, 20, 30, 0)),
    ]
    assert trace_of(rounds).seconds == Seconds(11, 22, 33, 4)
    assert trace_of(rounds).seconds.total == 66


def spelled(texts: list[str], reason: str, stop: tuple[str, ...] = ()) -> Trace:
    one = replace(make_round(""), written=tuple(Written(7, t, 1.0, None, "bonus") for t in texts))
    trace = trace_of([one])
    return replace(trace, settings=replace(trace.settings, stop=stop), stop_reason=reason)


def test_the_text_ends_before_a_stop_string_and_before_the_end_token() -> None:
    assert spelled(["the", " kiln", "<eos>"], "eos").text == "the kiln"
    assert spelled(["a", "xab", "y"], "stop", ("ab",)).text == "ax"
    assert spelled(["a", "x", "ab"], "stop", ("b", "xab")).text == "a"
    assert spelled(["a", "b"], "length", ("c",)).text == "ab"
    assert spelled(["a", "b"], "cancelled").text == "ab"
