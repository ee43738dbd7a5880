"""The code drill: right lines pass all cases; every wrong one fails where it says, exactly."""

from __future__ import annotations

from fractions import Fraction

import pytest

from specdec import code_drill, drill_speed, lab, rule
from specdec.lab import cases, unfold
from specdec.lab.listings import LISTINGS, RIGHT
from specdec.lab.unfold import NOTHING, law_of

pytestmark = pytest.mark.long

LINES = [
    (listing, blank, line)
    for listing in LISTINGS
    for blank, lines in listing.blanks.items()
    for line in lines
]
WRONG = [(listing, blank, line) for listing, blank, line in LINES if line.name != RIGHT]


def name(x) -> str:
    return x if isinstance(x, str) else x.name


def found(listing, blank, line):
    return {o.case.name: o for o in code_drill.outcomes(listing, blank, line)}


@pytest.mark.parametrize("listing", LISTINGS, ids=name)
def test_the_right_lines_pass_all_cases(listing):
    for blank in listing.blanks:
        for outcome in code_drill.outcomes(listing.name, blank, RIGHT):
            assert outcome.ok and not outcome.error and outcome.bias == 0
            assert sum(outcome.got.values()) == 1 and outcome.passes == outcome.needed


@pytest.mark.parametrize(("listing", "blank", "line"), WRONG, ids=name)
def test_a_wrong_line_fails_on_the_case_that_it_names(listing, blank, line):
    outcomes = code_drill.outcomes(listing.name, blank, line.name)
    shown = code_drill.case_of(line, outcomes)
    assert shown.case.name == line.fails and not shown.ok
    assert shown.error or shown.bias > 0 or shown.passes > shown.needed


@pytest.mark.parametrize("listing", LISTINGS, ids=name)
def test_every_blank_has_one_right_line_and_no_line_twice(listing):
    for lines in listing.blanks.values():
        assert [line.name for line in lines].count(RIGHT) == 1 and lines[0].name == RIGHT
        assert len({line.code for line in lines}) == len(lines) >= 4
        assert all(bool(line.fails) == (line.name != RIGHT) for line in lines)


def test_some_wrong_lines_look_right_in_some_case():
    """Why a test of one case proves little."""
    lucky = [
        (listing.name, blank, line.name)
        for listing, blank, line in WRONG
        if any(o.ok for o in code_drill.outcomes(listing.name, blank, line.name))
    ]
    assert len(lucky) > len(WRONG) // 2


@pytest.mark.parametrize(
    ("blank", "line", "wrong_rule"),
    [("left", "whole", "from p"), ("left", "mask", "only x"), ("test", "hard", "p ≥ q"),
     ("draft", "likeliest", "soft q")],
)  # fmt: skip
def test_the_bias_is_the_labs_exact_limit(blank, line, wrong_rule):
    outcome = found("sampling", blank, line)["apart"]
    tokens = list(outcome.case.target([]))
    p, q = (
        lab.exact_law(list(m([]).values())) for m in (outcome.case.target, outcome.case.drafter)
    )
    limit = lab.limit(lab.by_name(wrong_rule), p, q)
    assert {(x,): mass for x, mass in zip(tokens, limit) if mass} == outcome.got
    assert outcome.bias == lab.variation(limit, p)


def test_one_position_of_the_article_comes_out_as_the_target_s_law():
    outcome = found("sampling", "draft", RIGHT)["apart"]
    p, q = outcome.case.target([]), outcome.case.drafter([])
    assert {text[0]: mass for text, mass in outcome.got.items()} == p
    assert rule.output_distribution(p, q) == p


def test_without_its_own_token_a_round_of_sure_guesses_takes_more_passes():
    outcome = found("sampling", "bonus", "none")["same"]
    assert outcome.bias == 0 and (outcome.passes, outcome.needed) == (2, 1)


def test_the_mean_number_of_passes_fits_the_formula():
    """Passes × tokens a pass is what is written: n words, and at most k beyond them (Wald)."""
    p, q = {"a": Fraction(3, 4), "b": Fraction(1, 4)}, {"a": Fraction(1, 2), "b": Fraction(1, 2)}
    for n, k in ((1, 3), (4, 2), (5, 1)):
        case = cases.Case("x", lambda text: p, lambda text: q, n=n, k=k)
        written = cases.needed(case) * drill_speed.per_pass(rule.overlap(p, q), k)
        assert n <= written <= n + k


def test_a_case_shows_where_its_models_part():
    known = {c.name: cases.models(c) for each in code_drill.CASES.values() for c in each}
    assert ("rain", "fell") in [row[0] for row in known["partly"] if row[1] != row[2]]
    assert ("rain", "fell", "in") in [row[0] for row in known["partly"] if row[1] == row[2]]
    assert all(row[1] == row[2] for name in ("always", "same") for row in known[name])
    assert all(row[1] != row[2] for name in ("never", "apart", "row") for row in known[name])
    assert len(known["apart"]) == 1 and len(known["row"]) == 3


def test_a_pass_too_many_is_counted_however_it_is_called():
    assert found("greedy", "verify", "many")["always"].passes == 10
    assert found("sampling", "draft", "of_p")["same"].passes > 1


def test_a_program_that_writes_nothing_is_stopped():
    assert found("greedy", "write", "none")["never"].error == "stuck"


def test_a_seed_shuffles_the_lines_and_a_step_goes_through_all_blanks():
    steps = [code_drill.blank(0, step) for step in range(code_drill.COUNT)]
    assert [(b.listing.name, b.name) for b in steps] == [
        (listing.name, blank) for listing in LISTINGS for blank in listing.blanks
    ]
    assert code_drill.blank(0, code_drill.COUNT) == steps[0]
    assert len({code_drill.blank(seed, 0).lines for seed in range(20)}) > 5
    firsts = [code_drill.blank(seed, 3).lines[0].name for seed in range(40)]
    assert 0 < firsts.count(RIGHT) < 40


@pytest.mark.parametrize("text", ["import os", "right\n", "", "__import__('os').getpid()"])
def test_a_line_that_is_not_ours_is_never_run(text):
    with pytest.raises(ValueError, match="has no line"):
        code_drill.outcomes("greedy", "draft", text)


def test_a_law_of_draws_is_exact_and_what_is_missing_is_nothing():
    half = Fraction(1, 2)
    assert law_of(lambda d: d.draw({"a": half})) == {"a": half, NOTHING: half}
    assert law_of(lambda d: d.draw({"a": 1, "b": 1})) == {"a": 1}
    assert law_of(lambda d: (d.chance(2), d.chance(-1))) == {(True, False): 1}
    two = law_of(lambda d: d.draw({"a": half, "b": half}) + d.draw({"a": half, "b": half}))
    assert two == dict.fromkeys(("aa", "ab", "ba", "bb"), Fraction(1, 4))


def test_a_program_without_end_is_refused(monkeypatch):
    monkeypatch.setattr(unfold, "MOST", 50)
    with pytest.raises(ValueError, match="more than 50 ways"):
        law_of(lambda d: tuple(d.chance(Fraction(1, 2)) for _ in range(6)))
