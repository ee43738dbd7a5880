"""What holds in every trace, whoever made it: starts, verdicts, lengths, its end."""

from __future__ import annotations

from specdec.trace import Trace
from tests.test_invariants import check_verdicts


def check_trace(trace: Trace) -> None:
    """AssertionError where a trace breaks a convention of the round loop."""
    length, cached = len(trace.prompt), None
    for i, r in enumerate(trace.rounds):
        assert (r.index, r.start, r.k) == (i, length, trace.settings.k)
        check_verdicts(r)
        length += len(r.written)
        assert r.lengths.target == (r.start - 1, length - 1)
        assert r.draft_passes in (0, len(r.drafted))
        if r.lengths.drafter is None:
            assert not r.draft_passes
        else:
            before, after = r.lengths.drafter
            assert before == (r.start - 1 if cached is None else cached)
            assert after == min(r.start + len(r.drafted) - 1, length - 1)
            cached = after
        for token in r.drafted:
            if token.u is not None:
                assert (token.u < token.threshold) == (token.verdict == "accepted")
    assert [r.stop_reason for r in trace.rounds[:-1]] == [None] * (len(trace.rounds) - 1)
    assert trace.stop_reason == trace.rounds[-1].stop_reason
    assert len(trace.token_ids) <= trace.settings.max_new_tokens
    if trace.stop_reason == "length":
        assert len(trace.token_ids) == trace.settings.max_new_tokens
