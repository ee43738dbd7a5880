"""Page 4 without a browser: links, presets, words and numbers."""

from __future__ import annotations

import json
import re
from dataclasses import asdict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specdec import theory
from specdec.ui import speedup, speedup_costs
from specdec.ui.live_curve import Point
from specdec.ui.measured import Measured

PAGE = "pages/4_speedup.py"
POINTS = st.builds(
    Point,
    st.integers(0, 24),
    st.sampled_from([0.0, 0.2, 0.5, 0.8, 1.0]) | st.floats(0, 1),
    st.sampled_from([0.0, 0.05, 0.5, 1.0]) | st.floats(0, 1),
    st.sampled_from([0.0, 0.5]) | st.floats(0, 0.5),
)


def curve(at) -> dict:
    """What the page sent to the curve."""
    sent = [json.loads(mounted.proto.json) for mounted in at.get("bidi_component")]
    return next(data for data in sent if "kMax" in data)


def texts(at) -> str:
    return "\n".join(element.value for element in [*at.markdown, *at.info, *at.caption])


def test_it_opens_on_the_article_s_good_drafter(app):
    at = app(PAGE)
    assert not at.exception
    assert curve(at)["point"] == {"k": 4, "alpha": 0.8, "c": 0.05, "v": 0.0}
    assert not at.info
    assert "2.80×" in texts(at)
    assert dict(at.query_params) == {}  # Back must leave the page, not return to it


def test_a_link_sets_the_sliders(app):
    at = app(PAGE, k="6", alpha="0.7", link="1")
    assert not at.exception
    assert curve(at)["point"] == {"k": 6, "alpha": 0.7, "c": 0.05, "v": 0.0}
    assert not at.info


@pytest.mark.parametrize(
    "text", ["999", "-5", "nan", "1e400", "<script>alert(1)</script>", "", "k"]
)
def test_nonsense_in_a_link_becomes_a_value_in_range_and_a_sentence(app, text):
    at = app(PAGE, k=text, alpha=text, c=text, v=text, link="1")
    assert not at.exception
    point = Point(**curve(at)["point"])
    assert 0 <= point.k <= 24
    assert 0 <= point.alpha <= 1
    assert "here." in at.info[0].value
    assert "script" not in at.info[0].value


@pytest.mark.parametrize(
    ("name", "yields", "speed"),
    [
        ("Weak drafter", "1.25", "1.04"),
        ("Good and cheap", "3.36", "2.80"),
        ("Accurate but slow", "4.52", "1.51"),
    ],
)
def test_the_article_s_examples_are_presets(app, name, yields, speed):
    at = app(PAGE, k="9", alpha="0.33", c="0.2", v="0.1", link="1")
    before = curve(at)["revision"]
    at.button(key=f"preset {name}").click().run()
    assert not at.exception
    point = speedup.PRESETS[name]
    assert curve(at)["point"] == asdict(point)
    assert curve(at)["revision"] > before  # or the browser would keep its own
    assert f"{theory.tokens_per_pass(point.alpha, point.k):.2f}" == yields
    assert any(rf"\mathbf{{{speed}}}" in step.value for step in at.latex)
    shown = {name: at.query_params[name] for name in ("k", "alpha", "c", "v", "link")}
    expected = {"k": "4", "alpha": f"{point.alpha:g}", "c": f"{point.c:g}", "v": "0", "link": "1"}
    assert shown == expected


def test_a_preset_after_a_move_and_then_the_address_again(app):
    """Back to an older address must win over what the page remembers."""
    at = app(PAGE, k="6", alpha="0.7", link="1")
    at.button(key="preset Weak drafter").click().run()
    at.query_params["k"], at.query_params["alpha"] = "6", "0.7"
    at.run()
    assert curve(at)["point"] == {"k": 6, "alpha": 0.7, "c": 0.05, "v": 0.0}


def test_the_point_survives_a_visit_to_another_page(app):
    at = app(PAGE, k="6", alpha="0.7", link="1")
    at.query_params.clear()
    at.switch_page("app.py").run()
    at.switch_page(PAGE).run()
    assert curve(at)["point"]["k"] == 6


@pytest.mark.parametrize(("guess", "right"), list(zip(speedup.GUESSES, [False, False, True])))
def test_the_guess_is_answered_with_computed_numbers(app, guess, right):
    at = app(PAGE)
    assert "2.72×" not in texts(at)
    at.radio(key="guess").set_value(guess).run()
    assert not at.exception
    assert ("✓ Right" in texts(at)) is right
    assert "With 16 it is 2.72×, with 4 2.80×, and the best is k = 8 with 3.09×." in texts(at)
    next(button for button in at.button if button.label == "Show k = 16 on the curve").click().run()
    assert curve(at)["point"] == {"k": 16, "alpha": 0.8, "c": 0.05, "v": 0.0}


def test_a_measured_run_is_on_the_curve_and_in_the_table(app):
    at = app(PAGE)
    run = Measured("small model, 64 tokens", 3, 0.62, 0.11, 0.04, 1.55)
    at.session_state["measured"] = [run]
    at.run()
    assert curve(at)["measured"] == [asdict(run)]
    predicted = f"{theory.speedup(0.62, 3, 0.11, 0.04):.2f}×"
    runs = next(t.value for t in at.table if "measured" in t.value)
    assert list(runs.iloc[0]) == [
        run.label, "3", "0.620", "0.110", "0.040", predicted, "1.55×",
    ]  # fmt: skip
    at.button(key=f"go “{run.label}”").click().run()
    assert not at.exception
    assert curve(at)["point"] == {"k": 3, "alpha": 0.62, "c": 0.11, "v": 0.04}


def test_the_shared_link_holds_every_setting(app):
    at = app(PAGE, k="6", alpha="0.7", link="1")
    assert any("speedup?k=6&alpha=0.7&c=0.05&v=0&link=1" in code.value for code in at.code)


@pytest.mark.parametrize(
    ("point", "start"),
    [
        (Point(4, 0.2, 0.3, 0.0), "**▼ Do not speculate:** α ≤ c + v (0.2 ≤ 0.3)"),
        (Point(4, 0.5, 0.3, 0.2), "**▼ Do not speculate:** α ≤ c + v (0.5 ≤ 0.5)"),
        (Point(0, 0.8, 0.05), "**= Plain decoding:** nothing is drafted. The best is k = 8"),
        (Point(24, 0.4, 0.1), "**▼ Not with this k:** at k = 24"),
        (Point(8, 0.8, 0.05), "**▲ Speculate, with this k:** 3.09×"),
        (Point(4, 0.8, 0.05), "**▲ Speculate:** 2.80×. The best is k = 8, with 3.09×."),
        (Point(4, 0.8, 0.0), "**▲ Speculate:** 3.36×. Drafting costs nothing here"),
        (Point(4, 1.0, 0.1), "**▲ Speculate:** 3.57×. Every drafted token is accepted here"),
        (Point(4, 1.0, 0.0), "**▲ Speculate:** 5.00×. Every draft is free and accepted"),
        (Point(4, 0.95, 0.5), "**▲ Speculate:** 1.51×. k = 5 is best, but not by a hundredth."),
        (Point(4, 0.7, 0.5), "**▼ Not with this k:** at k = 4"),
    ],
)
def test_the_verdict_begins_with_the_answer(point, start):
    assert speedup.verdict(point).startswith(start)


@given(POINTS)
def test_the_verdict_agrees_with_the_numbers(point):
    words = speedup.verdict(point)
    now = theory.speedup(point.alpha, point.k, point.c, point.v)
    if words.startswith("**▲"):
        assert now > 1 - 1e-12
    if "no other k does better" in words:
        every = theory.speedup(point.alpha, range(65), point.c, point.v)
        assert now >= max(every) * (1 - 1e-12)
    if words.startswith("**▼ Do not"):
        assert all(theory.speedup(point.alpha, range(65), point.c, point.v) <= 1 + 1e-12)


@given(POINTS)
def test_the_worked_steps_end_in_the_formula_s_numbers(point):
    tokens, cost, speed, _ = (step.value for step in speedup.worked(point))
    exact = theory.tokens_per_pass(point.alpha, point.k)
    assert float(re.split("= ", tokens)[-1]) == pytest.approx(exact, rel=1e-3)
    last = re.search(r"= ([\d.]+)\\end", cost)
    assert float(last[1]) == pytest.approx(1 + point.k * (point.c + point.v), rel=1e-3)
    shown = theory.speedup(point.alpha, point.k, point.c, point.v)
    assert speed.endswith(rf"\mathbf{{{shown:.2f}}}")


def test_one_token_more_pays_exactly_below_the_best_k():
    signs = [speedup.worked(Point(k, 0.8, 0.05))[3].value for k in range(12)]
    assert [">" in sign for sign in signs] == [k < 8 for k in range(12)]
    assert "=" in speedup.worked(Point(1, 0.5, 0.2))[3].value.split(r"\;")[1]  # an exact tie


@given(POINTS)
def test_costs_add_up(point):
    target, drafter, waste = (float(figure.value) for figure in speedup_costs.costs(point)[:3])
    written = 100 - target  # all but one token of every pass are kept drafts
    assert drafter == pytest.approx(target * point.k, abs=0.05 * (point.k + 1))
    assert drafter - waste == pytest.approx(written, abs=0.2)


@pytest.mark.parametrize(
    "sent", [{}, {"k": None}, {"k": 7, "alpha": "x", "c": [1], "v": -4}, {"k": 1e9, "alpha": 9}]
)
def test_what_the_browser_sends_is_checked(sent):
    point, _ = Point.read(sent)
    assert 0 <= point.k <= 24
    assert 0 <= point.alpha <= 1
    assert 0 <= point.c <= 1
    assert 0 <= point.v <= 0.5
