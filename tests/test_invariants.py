"""One property of the round loop over random pairs, drafters, lengths, ends and settings."""

from __future__ import annotations

import re
from dataclasses import dataclass

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from specdec.decode import speculate
from specdec.drafters import ModelDrafter
from specdec.law import Sampling
from specdec.trace import Round
from specdec.uniforms import REPLACE, TEST, Uniforms
from tests.pairs_np import (
    DRAFTERS,
    GREEDY,
    SOFT,
    Model,
    Scorer,
    Swapping,
    ids_of,
    make_drafter,
    plain_ids,
    random_model,
    still,
    trace_of,
)

pytestmark = pytest.mark.long


@dataclass(frozen=True)
class Case:
    """A pair and what is asked of it."""

    vocab_size: int
    seed: int
    sharpness: float
    drafter: str
    prompt: tuple[int, ...]
    k: int
    n: int
    stop_ids: frozenset[int]
    context: int | None
    sampling: Sampling

    def start(self, **options) -> tuple[Scorer, object, object]:
        """(target's scorer, drafter, rounds to come)."""
        about = {"sharpness": self.sharpness, "context": self.context}
        target = random_model(self.vocab_size, self.seed, **about)
        scorer = target.scorer()
        drafter = make_drafter(self.drafter, target, self.seed)
        asked = {"k": self.k, "stop_ids": self.stop_ids, "rng": self.seed, "clock": still}
        asked |= {"max_new_tokens": self.n, "sampling": self.sampling} | options
        return scorer, drafter, speculate(scorer, drafter, self.prompt, **asked)


@st.composite
def cases(draw) -> Case:
    size = draw(st.integers(3, 9))
    prompt = draw(st.lists(st.integers(0, size - 1), min_size=1, max_size=6).map(tuple))
    room = draw(st.none() | st.integers(1, 20))
    return Case(
        size,
        draw(st.integers(0, 10_000)),
        draw(st.sampled_from([0.5, 3.0, 10.0])),
        draw(st.sampled_from(DRAFTERS)),
        prompt,
        draw(st.integers(0, 7)),
        draw(st.integers(1, 25)),
        draw(st.frozensets(st.integers(0, size - 1), max_size=1)),
        room and len(prompt) + room,
        draw(
            st.sampled_from([GREEDY, Sampling(1e-6), SOFT])
            | st.builds(
                Sampling, st.sampled_from([0.3, 1.5]), st.integers(0, 4), st.sampled_from([0.7, 1])
            )
        ),
    )


def check_lengths(r: Round, ids: list[int], scorer: Scorer, drafter: object) -> None:
    """Only lengths are state: the target owes one token, a drafter's cache is a true prefix."""
    assert r.lengths.target == (r.start - 1, len(ids) - 1)
    assert scorer.cached == ids[:-1]
    if r.lengths.drafter is None:
        return
    assert r.lengths.drafter[1] == drafter.length <= len(ids) - 1
    parts = drafter.drafters if isinstance(drafter, Swapping) else [drafter]
    for part in parts:
        if isinstance(part, ModelDrafter):
            assert part.scorer.cached == ids[: part.length]
    if isinstance(drafter, ModelDrafter) and r.draft_passes == r.k > 0:
        assert drafter.length >= len(ids) - 2
        assert r.draft_passes == len(r.drafted)


def check_verdicts(r: Round) -> None:
    """Accepted, one rejected, the rest discarded; written is what that means."""
    verdicts = "".join(token.verdict[0] for token in r.drafted)
    kinds = "".join(token.kind[0] for token in r.written)
    assert re.fullmatch("a*r?d*", verdicts)
    assert re.fullmatch("a*[cb]?", kinds)
    assert 0 <= r.accepted <= len(r.drafted) <= r.k
    assert 1 <= len(r.written) <= r.accepted + 1
    assert kinds.count("a") == r.accepted
    assert kinds.endswith("c") == ("r" in verdicts)
    if r.stop_reason is None:
        assert len(r.written) == r.accepted + 1
        assert kinds.endswith("b") == (r.accepted == len(r.drafted))
    drafted, written = [t.id for t in r.drafted], [t.id for t in r.written]
    assert written[: r.accepted] == drafted[: r.accepted]
    assert [t.parent for t in r.drafted] == list(range(-1, len(drafted) - 1))


def check_numbers(r: Round, ids: list[int], target: Model, case: Case) -> None:
    """Every probability is the law's, every uniform is the one at its address."""
    uniforms, greedy = Uniforms(case.seed), case.sampling.greedy
    prefix = ids[: r.start]
    for i, token in enumerate(r.drafted):
        law = case.sampling.law(target.after([*prefix, *(t.id for t in r.drafted[:i])]))
        assert token.p == law[token.id]
        assert 0 <= token.q <= 1
        assert token.threshold == (min(1.0, token.p / token.q) if token.p else 0)
        judged = token.verdict != "discarded" and not greedy
        assert token.u == (uniforms(r.start + i, TEST) if judged else None)
        if token.verdict != "discarded":
            u = 0.5 if greedy else token.u
            assert (u < token.threshold) == (token.verdict == "accepted")
    for i, token in enumerate(r.written):
        law = case.sampling.law(target.after(ids[: r.start + i]))
        assert token.p == law[token.id] > 0
        purpose = TEST if token.kind == "accepted" else REPLACE
        assert token.u == (None if greedy else uniforms(r.start + i, purpose))
        assert 0 <= token.id < case.vocab_size
    tops = [t.p_top for t in r.written]
    tops += [top for t in r.drafted for top in (t.p_top, t.q_top, t.residual_top)]
    for top in tops:
        shares = [share for _, _, share in top.entries]
        assert shares == sorted(shares, reverse=True)
        assert all(0 < share <= 1 for share in shares)
        assert sum(shares) + top.rest == pytest.approx(1, abs=1e-6)
        assert all(0 <= i < case.vocab_size for i, _, _ in top.entries)


def check_end(rounds: list[Round], case: Case) -> None:
    """The text ends at the first reason, exactly there, and only the last round has it."""
    out = ids_of(rounds)
    assert [r.stop_reason for r in rounds[:-1]] == [None] * (len(rounds) - 1)
    assert not set(out[:-1]) & case.stop_ids
    room = min(case.n, (case.context or 99) - len(case.prompt))
    assert len(out) <= room
    if out[-1] in case.stop_ids:
        expected = "eos"
    else:
        assert len(out) == room
        expected = "length" if room == case.n else "context"
    assert rounds[-1].stop_reason == expected


@settings(max_examples=150)
@given(cases())
def test_the_invariants(case: Case) -> None:
    scorer, drafter, loop = case.start()
    ids, rounds = list(case.prompt), []
    for r in loop:
        assert (r.index, r.start) == (len(rounds), len(ids))
        ids += [token.id for token in r.written]
        rounds.append(r)
        check_lengths(r, ids, scorer, drafter)
        check_verdicts(r)
        check_numbers(r, ids, scorer.model, case)
    check_end(rounds, case)
    trace = trace_of(rounds, case.prompt)
    assert list(trace.token_ids) == ids[len(case.prompt) :]
    assert trace.tokens_per_pass == len(trace.token_ids) / len(rounds)
    verifies = scorer.fed[len(case.prompt) > 1 :]  # after the prefill
    assert verifies == [1 + len(r.drafted) for r in rounds]
    if case.drafter == "itself":
        assert trace.alpha in (1, None)
    if case.sampling.greedy:
        out = plain_ids(random_model(case.vocab_size, case.seed, case.sharpness), case.prompt, 25)
        assert ids[len(case.prompt) :] == out[: len(trace.token_ids)]
    assert list(case.start()[2]) == rounds  # the same seed: the same trace
