"""Page 7: opens on a recorded measurement, follows its controls and links, never shows nonsense."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from machines import by_hand, measured, run

from specdec import theory
from specdec.ui import machine_words as words
from specdec.ui.machine import LAST, STEADY, recorded, unsteady
from specdec.waterfall import measured as speedup
from specdec.waterfall import predicted, waterfall

pytestmark = pytest.mark.long

PAGE = "pages/7_machine.py"
STEPS = [(4, 2, 1, 3), (4, 4, 0, 5)]


def texts(at):
    return "\n".join(m.value for m in [*at.markdown, *at.caption, *at.info, *at.error])


def traces(at, place):
    return json.loads(at.get("plotly_chart")[place].proto.spec)["data"]


def test_opens_on_a_recorded_measurement_that_says_so(app):
    at = app(PAGE)
    assert not at.exception
    source = recorded().source
    assert source.kind == "recorded"
    assert f"Recorded on {source.when} · {source.machine}" in texts(at)


def test_the_dot_is_the_measured_run(app):
    at = app(PAGE)
    [timed] = [r for r in recorded().of("model") if r.k == 4]
    [dot] = [t for t in traces(at, 0) if t.get("name") == "measured: the dot"]
    least, middle, most = speedup(recorded(), timed)
    assert (dot["x"], dot["y"]) == ([4], pytest.approx([middle]))
    assert dot["error_y"]["array"] == pytest.approx([most - middle])
    assert dot["error_y"]["arrayminus"] == pytest.approx([middle - least])


def test_the_waterfall_on_screen_adds_up(app):
    at = app(PAGE, drafter="model", k="8")
    [bars] = traces(at, 1)
    [timed] = [r for r in recorded().of("model") if r.k == 8]
    assert bars["x"][0] == pytest.approx(theory.tokens_per_pass(timed.alpha, 8))
    assert sum(bars["x"]) == pytest.approx(speedup(recorded(), timed)[1])


def test_published_figures_are_marked_as_published(app):
    at = app(PAGE)
    names = [t.get("name") for t in traces(at, 3)]
    assert {"published: EAGLE", "published: EAGLE-3"} <= set(names)
    assert "as reported" in texts(at) and "**published** figures, not this machine's" in texts(at)


@pytest.mark.parametrize("guess", words.GUESSES)
def test_the_guess_is_answered_with_the_clock_s_number(app, guess):
    at = app(PAGE)
    at.radio(key="guess").set_value(guess).run()
    [timed] = [r for r in recorded().of("model") if r.k == 4]
    right, said = words.answer(recorded(), timed, guess)
    assert said in texts(at) and ("✓ Right" in texts(at)) is right


def test_a_guess_is_right_at_the_edges():
    for speed, right in ((0.5, 0), (1.0, 1), (1.5, 2)):
        timed = run("lookup", 4, STEPS, (1.0, 1.0))
        found = by_hand(timed)
        promised, now = words.ideal(found, timed), speedup(found, timed)[1]
        factor = now / (promised * speed)
        slowed = replace(timed, seconds=((factor, factor),))
        found = by_hand(slowed)
        assert [words.answer(found, slowed, g)[0] for g in words.GUESSES] == [
            i == right for i in range(3)
        ]


def test_a_link_opens_exactly_this(app):
    at = app(PAGE, drafter="lookup", batch="8", prompt="copy", link="1")
    assert at.radio(key="machine drafter").value == "lookup"
    assert at.select_slider(key="machine batch").value == 8
    assert at.selectbox(key="machine prompt").value == "copy"
    assert "**B = 8" in texts(at)
    link = "machine?drafter=lookup&k=4&batch=8&prompt=copy&link=1"
    assert any(link in code.value for code in at.code)


@pytest.mark.parametrize(
    "params",
    [
        {"k": "x", "drafter": "<b>", "batch": "nan", "prompt": "](x)"},
        {"k": "-9", "batch": "1e9", "prompt": "", "drafter": ""},
        {"k": "24", "batch": "63", "drafter": "lookup", "link": "7"},
    ],
)
def test_nonsense_in_a_link_is_mended_and_said(app, params):
    at = app(PAGE, **params)
    assert not at.exception
    assert at.info
    assert "<b>" not in texts(at) and "](x)" not in texts(at)


def test_a_measurement_of_this_visit_is_drawn_and_remembered_for_page_4(app):
    found = measured()
    at = app(PAGE)
    at.session_state[LAST] = found
    at.run()
    assert not at.exception
    assert "Measured in this visit · a test" in texts(at)
    labels = [m.label for m in at.session_state["measured"]]
    assert "this machine: small model, k = 4" in labels
    at.switch_page("pages/4_speedup.py").run()
    assert not at.exception


def test_a_run_in_which_nothing_was_judged_is_no_fault(app):
    timed = run("lookup", 4, [(0, 0, 0, 1)] * 4, (1.0,) * 4, bare=(4.0,))
    at = app(PAGE)
    at.session_state[LAST] = by_hand(timed)
    at.run()
    assert not at.exception
    assert "Nothing was judged in this run." in texts(at)
    assert "proposed nothing that was judged" in texts(at)


def test_another_machine_s_file_stands_beside_this_one(app):
    at = app(PAGE)
    text = measured().to_json().encode()
    at.file_uploader(key="machine file").set_value(("other.json", text, "")).run()
    assert not at.exception
    table = at.table[-1].value
    assert list(table.columns)[1:] == ["this one", "your file"]
    assert "a test" in table["your file"].iloc[0]


@pytest.mark.parametrize("data", [b"", b"{}", b"\xff\x00", b'{"schema": 1, "![x](y)": 1}', b"[1]"])
def test_a_bad_file_is_refused_in_a_sentence(app, data):
    at = app(PAGE)
    at.file_uploader(key="machine file").set_value(("**a**.json", data, "")).run()
    assert not at.exception
    assert "was not opened" in at.error[0].value
    assert "**a**" not in at.error[0].value and "![x](y)" not in at.error[0].value


def test_a_busy_machine_is_told_from_a_quiet_one():
    timed = run("model", 4, STEPS, (2.0, 2.0))
    found = by_hand(timed)
    assert unsteady(found) == ""
    for factor, said in ((STEADY - 0.01, False), (STEADY + 0.01, True)):
        rows = (1.0,) * 4, (factor,) * 4
        plain = replace(found.plain, seconds=rows, bare=(4.0, 4.0))
        assert bool(unsteady(replace(found, runs=(plain, timed)))) is said


def slow(bad):
    """A machine on which verifying costs by the token, or nothing."""
    timed = run("model", 4, STEPS, (2.0, 2.0) if not bad else (9.0, 9.0), bare=(3.0,))
    return by_hand(timed, seconds=(1.0, 2.0, 5.0, 17.0) if bad else (1.0, 1.0, 1.0, 1.0)), timed


def test_the_verdict_names_causes_and_a_k():
    found, timed = slow(bad=True)
    said = words.verdict(found, timed)
    assert said.startswith("**▼ Don't speculate here**") and "verifying takes" in said
    found, timed = slow(bad=False)
    said = words.verdict(found, timed)
    assert said.startswith("**▲ Speculate:**") and "**k = " in said


def test_every_number_of_the_tables_comes_from_the_measurement():
    found, timed = slow(bad=False)
    rows = words.bars(waterfall(found, timed))
    changes = [float(row["change"]) for row in rows[1:]]
    assert waterfall(found, timed).start + sum(changes) == pytest.approx(
        speedup(found, timed)[1], abs=0.005
    )
    assert f"{predicted(found, timed):.2f}×" in words.figures(found, timed)[1][1]
