"""Page 9's practices: predict, numbers and code, from their links, to every right and wrong end."""

from __future__ import annotations

import re
from urllib.parse import parse_qs, urlsplit

import pytest

from specdec import code_drill, drill, predict
from specdec.drill_exercise import show
from specdec.lab.listings import LISTINGS, RIGHT
from specdec.language import text
from specdec.ui import query, stage
from specdec.ui.interview.predict import stage_link
from tests import stage_node

pytestmark = pytest.mark.long

PAGE = "pages/9_interview.py"
PRACTICES = ("predict", "numbers", "code")


def said(at) -> str:
    every = [*at.main.markdown, *at.main.caption, *at.main.error, *at.main.warning]
    return "\n".join(element.value for element in every)


def press(at, label: str):
    [button] = [b for b in at.main.button if b.label == label]
    return button.click().run()


def link_of(at) -> dict[str, str]:
    [link] = [code.value for code in at.code if "interview?" in code.value]
    return {name: values[0] for name, values in parse_qs(urlsplit(link).query).items()}


@pytest.fixture
def part(app):
    def visit(name: str, **state: object):
        at = app(PAGE, part=name, **{key: str(value) for key, value in state.items()})
        assert not at.exception, at.exception
        return at

    return visit


# All three.


@pytest.mark.parametrize("name", PRACTICES)
def test_a_shared_link_opens_the_same_task_again(part, name):
    at = press(press(part(name, seed=5, step=3), text("practice")["next"]), "Another series")
    at = press(at, text("practice")["next"])
    state = link_of(at)
    assert (state["seed"], state["step"]) == ("6", "1")
    again = part(name, **{key: value for key, value in state.items() if key != "part"})
    assert not again.main.info and link_of(again) == state
    assert [m.value for m in again.main.markdown] == [m.value for m in at.main.markdown]


@pytest.mark.parametrize("name", PRACTICES)
def test_nonsense_in_a_link_is_mended_and_said(part, name):
    evil = dict.fromkeys(query.KEYS, "![x](https://example.org)") | {"part": name}
    at = part(**({"name": name} | {key: x for key, x in evil.items() if key != "part"}))
    assert at.main.info and "example.org" not in said(at)


def test_every_word_of_the_practices_is_there_and_no_more():
    asks, slips = text("drill")["ask"], text("drill")["slips"]
    found: dict[str, set[str]] = {}
    for step in range(len(drill.KINDS) * 25):
        asked = drill.exercise(step, step)
        assert "{" not in asks[asked.kind].format(**asked.given)
        found.setdefault(asked.kind, set()).update(asked.slips)
    assert set(asks) == set(drill.KINDS)
    assert found == {kind: set(slips.get(kind, ())) for kind in drill.KINDS}
    why, cases = text("code_drill")["why"], text("code_drill")["cases"]
    assert {each.name for each in LISTINGS} == set(why)
    for each in LISTINGS:
        assert {b: {x.name for x in lines} for b, lines in each.blanks.items()} == {
            b: set(sentences) for b, sentences in why[each.name].items()
        }
    known = {case.name for cases_of in code_drill.CASES.values() for case in cases_of}
    assert known == set(cases)
    assert set(text("code_drill")["errors"]) == set(code_drill.ERRORS.values())


# Predict.


@pytest.mark.parametrize("step", [0, 1, 2])
@pytest.mark.parametrize("hint", predict.HINTS)
def test_the_right_prediction_is_right_and_a_wrong_one_is_not(part, step, hint):
    asked = predict.question(4, step, hint)
    for choice in (asked.right, (asked.right + 1) % len(asked.choices)):
        at = part("predict", seed=4, step=step, hint=hint)
        [radio] = [r for r in at.radio if r.label == text("predict")["choice"]]
        assert radio.value is None and text("practice")["right"] not in said(at)
        at.slider[0].set_value(90)
        radio.set_value(choice)
        press(at, text("predict")["answer"])
        assert not at.exception
        right = choice == asked.right
        assert (text("practice")["right"] in said(at)) == right
        assert (text("practice")["wrong"] in said(at)) != right
        assert f"**{int(right)} of 1**" in said(at)
        assert f"**{0.01 if right else 0.81:.3f}**" in said(at)
        assert len(at.get("plotly_chart")) == 1


def test_a_prediction_without_a_choice_is_asked_for(part):
    at = press(part("predict"), text("predict")["answer"])
    assert [w.value for w in at.warning] == [text("predict")["choose"]]


def test_answers_stay_when_the_reader_goes_on_and_can_be_forgotten(part):
    at = part("predict", seed=2)
    for _ in range(3):
        [radio] = [r for r in at.radio if r.label == text("predict")["choice"]]
        radio.set_value(0)
        press(press(at, text("predict")["answer"]), text("practice")["next"])
    assert re.search(r"\*\*\d of 3\*\*", said(at))
    press(at, text("practice")["back"])
    assert not [r for r in at.radio if r.label == text("predict")["choice"]]  # answered
    press(at, text("predict")["forget"])
    assert " of 3**" not in said(at) and not at.get("plotly_chart")


@pytest.mark.parametrize("kind", predict.KINDS)
def test_the_stage_opens_where_the_answer_is(node, kind):
    js = stage_node.runner(node)
    for step in range(predict.KINDS.index(kind), 45, 3):
        asked = predict.question(1, step)
        state, trace = stage_link(asked), asked.place.trace
        assert query.read(query.write(**state), *state).notes == ()
        place = stage.Position(state["round"], state["step"])
        assert stage.clamp(trace, {"round": place.round, "step": place.step}) == place
        plan = js(
            "return stage.stepsOf(input.run.rounds[input.round])",
            run=stage.wire(trace),
            round=asked.place.round,
        )
        if kind == "judge":
            assert plan[state["step"]] == {"phase": "accept", "i": asked.place.token}
        else:
            assert plan[state["step"]]["phase"] == "write"


@pytest.mark.parametrize("way", ["model", "sampled", "lookup"])
def test_the_live_page_shows_the_run_of_the_question(app, way):
    places = [p for kind in predict.KINDS for p in predict.pool(kind) if p.way == way]
    asked = predict._judge(next(p for p in places if p.round > 2), "")
    at = app("pages/5_live.py", **query.write(**stage_link(asked)))
    assert not at.exception and not at.main.info
    assert at.session_state["live preset"] == asked.place.preset
    assert not any("own settings" in c.value for c in at.caption)  # they are those of the link


# Numbers.


def answer(at, typed: str):
    at.text_input[0].set_value(typed)
    return press(at, text("drill")["check"])


@pytest.mark.parametrize("step", range(len(drill.KINDS)))
def test_the_exact_answer_is_right_and_its_way_is_shown(part, step):
    asked = drill.exercise(3, step)
    at = answer(part("numbers", seed=3, step=step), str(asked.answer.limit_denominator(10**5)))
    assert text("practice")["right"] in said(at) and "first try: 1 of 1" in said(at)
    assert [f"$$\n{x}\n$$" for x in asked.steps] == [x.value for x in at.latex]


@pytest.mark.parametrize("step", range(len(drill.KINDS)))
def test_a_slip_is_told_from_the_answer(part, step):
    asked = drill.exercise(3, step)
    for name, slip in list(asked.slips.items())[:1]:
        at = answer(part("numbers", seed=3, step=step), str(slip.limit_denominator(10**5)))
        assert text("drill")["slips"][asked.kind][name] in said(at)
        assert text("practice")["wrong"] in said(at) and "first try: 0 of 1" in said(at)


def test_nonsense_is_a_sentence_and_no_try(part):
    at = answer(part("numbers"), "__import__('os')")
    assert not at.exception and len(at.error) == 1 and "is no number" in at.error[0].value
    assert "first try" not in said(at)


def test_what_was_typed_is_said_back_as_text_not_as_markdown(part):
    [error] = answer(part("numbers"), "$x$ ![](a)").error
    assert r"\$x\$ \!\[\]\(a\)" in error.value


def test_a_second_try_does_not_count_as_the_first(part):
    asked = drill.exercise(0, 0)
    at = answer(answer(part("numbers"), "99"), show(asked.answer))
    assert text("practice")["right"] in said(at) and "first try: 0 of 1" in said(at)


# Code.


@pytest.mark.parametrize("step", range(code_drill.COUNT))
def test_every_line_says_what_it_does(part, step):
    blank, why = code_drill.blank(0, step), text("code_drill")["why"]
    at = part("code", step=step)
    [radio] = list(at.main.radio)
    assert radio.value is None and "# blank" in at.main.code[0].value
    for i, line in enumerate(blank.lines):
        at.main.radio[0].set_value(i).run()
        assert not at.exception
        assert why[blank.listing.name][blank.name][line.name] in said(at)
        assert line.code in at.main.code[0].value
        assert (text("practice")["right"] in said(at)) == (line.name == RIGHT)
        assert link_of(at)["pick"] == str(i + 1)


def test_a_link_shows_a_line_that_nobody_picked_and_counts_nothing(part):
    at = part("code", step=1, pick=2)
    assert code_drill.blank(0, 1).lines[1].code in at.main.code[0].value
    assert "first try" not in said(at)
    at.main.radio[0].set_value(0).run()
    assert "first try" in said(at)


def test_a_found_line_stands_in_the_program_of_the_next_blank(part):
    at, first = part("code"), code_drill.blank(0, 0)
    right = [line.name for line in first.lines].index(RIGHT)
    at.main.radio[0].set_value(right).run()
    press(at, text("practice")["next"])
    assert first.lines[right].code in at.main.code[0].value
    assert text("code_drill")["asked"] in at.main.code[0].value
