"""The numbers drill: every exercise has the exact answer, whatever the seed, and says its slips."""

from __future__ import annotations

from fractions import Fraction
from math import ceil

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from specdec import drill, rule, theory
from specdec.drill_exercise import exercise, show, tex
from specdec.drill_speed import best, gain, per_pass

pytestmark = pytest.mark.long

seeds = st.integers(0, 2**32 - 1)
AT = {name: step for step, name in enumerate(drill.KINDS)}


def of(kind: str, seed: int):
    return drill.exercise(seed, AT[kind])


def numbers(asked) -> dict:
    return {name: drill.read(x) for name, x in asked.given.items() if name not in "pqx"}


def laws(asked):
    read = [dict(part.split(" ") for part in asked.given[n].split(", ")) for n in "pq"]
    p, q = ({x: Fraction(mass) for x, mass in law.items()} for law in read)
    assert sum(p.values()) == sum(q.values()) == 1
    return p, q, asked.given.get("x")


@given(seeds)
def test_speeds_are_those_of_theory(seed):
    for kind in ("tokens", "speedup", "best_k", "draft_yield", "operations"):
        asked = of(kind, seed)
        n = {name: float(x) for name, x in numbers(asked).items()}
        expected = {
            "tokens": lambda alpha, k: theory.tokens_per_pass(alpha, k),
            "speedup": theory.speedup,
            "best_k": theory.best_k,
            "draft_yield": lambda alpha, k: (theory.tokens_per_pass(alpha, k) - 1) / k,
            "operations": lambda alpha, k, c: theory.operations_factor(alpha, k, c),
        }[kind](**n)
        assert float(asked.answer) == pytest.approx(expected, abs=1e-12), kind


@given(seeds)
def test_the_way_back_meets_the_way_there_exactly(seed):
    even, back = of("break_even", seed), of("alpha_back", seed)
    n = numbers(even)
    assert gain(even.answer, int(n["k"]), n["c"]) == 1
    assert theory.break_even_alpha(int(n["k"]), float(n["c"])) == pytest.approx(float(even.answer))
    n = numbers(back)
    assert per_pass(back.answer, int(n["k"])) == n["tokens"]
    found = theory.alpha_from_tokens_per_pass(float(n["tokens"]), int(n["k"]))
    assert found == pytest.approx(float(back.answer))


@given(seeds)
def test_logs_could_have_happened_and_are_read_rightly(seed):
    for kind in ("log_alpha", "log_yield", "log_tokens"):
        asked = of(kind, seed)
        n = {name: int(x) for name, x in numbers(asked).items()}
        whole = n["rounds"] - n["lost"]  # rounds that kept all k tokens
        assert whole * n["k"] <= n["kept"] <= whole * n["k"] + n["lost"] * (n["k"] - 1)
        assert (
            asked.answer
            == {
                "log_alpha": Fraction(n["kept"], n["kept"] + n["lost"]),
                "log_yield": Fraction(n["kept"], n["k"] * n["rounds"]),
                "log_tokens": Fraction(n["kept"] + n["rounds"], n["rounds"]),
            }[kind]
        )


LAWS = {
    "overlap": lambda p, q, x: rule.overlap(p, q),
    "keep": rule.acceptance,
    "residual": lambda p, q, x: rule.residual(p, q)[x],
    "written": lambda p, q, x: rule.output_distribution(p, q)[x],
}


@given(seeds)
def test_laws_follow_the_rule_in_fractions(seed):
    for kind, exact in LAWS.items():
        asked = of(kind, seed)
        assert asked.answer == exact(*laws(asked)), kind
        assert asked.tolerance == 0


@given(seeds)
def test_the_fewest_passes_are_those_of_a_drafter_that_is_always_right(seed):
    n = {name: int(x) for name, x in numbers(of("passes", seed)).items()}
    assert of("passes", seed).answer == ceil(n["n"] / (n["k"] + 1))


@given(seeds, st.integers(0, 10_000))
def test_the_answer_is_right_and_a_slip_is_wrong_and_named(seed, step):
    asked = drill.exercise(seed, step)
    assert asked.kind == list(drill.KINDS)[step % len(drill.KINDS)] and asked.steps
    assert asked == drill.exercise(seed, step)
    assert drill.check(asked, asked.answer) == drill.Checked(True)
    for name, slip in asked.slips.items():
        found = drill.check(asked, slip)
        assert not found.right and found.slip == name
    if asked.tolerance:  # two decimals are enough, three places off are not
        assert drill.check(asked, Fraction(f"{float(asked.answer):.2f}")).right
        assert not drill.check(asked, asked.answer + asked.tolerance * 2).right


@given(seeds)
def test_a_rounded_decimal_is_near_but_not_an_exact_fraction(seed):
    asked = of("residual", seed)
    rounded = Fraction(f"{float(asked.answer):.3f}")
    assert drill.check(asked, rounded).right == (rounded == asked.answer)
    assert drill.check(asked, rounded).near == (rounded != asked.answer)


@given(st.integers(1, 9), st.integers(1, 90))
def test_the_best_k_of_fractions_is_that_of_theory(tenths, hundredths):
    alpha, c = Fraction(tenths, 10), Fraction(hundredths, 100)
    assert best(alpha, c) == theory.best_k(float(alpha), float(c))
    gains = [gain(alpha, k, c) for k in range(best(alpha, c) + 3)]
    assert int(np.argmax(gains)) == best(alpha, c)


@pytest.mark.parametrize(
    ("typed", "value"),
    [("2.8", "14/5"), ("2,8", "14/5"), (" 7/3 ", "7/3"), ("2.8×", "14/5"), ("2.8 x", "14/5"),
     ("70 %", "7/10"), ("0", "0"), ("50", "50")],
)  # fmt: skip
def test_answers_are_read_as_people_type_them(typed, value):
    assert drill.read(typed) == Fraction(value)


@pytest.mark.parametrize(
    ("typed", "words"),
    [
        ("", "Nothing is written here"),
        ("much", "“much” is no number"),
        ("__import__('os')", "is no number"),
        ("9**9**9", "is no number"),
        ("1e9", "is no number"),
        ("1/0", "divides by 0"),
        ("-1", "No answer here is below 0"),
        ("9" * 5000, "more than 12 digits"),
    ],
)
def test_nonsense_gets_a_sentence(typed, words):
    with pytest.raises(ValueError, match=words):
        drill.read(typed)


def test_slips_that_cannot_be_told_apart_are_left_out():
    found = exercise("x", {}, 1, Fraction(1, 100), (), a=1, b=2, c=Fraction(201, 100))
    assert found.slips == {"b": 2}


def test_numbers_are_written_short_and_exact():
    assert [show(Fraction(n, 4)) for n in (1, 4, 10)] == ["0.25", "1", "2.5"]
    assert (show(Fraction(2, 3)), tex(Fraction(2, 3))) == ("2/3", r"\tfrac{2}{3}")
