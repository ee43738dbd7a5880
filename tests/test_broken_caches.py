"""Each broken cache is really broken, by an oracle without a cache; the engine's own are not."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from specdec import decode, drafters, generate, plain, toy
from specdec.lab import broken_caches
from specdec.lab.broken_caches import FAULTS, PLACES, WORDS, Broken, Case, run, run_short
from specdec.trace import Trace
from tests.pairs_np import SOFT, drafting, ids_of, plain_ids, random_model, run_rounds

pytestmark = pytest.mark.long

SEEDS = range(1, 9)
FAULTY = [(f, place) for f in FAULTS for place in PLACES if f != "none"]
FAULTY.remove(("owed", "target"))


def oracle(seed: int, n: int) -> str:
    """The target's words, asked for one after another."""
    target, words = toy.random_model(2 * seed, vocab=WORDS), []
    for _ in range(n):
        words.append(target(words))
    return " ".join(words)


def steps(trace: Trace) -> list[tuple]:
    """What was drafted, written and cached in every round: all but the time."""
    return [(r.drafted, r.written, r.lengths) for r in trace.rounds]


def bites(fault: str, case: Case) -> bool:
    """Whether the right run comes to where the fault shows: a rejection, or a full acceptance."""
    rounds = case.right.rounds[:-1]
    if fault == "owed":
        return any(r.accepted == r.k for r in rounds)
    return any(r.rejected for r in rounds)


@pytest.mark.parametrize("place", PLACES)
def test_a_cache_without_a_fault_changes_nothing(place: str) -> None:
    for seed in SEEDS:
        case = run("none", place, seed=seed)
        assert steps(case.broken) == steps(case.right)
        assert case.broken.text == case.plain.text == oracle(seed, 32)
        assert case.first is None
        assert {cell.state for cell in case.cache.cells} == {"right"}


@pytest.mark.parametrize(("fault", "place"), FAULTY)
def test_a_fault_in_the_target_bends_the_text_and_one_in_the_drafter_costs_speed(
    fault: str, place: str
) -> None:
    cases = [run(fault, place, seed=seed) for seed in SEEDS]
    assert sum(bites(fault, case) for case in cases) > 4
    for seed, case in zip(SEEDS, cases):
        if not bites(fault, case):
            continue
        assert case.right.text == oracle(seed, 32)
        assert (case.broken.text == oracle(seed, 32)) is (place == "drafter")
        if place == "drafter":
            assert case.broken.alpha < case.right.alpha
            assert case.broken.target_passes > case.right.target_passes
        else:
            at = case.first
            assert case.broken.token_ids[:at] == case.plain.token_ids[:at]
            assert case.broken.token_ids[at] != case.plain.token_ids[at]


@pytest.mark.parametrize(("fault", "place"), FAULTY)
def test_the_cells_are_what_the_cache_reads(fault: str, place: str) -> None:
    """And its length is what the engine was told: no check of lengths can find the fault."""
    for seed in SEEDS:
        case = run(fault, place, seed=seed)
        cells, own = case.cache.cells, case.cache.own
        assert [own.vocab[c.token] for c in cells if c.state != "lost"] == own.words
        said = [c for c in cells if c.state != "stale"]
        assert case.cache.length == len(said)
        text = ["", *case.broken.text.split()]
        assert [own.vocab[c.token] for c in said] == text[: len(said)]
        wrong = "stale" if fault == "stale" else "lost"
        assert {c.state for c in cells} <= {"right", wrong}
        assert any(c.state == wrong for c in cells) is bites(fault, case)


def test_nothing_is_owed_in_the_target() -> None:
    with pytest.raises(ValueError, match="no fault 'owed' in 'target'"):
        run("owed", "target")
    with pytest.raises(ValueError, match="no fault"):
        run("rusty", "drafter")


def test_a_drafter_at_its_end_drafts_no_more_and_the_text_stays() -> None:
    for context in (1, 8, 15, 32):
        case = run_short(context, seed=2)
        assert case.broken.text == oracle(2, 32)
        for r in case.broken.rounds:
            assert len(r.drafted) == min(4, max(0, context + 1 - r.start))
    long = run_short(99, seed=2)
    assert steps(long.broken) == steps(long.right)


@pytest.mark.parametrize(("fault", "place"), FAULTY)
@pytest.mark.parametrize("sampling", [None, SOFT], ids=["greedy", "sampling"])
def test_other_models_fall_apart_too(fault: str, place: str, sampling) -> None:
    """Models of hashed prefixes; with the same seed a right run repeats itself."""
    target = random_model(9, seed=2)
    small = drafting(target, error=0.3)
    broken = {place: Broken(small if place == "drafter" else target, fault)}
    options = {"k": 3, "n": 40, "sampling": sampling, "rng": 5}
    right = run_rounds(target, small, [1, 2, 3], **options)
    drafter = drafters.ModelDrafter(broken.get("drafter", small).scorer(), 9)
    wrong = run_rounds(broken.get("target", target).scorer(), drafter, [1, 2, 3], **options)
    accepted = [sum(r.accepted for r in rounds) for rounds in (right, wrong)]
    if place == "target" or sampling:
        assert ids_of(wrong) != ids_of(right)
    else:
        assert ids_of(wrong) == ids_of(right) == plain_ids(target, [1, 2, 3], 40)
        assert accepted[1] < accepted[0]


def test_the_engine_knows_none_of_them() -> None:
    for module in (decode, drafters):
        assert "specdec.lab" not in Path(module.__file__).read_text(encoding="utf-8")
        names = {kind.__name__ for kind in FAULTS.values()} | {"Broken", "TooShort"}
        assert not names & set(vars(module))
    assert broken_caches.__name__ == "specdec.lab.broken_caches"


@pytest.mark.model
@pytest.mark.parametrize(("fault", "place"), FAULTY)
def test_the_default_pair_falls_apart_too(default_pair, fault: str, place: str) -> None:
    field = {"target": "target", "drafter": "draft"}[place]
    broken = replace(default_pair, **{field: Broken(getattr(default_pair, field), fault)})
    prompt, options = "Write a Python function that adds two numbers.", {"max_new_tokens": 48}
    alone = plain(default_pair, prompt, tops=0, rows=8, **options)
    right, wrong = (
        generate(pair, prompt, k=4, tops=0, rows=8, **options) for pair in (default_pair, broken)
    )
    assert right.token_ids == alone.token_ids
    assert (wrong.token_ids == alone.token_ids) is (place == "drafter")
    if place == "drafter":
        assert wrong.alpha < right.alpha
