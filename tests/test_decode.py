"""The round loop: invariants over random pairs, exact ends, caches, seeds."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import count

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from specdec.decode import speculate
from specdec.drafters import Draft, FixedDrafter, ModelDrafter, PromptLookup
from specdec.law import Sampling
from specdec.trace import Round
from specdec.uniforms import REPLACE, TEST, Uniforms
from tests.pairs_np import (
    Model,
    Scorer,
    Swapping,
    drafting,
    ids_of,
    plain_ids,
    random_model,
    run_rounds,
    scripted,
    trace_of,
)

GREEDY, SOFT = Sampling(), Sampling(temperature=1.0)
BOTH = pytest.mark.parametrize("sampling", [GREEDY, SOFT], ids=["greedy", "sampling"])


def still() -> float:
    """A clock that stands still, so that equal runs are equal in every field."""
    return 0.0


def make_drafter(name: str, target: Model, seed: int = 1):
    """A drafter of each kind there is."""
    model = {
        "itself": target,
        "good": drafting(target, seed, 1.0),
        "bad": random_model(target.vocab_size, seed + 99),
        "reduced": Model(target.vocab_size, drafting(target, seed).logits, token_ids=[0, 2]),
        "short": Model(target.vocab_size, drafting(target, seed).logits, context=9),
    }
    if name in model:
        return ModelDrafter(model[name].scorer(), target.vocab_size)
    if name == "swapping":
        return Swapping(*(make_drafter(n, target, seed) for n in ("good", "lookup", "bad")))
    return {"lookup": PromptLookup(), "fixed": FixedDrafter([1, 0, 2, 1]), "none": None}[name]


DRAFTERS = ["itself", "good", "bad", "reduced", "short", "swapping", "lookup", "fixed"]
EVERY = pytest.mark.parametrize("drafter", DRAFTERS)

# ---- one property for all of it --------------------------------------------------------------


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


# ---- greedy and the drafter ------------------------------------------------------------------


@EVERY
@pytest.mark.parametrize("temperature", [0, 1e-8, 1e-6, 1e-4])
def test_forty_of_forty_tokens_are_the_targets(drafter: str, temperature: float) -> None:
    target = random_model(9, seed=4)
    for seed in range(2):
        rounds = run_rounds(
            target,
            make_drafter(drafter, target),
            [0, 1],
            k=4,
            n=40,
            sampling=Sampling(temperature),
            rng=seed,
        )
        assert ids_of(rounds) == plain_ids(target, [0, 1], 40)


@EVERY
def test_top_k_of_one_is_greedy_for_every_seed(drafter: str) -> None:
    """Settings applied to the bonus token alone would show here."""
    target = random_model(9, seed=4)
    for seed in range(10):
        rounds = run_rounds(
            target, make_drafter(drafter, target), [3], k=4, n=12, sampling=Sampling(1, 1), rng=seed
        )
        assert ids_of(rounds) == plain_ids(target, [3], 12)


@EVERY
@BOTH
def test_no_token_outside_top_k_is_ever_written(drafter: str, sampling: Sampling) -> None:
    target, two = random_model(9, seed=5, sharpness=0.5), replace(sampling, top_k=2)
    for seed in range(5):
        out = ids_of(
            run_rounds(
                target, make_drafter(drafter, target), [3], k=4, n=20, sampling=two, rng=seed
            )
        )
        for i, token in enumerate(out):
            assert token in np.argsort(-target.after([3, *out[:i]]))[:2]


@BOTH
@pytest.mark.parametrize("k", [1, 2, 3, 4, 7])
def test_a_model_drafting_for_itself_is_always_accepted(k: int, sampling: Sampling) -> None:
    target = random_model(9, seed=6)
    for n in (1, 7, 40):
        rounds = run_rounds(target, target, [1, 2], k=k, n=n, sampling=sampling)
        trace = trace_of(rounds)
        assert trace.alpha == 1
        assert trace.target_passes == -(-n // (k + 1))
        assert len(trace.token_ids) == n


def test_forty_tokens_at_k_four_are_eight_passes() -> None:
    """The bonus token's place in the drafter's cache was never filled: acceptance decayed."""
    target = random_model(9, seed=6)
    rounds = run_rounds(target, target, [1], k=4, n=40)
    assert [r.accepted for r in rounds] == [4] * 8
    assert [r.lengths.drafter for r in rounds[:3]] == [(0, 4), (4, 9), (9, 14)]


@BOTH
def test_swapping_the_drafter_in_the_middle_of_a_run(sampling: Sampling) -> None:
    """Greedy output does not change; when itself drafts, all is accepted, however late it came."""
    target = random_model(9, seed=7)
    mixed = Swapping(make_drafter("bad", target), PromptLookup(), make_drafter("itself", target))
    rounds = run_rounds(target, mixed, [1, 2, 3], k=3, n=40, sampling=sampling)
    if sampling.greedy:
        assert ids_of(rounds) == plain_ids(target, [1, 2, 3], 40)
    own = [r for r in rounds if (r.index + 1) % 3 == 2 and r.stop_reason is None]
    assert own
    assert all(r.accepted == 3 for r in own)


@EVERY
def test_greedy_does_not_depend_on_the_seed(drafter: str) -> None:
    target = random_model(9, seed=4)
    runs = [
        run_rounds(target, make_drafter(drafter, target), [1], k=4, n=30, rng=s) for s in range(20)
    ]
    assert len({tuple(ids_of(rounds)) for rounds in runs}) == 1
    assert all(t.u is None for r in runs[0] for t in (*r.drafted, *r.written))


# ---- ends inside a block ---------------------------------------------------------------------


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


def distinct_target() -> tuple[Model, list[int]]:
    """A target whose first 20 greedy tokens are all different, and these tokens."""
    script = list(range(10, 30))
    return scripted(64, script, prompt=2), script


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


# ---- caches ----------------------------------------------------------------------------------


def test_trims_of_both_caches() -> None:
    """k = 4: of one accepted the target forgets 3 and the drafter 2; of four neither forgets."""
    for accepted, trims in ((0, (4, 3)), (1, (3, 2)), (2, (2, 1)), (3, (1, 0)), (4, (0, 0))):
        target, script = distinct_target()
        wrong = [*script[:accepted], 5, 5, 5, 5, 5]
        scorer, draft = target.scorer(), scripted(64, wrong, prompt=2).scorer()
        loop = speculate(
            scorer, ModelDrafter(draft), [0, 1], k=4, sampling=GREEDY, max_new_tokens=20
        )
        first = next(loop)
        assert first.accepted == accepted
        assert (sum(scorer.trims), sum(draft.trims)) == trims
        owed = 2 if accepted == 4 else 1
        assert first.lengths.target == (1, 2 + accepted)
        assert first.lengths.drafter == (1, 2 + accepted + 1 - owed)


class Uncached(Scorer):
    """Caches nothing: every pass is fed the whole sequence."""

    def score(self, tokens: Sequence[int], parents: None = None) -> np.ndarray:
        logits = super().score(tokens)
        self.length = 0
        return logits


@BOTH
def test_cache_on_is_cache_off(sampling: Sampling) -> None:
    target, options = random_model(9, seed=2), {"k": 4, "n": 50, "sampling": sampling, "rng": 3}
    small = drafting(target)
    cached = run_rounds(target, small, [1, 2, 3], **options)
    bare = run_rounds(Uncached(target, 99), ModelDrafter(Uncached(small, 99)), [1, 2, 3], **options)
    assert ids_of(cached) == ids_of(bare)
    assert [r.drafted for r in cached] == [r.drafted for r in bare]
    assert len(ids_of(cached)) == 50


class Stateful(Scorer):
    """A recurrent state: it says that it cannot go back."""

    def rollback(self, length: int) -> None:
        raise ValueError("This state cannot go back.")


class Deaf(Scorer):
    """Its trim does nothing and says nothing."""

    def rollback(self, length: int) -> None:
        pass


class Forgetful(Scorer):
    """Asked to roll back it starts anew."""

    def rollback(self, length: int) -> None:
        self.length = 0


class Forward(Scorer):
    """It has no rollback at all."""

    rollback = property(doc="absent")  # hasattr() is False


@pytest.mark.parametrize(
    ("who", "kind"),
    [
        ("target", Stateful),
        ("target", Deaf),
        ("target", Forgetful),
        ("target", Forward),
        ("drafter", Stateful),
        ("drafter", Deaf),
        ("drafter", Forgetful),
    ],
)
def test_a_cache_that_cannot_go_back_never_goes_on(kind: type, who: str) -> None:
    target, bad = random_model(9, seed=2), random_model(9, seed=50)
    scorer, draft = target.scorer(), bad.scorer()
    if who == "target":
        scorer = kind(target, 99)
    else:
        draft = kind(bad, 99)
    written = []
    with pytest.raises(ValueError, match="back"):
        for r in speculate(
            scorer, ModelDrafter(draft), [1, 2], k=3, sampling=GREEDY, max_new_tokens=30
        ):
            written += [token.id for token in r.written]
    assert written == plain_ids(target, [1, 2], 30)[: len(written)]


@pytest.mark.parametrize(
    "kind", [Stateful, Deaf, Forgetful, Forward], ids=lambda kind: kind.__name__
)
def test_a_cache_that_cannot_go_back_serves_where_nothing_is_taken_back(kind: type) -> None:
    """Plain decoding, and a drafter that is always right until the cut."""
    target = random_model(9, seed=2)
    want = plain_ids(target, [1, 2], 8)
    assert ids_of(run_rounds(kind(target, 99), None, [1, 2], k=0, n=8)) == want
    assert ids_of(run_rounds(kind(target, 99), target, [1, 2], k=3, n=8)) == want


class NoRepeat(Sampling):
    """A setting that looks back: the last three tokens are forbidden."""

    def law(self, logits: np.ndarray, history: Sequence[int] = ()) -> np.ndarray:
        logits = logits.copy()
        logits[list(history[-3:])] = -np.inf
        return super().law(logits, history)


@pytest.mark.parametrize("drafter", ["itself", "good", "bad", "lookup", "fixed", "swapping"])
def test_no_rejected_draft_changes_what_is_allowed_next(drafter: str) -> None:
    """Each row's law sees the prompt, what is written and the drafts before it, no more."""
    target = random_model(9, seed=2)
    for sampling in (NoRepeat(), NoRepeat(1.0)):
        rounds = run_rounds(
            target, make_drafter(drafter, target), [1, 2, 3], k=4, n=40, sampling=sampling
        )
        ids = [1, 2, 3, *ids_of(rounds)]
        assert all(ids[i] not in ids[i - 3 : i] for i in range(3, len(ids)))
        if sampling.greedy:
            plain = run_rounds(target, None, [1, 2, 3], k=0, n=40, sampling=sampling)
            assert ids_of(rounds) == ids_of(plain)
        if drafter == "itself":
            assert trace_of(rounds).alpha == 1


# ---- seeds -----------------------------------------------------------------------------------


@EVERY
def test_a_seed_replays_a_run_and_another_does_not(drafter: str) -> None:
    target = random_model(9, seed=2, sharpness=1)

    def run(seed: object) -> list[Round]:
        return run_rounds(
            target,
            make_drafter(drafter, target),
            [1],
            k=4,
            n=20,
            sampling=SOFT,
            rng=seed,
            clock=still,
        )

    assert run(1) == run(1)
    assert ids_of(run(1)) != ids_of(run(2))
    drawn = int(np.random.default_rng(8).integers(2**63))
    assert run(np.random.default_rng(8)) == run(drawn)


def test_a_second_run_on_the_same_weights_does_not_change_the_first() -> None:
    target = random_model(9, seed=2, sharpness=1)
    small = drafting(target)

    def start(seed: int):
        return speculate(
            target.scorer(),
            ModelDrafter(small.scorer()),
            [1, seed],
            k=3,
            sampling=SOFT,
            max_new_tokens=20,
            rng=seed,
            clock=still,
        )

    alone = [list(start(1)), list(start(2))]
    loops, together = [start(1), start(2)], [[], []]
    for _ in range(30):  # in turns
        for loop, rounds in zip(loops, together):
            rounds += [r for r in [next(loop, None)] if r]
    assert together == alone


def test_runs_that_differ_only_in_k_read_the_same_numbers_until_a_decision_differs() -> None:
    target = random_model(9, seed=2, sharpness=2)
    small = drafting(target)
    for seed in range(30):
        short, long = (
            run_rounds(target, small, [1, 2], k=k, n=20, sampling=SOFT, rng=seed, clock=still)
            for k in (2, 5)
        )
        a, b = short[0].drafted, long[0].drafted
        assert [(t.id, t.p, t.q) for t in a] == [(t.id, t.p, t.q) for t in b[:2]]
        if short[0].rejected:  # then both runs go on from the same text
            assert short[0].written == long[0].written
            assert [t.u for t in a] == [t.u for t in b[:2]]
            n = len(short[1].drafted)
            assert [t.id for t in short[1].drafted] == [t.id for t in long[1].drafted[:n]]


def test_a_longer_run_begins_like_a_shorter_one() -> None:
    target = random_model(9, seed=2, sharpness=2)
    for drafter in ("good", "lookup", "fixed"):
        runs = [
            ids_of(run_rounds(target, make_drafter(drafter, target), [1], k=4, n=n, sampling=SOFT))
            for n in range(1, 15)
        ]
        assert all(run == runs[-1][: len(run)] for run in runs)


# ---- the record ------------------------------------------------------------------------------


def test_seconds_are_told_by_the_clock_and_prefill_apart() -> None:
    target = random_model(9, seed=2)
    rounds = run_rounds(target, target, [1, 2], k=2, n=9, clock=count().__next__)
    assert [(r.seconds.draft, r.seconds.verify, r.seconds.accept) for r in rounds] == [
        (1, 1, 1)
    ] * 3
    assert [r.seconds.prefill for r in rounds] == [1, 0, 0]


@pytest.mark.parametrize("tops", [0, 1, 3, 10])
def test_as_many_of_each_law_as_asked(tops: int) -> None:
    target = random_model(30, seed=2, sharpness=0.5)
    rounds = run_rounds(target, drafting(target), [1, 2], k=2, n=9, sampling=SOFT, tops=tops)
    for r in rounds:
        heads = [t.p_top for t in (*r.drafted, *r.written)] + [t.q_top for t in r.drafted]
        assert all((top is None) if tops == 0 else len(top.entries) == tops for top in heads)


def test_the_head_of_a_law_is_its_likeliest_ids() -> None:
    target = random_model(2000, seed=2, sharpness=0.1)  # no id reaches 1e-3
    [r] = run_rounds(target, None, [1], k=0, n=1, sampling=SOFT, tops=10)
    law = SOFT.law(target.after([1]))
    best = np.argsort(-law, kind="stable")[:10]
    assert [i for i, _, _ in r.written[0].p_top.entries] == best.tolist()
    assert r.written[0].p_top.rest == pytest.approx(1 - law[best].sum())


def test_plain_decoding_is_rounds_of_one_bonus_token() -> None:
    target = random_model(9, seed=2)
    rounds = run_rounds(target, None, [1, 2], k=0, n=12, sampling=SOFT)
    assert [[t.kind for t in r.written] for r in rounds] == [["bonus"]] * 12
    assert all((r.drafted, r.lengths.drafter, r.draft_passes) == ((), None, 0) for r in rounds)
    trace = trace_of(rounds)
    assert (trace.alpha, trace.draft_yield, trace.tokens_per_pass) == (None, None, 1)


# ---- bad input -------------------------------------------------------------------------------


class Says:
    """A drafter that proposes whatever it is told to."""

    def __init__(self, draft: Draft) -> None:
        self.draft = draft

    def propose(self, context, k, sampling, uniforms) -> Draft:
        return self.draft


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        ({"k": -1}, "k is -1"),
        ({"k": 1.5}, "k is 1.5"),
        ({"k": float("nan")}, "k is nan"),
        ({"k": float("inf")}, "k is inf"),
        ({"max_new_tokens": 0}, "max_new_tokens is 0"),
        ({"max_new_tokens": -3}, "max_new_tokens is -3"),
        ({"max_new_tokens": 2.5}, "max_new_tokens is 2.5"),
        ({"max_new_tokens": float("nan")}, "max_new_tokens is nan"),
        ({"prompt_ids": []}, "no tokens"),
        ({"prompt_ids": [0, 9]}, "id 9"),
        ({"prompt_ids": [-1, 0]}, "id -1"),
        ({"prompt_ids": [0] * 40}, "40 tokens"),
        ({"drafter": None}, "no drafter"),
        ({"rng": -5}, "seed is -5"),
        ({"rule": "typical"}, "'typical'"),
    ],
    ids=str,
)
def test_bad_input_is_refused_before_any_forward(wrong: dict, named: str) -> None:
    target = random_model(9, context=40)
    scorer, draft = target.scorer(), target.scorer()
    asked = {"drafter": ModelDrafter(draft), "prompt_ids": [0, 1], "k": 2, "sampling": GREEDY}
    with pytest.raises(ValueError, match=named):
        next(speculate(scorer, **(asked | {"max_new_tokens": 5} | wrong)))
    assert (scorer.fed, draft.fed) == ([], [])


@pytest.mark.parametrize("who", ["target", "drafter"])
def test_a_cache_that_is_not_empty_is_refused(who: str) -> None:
    target = random_model(9)
    scorer, draft = target.scorer(), target.scorer()
    (scorer if who == "target" else draft).score([1, 2, 3])
    with pytest.raises(ValueError, match="3 tokens"):
        run_rounds(scorer, ModelDrafter(draft), [1], k=2, n=3)


@pytest.mark.parametrize(
    "draft",
    [
        Draft([1, 2, 3, 4]),
        Draft([9]),
        Draft([-1]),
        Draft([1, 2], np.full((2, 8), 1 / 8)),
        Draft([1, 2], np.full((1, 9), 1 / 9)),
    ],
    ids=["too many", "past the vocabulary", "negative", "narrow laws", "too few laws"],
)
def test_a_drafter_that_breaks_its_promise_is_named(draft: Draft) -> None:
    with pytest.raises(ValueError, match="drafter"):
        run_rounds(random_model(9), Says(draft), [1], k=3, n=5)


def test_fewer_tokens_than_asked_are_fine() -> None:
    target = random_model(9, seed=2)
    want = plain_ids(target, [1], 12)
    for draft in (Draft([]), Draft([want[0]]), Draft([], np.zeros((0, 9)))):
        assert ids_of(run_rounds(target, Says(draft), [1], k=3, n=12)) == want


@BOTH
@pytest.mark.parametrize("value", [np.nan, np.inf], ids=str)
def test_logits_that_are_no_numbers_end_the_run_in_words(sampling: Sampling, value: float) -> None:
    def logits(state: int, n: int) -> np.ndarray:
        row = np.zeros(9)
        row[3] = value if n > 5 else 0
        return row

    written = []
    with pytest.raises(ValueError, match="logits"):
        for r in speculate(
            Model(9, logits).scorer(),
            FixedDrafter([0, 0]),
            [1, 2],
            k=2,
            sampling=sampling,
            max_new_tokens=30,
        ):
            written += [token.id for token in r.written]
    assert all(0 <= token < 9 for token in written)
