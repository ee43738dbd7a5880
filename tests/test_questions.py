"""The interview's questions: complete, their numbers computed, every number accounted for."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from specdec.language import text
from specdec.published import Printed
from specdec.questions import DEPTHS, TOPICS, find, questions
from specdec.stated import Stated

QUESTIONS = questions()
DECIMAL = re.compile(r"\d+\.\d+|\d+(?= ?(?:%|×))")
CHECKS = [(question, check) for question in QUESTIONS for check in question.checks]


def said(question) -> str:
    return " ".join(
        (question.ask, *map(question.answer, DEPTHS), question.wrong, question.why, question.see)
    )


def test_the_names_tell_questions_apart():
    assert all(n == 1 for n in Counter(question.name for question in QUESTIONS).values())
    assert all(re.fullmatch(r"[a-z0-9-]{1,40}", question.name) for question in QUESTIONS)


def test_the_three_questions_of_the_article_come_first():
    assert [question.name for question in QUESTIONS[:3]] == ["latency", "levers", "cost"]


def test_every_topic_and_depth_has_a_title():
    words = text("interview")
    assert tuple(words["topics"]) == TOPICS and tuple(words["depths"]) == DEPTHS
    assert {question.topic for question in QUESTIONS} == set(TOPICS)


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question.name)
def test_the_answers_go_deeper(question):
    line, middle, senior = map(question.answer, DEPTHS)
    assert all((question.ask, line, middle, senior, question.wrong, question.why, question.see))
    assert question.ask.endswith(("?", "."))
    assert len(line) < len(middle) and len(line) < len(senior)
    assert len(line.split()) <= 45  # one line, spoken


@pytest.mark.parametrize(
    ("question", "check"), CHECKS, ids=lambda x: getattr(x, "name", None) or x.value
)
def test_a_stated_number_is_what_the_closed_form_gives(question, check):
    assert check.holds(), f"{check.f}{check.arguments} is {check.result()}, not {check.value}"
    assert check.value.replace("%", " %") in said(question)


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question.name)
def test_no_number_of_an_answer_is_unaccounted_for(question):
    """Each is computed by a check, or one of its arguments, or declared as a fact or example."""
    stated = {check.value.rstrip("%") for check in question.checks} | set(question.given)
    for check in question.checks:
        for value in check.arguments.values():
            values = value if isinstance(value, tuple) else (value,)
            stated |= {f"{x:g}" for x in values if not isinstance(x, str)}
    found = set(DECIMAL.findall(said(question)))
    assert found <= stated, f"not accounted for: {sorted(found - stated)}"
    assert all(number in said(question) for number in question.given)


def test_a_wrong_statement_is_found():
    assert not Stated("speedup", "2.81", alpha=0.8, k=4, c=0.05).holds()
    assert not Stated("best_k", "7", alpha=0.8, c=0.05).holds()
    assert not Stated("mean_of", "38.7%", rates=(0.543, 0.357, 0.264)).holds()


def test_a_statement_rests_on_the_digits_that_it_prints():
    assert Printed("2.80").stands_for(2.8013) and not Printed("2.800").stands_for(2.8013)


def test_a_search_finds_all_words_in_any_case_and_keeps_the_order():
    assert find() == QUESTIONS
    names = [question.name for question in find("KV Cache QUANTIZATION")]
    assert "levers" in names and names == [q.name for q in QUESTIONS if q.name in names]
    assert not find("no such words anywhere")
    assert {question.topic for question in find("", "cache")} == {"cache"}
