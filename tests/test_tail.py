"""The discarded tail, looked at again after the token that is really in the text."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import numpy as np
import pytest

import specdec
from specdec import recordings, tail
from specdec.decode import speculate
from specdec.drafters import Draft, ModelDrafter
from specdec.law import Sampling
from specdec.presets import Preset
from specdec.trace import Trace
from tests.pairs_np import (
    GREEDY,
    SOFT,
    closed,
    drafting,
    random_model,
    random_pair,
    trace_of,
)

pytestmark = pytest.mark.long

CUT = Sampling(temperature=0.9, top_k=4, top_p=0.9)
PROMPT, N = [3, 1, 4], 90


def run(sampling: Sampling, rule: str, seed: int = 5) -> tuple:
    """A target and a trace of 90 tokens at k = 4 with a drafter that is often wrong."""
    target = random_model(7, seed=2, sharpness=2.0)
    drafter = ModelDrafter(drafting(target, seed=3, error=0.8).scorer())
    made = speculate(
        target.scorer(),
        drafter,
        PROMPT,
        k=4,
        sampling=sampling,
        max_new_tokens=N,
        rng=seed,
        rule=rule,
    )
    trace = trace_of(list(made), PROMPT)
    settings = replace(trace.settings, sampling=sampling, rule=rule, seed=seed)
    return target, replace(trace, settings=settings)


def tails(trace: Trace):
    """(index of the round's first tail position, round, prefix up to the correction)."""
    ids = [token.id for token in trace.prompt]
    for r in trace.rounds:
        written = [token.id for token in r.written]
        if r.rejected and len(r.drafted) > r.accepted + 1:
            yield r, ids + written
        ids += written


@pytest.mark.parametrize("rule", ["pq", "match"])
@pytest.mark.parametrize("sampling", [GREEDY, SOFT, CUT], ids=["greedy", "soft", "cut"])
def test_the_law_is_the_targets_after_the_right_token(sampling: Sampling, rule: str) -> None:
    target, trace = run(sampling, rule)
    mended, seen = tail.mend(target.scorer(), trace), 0
    for r, prefix in tails(mended):
        for i, token in enumerate(r.drafted[r.accepted + 1 :]):
            law = sampling.law(target.after(prefix))
            assert token.mended.p == pytest.approx(law[token.id], abs=0)
            entries = {i: p for i, _, p in token.mended.p_top.entries}
            assert entries[int(np.argmax(law))] == law.max()
            assert (token.mended.u is None) == sampling.greedy
            prefix = [*prefix, token.id]
            seen += 1
    assert seen > 10, "the run has tails to look at"


def test_nothing_else_of_the_trace_changes() -> None:
    target, trace = run(SOFT, "pq")
    mended = tail.mend(target.scorer(), trace)
    assert any(t.mended for r in mended.rounds for t in r.drafted)
    bare = tuple(
        replace(r, drafted=tuple(replace(t, mended=None) for t in r.drafted)) for r in mended.rounds
    )
    assert replace(mended, rounds=bare) == trace
    for r in mended.rounds:
        first = r.accepted + 1 if r.rejected else len(r.drafted)
        assert all((t.mended is not None) == (i >= first) for i, t in enumerate(r.drafted))


class _Again:
    """Proposes these tokens with these chances, and puts the rest of q on another token."""

    def __init__(self, tokens: list[int], q: list[float]) -> None:
        self.tokens, self.q = tokens, q

    def propose(self, context, k, sampling, uniforms) -> Draft:
        laws = np.zeros((len(self.tokens), 7))
        for row, token, q in zip(laws, self.tokens, self.q):
            row[(token + 1) % 7] = 1 - q
            row[token] = q
        return Draft(self.tokens, laws)


@pytest.mark.parametrize("rule", ["pq", "match"])
@pytest.mark.parametrize("sampling", [GREEDY, SOFT, CUT], ids=["greedy", "soft", "cut"])
def test_kept_is_what_the_loop_itself_decides_there(sampling: Sampling, rule: str) -> None:
    """Oracle: the loop from the corrected prefix, the tail as its draft, the same seed."""
    target, trace = run(sampling, rule)
    seen = set()
    for r, prefix in tails(tail.mend(target.scorer(), trace)):
        rest = r.drafted[r.accepted + 1 :]
        again = _Again([t.id for t in rest], [t.q for t in rest])
        loop = speculate(
            target.scorer(), again, prefix, k=len(rest), sampling=sampling,
            max_new_tokens=9, rng=trace.settings.seed, rule=rule,
        )  # fmt: skip
        judged = next(loop).drafted
        verdicts = [t.mended.kept for t in rest]
        accepted = sum(t.verdict == "accepted" for t in judged)
        first_lost = verdicts.index(False) if False in verdicts else len(verdicts)
        assert accepted == first_lost
        if not sampling.greedy and accepted < len(rest):
            assert judged[accepted].u == rest[accepted].mended.u
            assert judged[accepted].threshold == pytest.approx(rest[accepted].mended.threshold)
        seen.add(accepted > 0)
    assert seen == {True, False}, "some would be kept there, some not"


def test_a_block_is_judged_as_a_whole() -> None:
    target, trace = run(SOFT, "block")
    assert tail.mend(target.scorer(), trace) is trace


def test_a_mended_trace_goes_through_json() -> None:
    target, trace = run(SOFT, "pq")
    mended = tail.mend(target.scorer(), trace)
    assert Trace.from_json(mended.to_json()) == mended


def test_every_pass_waits_for_its_turn_and_none_is_made_once_it_is_over() -> None:
    target, trace = run(SOFT, "pq")
    whole, turns = tail.mend(target.scorer(), trace), []

    @contextmanager
    def turn() -> Iterator[None]:
        turns.append(1)
        yield

    scorer = target.scorer()
    part = tail.mend(scorer, trace, turn=turn, over=lambda: len(turns) == 2)
    looked = [r.index for r in part.rounds if any(t.mended for t in r.drafted)]
    assert len(turns) == 2 == len(looked)
    assert part.rounds[: looked[-1] + 1] == whole.rounds[: looked[-1] + 1]
    assert part.rounds[looked[-1] + 1 :] == trace.rounds[looked[-1] + 1 :]
    assert tail.mend(target.scorer(), trace, turn=turn) == whole
    assert len(turns) == 2 + len(list(tails(whole)))


def test_rounds_already_looked_at_cost_no_pass() -> None:
    target, trace = run(SOFT, "pq")
    whole = tail.mend(target.scorer(), trace)
    half = replace(trace, rounds=trace.rounds[: len(trace.rounds) // 2])
    known = tail.mend(target.scorer(), half)
    scorer = target.scorer()
    assert tail.mend(scorer, trace, known=known) == whole
    later = [r for r, _ in tails(trace) if r.index >= len(half.rounds)]
    assert len(scorer.trims) == len(later)


def test_a_pair_gives_the_texts_and_frees_the_cache() -> None:
    pair = random_pair()
    trace = specdec.generate(pair, "the sky", temperature=1.0, k=3, max_new_tokens=40)
    mended = tail.of_pair(pair, trace)
    tops = [t.mended.p_top for r in mended.rounds for t in r.drafted if t.mended]
    assert tops and all(text == pair.texts.piece(i) for top in tops for i, text, _ in top.entries)
    assert mended.text == trace.text and closed(pair)


def test_recordings_gain_their_tails_and_keep_the_rest(tmp_path) -> None:
    pair, preset = random_pair(), Preset("one", "One", False, "the kiln")
    recordings.record(pair, preset, tmp_path, k=4, n=80, seed=1, when="2026-01-01")
    file = tmp_path / "one.sampled.json"
    whole = Trace.from_json(file.read_bytes())
    bare = tuple(
        replace(r, drafted=tuple(replace(t, mended=None) for t in r.drafted)) for r in whole.rounds
    )
    assert bare != whole.rounds
    file.write_text(replace(whole, rounds=bare).to_json())
    recordings.add_tails(pair, preset, tmp_path)
    assert Trace.from_json(file.read_bytes()) == whole
    other = replace(pair, hardware=("float16", "cpu", "a test"))
    with pytest.raises(ValueError, match="was recorded in float64; this pair is in float16"):
        recordings.add_tails(other, preset, tmp_path)
