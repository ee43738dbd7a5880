"""Page 9 without a browser: links that open, filters, the walkthrough, cards, minute and sheet."""

from __future__ import annotations

import json
from fractions import Fraction
from urllib.parse import parse_qsl, urlsplit

import pytest

from specdec import theory
from specdec.language import text
from specdec.questions import Show, find, questions
from specdec.ui import interview, query, shell
from specdec.ui.interview import board, cards, minute, sheet
from specdec.ui.interview.show import there

pytestmark = pytest.mark.long

PAGE = "pages/9_interview.py"
SHOWS = sorted(
    {q.show for q in questions()} | {step.show for step in board.all_steps()},
    key=lambda show: (show.address, show.state),
)
HERE = [show for show in SHOWS if there(show)]
DESIGNED = {"watch", "rule", "speedup", "live", "drafters", "machine", "pitfalls"}


def state(show: Show) -> str:
    return f"{show.address}?{show.state}"[:60]


def shared(at) -> dict[str, str]:
    """The keys of the page's link to exactly this."""
    links = [code.value for code in at.code if "link=1" in code.value]
    return dict(parse_qsl(urlsplit(links[-1]).query, keep_blank_values=True))


def mended(at) -> list[str]:
    return [box.value for box in at.info if box.icon == ":material/link:"]


def test_links_to_pages_not_there_yet_are_listed_and_left_out():
    missing = sorted({show.address for show in SHOWS if not there(show)})
    assert set(missing) <= DESIGNED - {page.address for page in shell.PAGES}
    assert {show.address for show in SHOWS} <= DESIGNED


@pytest.mark.parametrize("show", SHOWS, ids=state)
def test_the_keys_of_a_link_are_keys_of_links(show):
    assert query.write(**show.keys) == show.keys | {"link": "1"}


@pytest.mark.parametrize("show", HERE, ids=state)
def test_show_me_opens_the_page_in_exactly_this_state(app, show):
    at = app(shell.page(show.address).path, **show.keys, link="1")
    assert not at.exception and not mended(at)
    now = shared(at)
    for name, value in show.keys.items():
        if name == "prompt" and show.address == "rule":
            assert now[name].split("|")[0] == value.split("|")[0]
            assert [Fraction(x) for x in now[name].split("|")[1].split(",")] == [
                Fraction(x) for x in value.split("|")[1].split(",")
            ]
        else:
            assert now[name] == value, name


@pytest.mark.parametrize("part", interview.PARTS)
def test_every_part_opens_by_its_link_and_gives_it_back(app, part):
    at = app(PAGE, part=part, link="1")
    assert not at.exception and not mended(at)
    assert shared(at)["part"] == part
    assert at.header[0].value == text("interview")["part"][part]


def test_a_bad_part_is_mended_and_named(app):
    at = app(PAGE, part="nowhere", link="1")
    assert not at.exception and shared(at)["part"] == "questions"
    assert "part is one of" in mended(at)[0]
    with pytest.raises(ValueError, match="There is no part 'nowhere'"):
        interview.load("nowhere")


def test_answers_are_folded_until_asked_for_and_a_link_opens_them(app):
    residual = next(q for q in questions() if q.name == "residual")
    closed, opened = app(PAGE), app(PAGE, ask="residual", depth="senior", link="1")
    assert not any(residual.senior in m.value for m in closed.markdown)
    assert any(residual.senior == m.value for m in opened.markdown)
    assert shared(opened)["ask"] == "residual" and shared(opened)["depth"] == "senior"


def test_topic_and_search_leave_what_they_say(app):
    at = app(PAGE, topic="cache", find="prefix", link="1")
    labels = [box.label for box in at.main.expander][1:]
    assert labels == [q.ask for q in find("prefix", "cache")] and labels
    at = app(PAGE, find="nothing has this", link="1")
    assert [box.value for box in at.info] == [text("interview")["none"]]
    assert not any("then open one" in caption.value for caption in at.caption)


def test_the_walkthrough_reveals_one_answer_at_a_time(app):
    at, steps = app(PAGE, part="walkthrough", link="1"), board.all_steps()
    assert len(steps) == 12
    for i, step in enumerate(steps):
        assert step.answer not in [m.value for m in at.markdown]
        at = at.button(key="walk on").click().run()
        assert not at.exception
        assert step.answer in [m.value for m in at.markdown]
        assert shared(at)["step"] == str(2 * i + 1)
        rows = [m.value for m in at.markdown if m.value.startswith(f"{i + 1} · ")]
        assert rows == [f"{i + 1} · {step.board.format_map(board.values())}"]
        if i + 1 < len(steps):
            at = at.button(key="walk on").click().run()
    assert [box.value for box in at.success] == [text("walkthrough")["done"]]
    assert "12 answered" in at.main.expander[-1].label


def test_the_walkthrough_is_kept_while_another_part_is_open(app):
    at = app(PAGE, part="walkthrough", step="5", link="1")
    at = at.button(key="walk back").click().run()
    assert shared(at)["step"] == "4"
    at.session_state["interview part"] = "sheet"
    at = at.run()
    at.session_state["interview part"] = "walkthrough"
    assert shared(at.run())["step"] == "4"


def test_what_every_link_carries_does_not_count_as_a_link_to_a_part(app):
    at = app(PAGE, part="walkthrough", step="5", link="1")
    at = at.switch_page("pages/3_rule.py").run()
    at.query_params.clear()
    at.query_params["seen"] = "rule.interview"
    at = at.switch_page(PAGE).run()
    assert shared(at)["part"] == "walkthrough" and shared(at)["step"] == "5"


def test_the_board_is_filled_in_from_the_round_and_the_closed_forms():
    values = board.values()
    assert values["drafted"] == "the kiln cooled slowly" and values["corrected"] == "held"
    assert (values["accepted"], values["rejected"]) == ("the kiln", "cooled")
    assert values["wanted"] == "the kiln held – –"
    assert (values["plain_tokens"], values["plain_passes"], values["written"]) == ("6", "6", "3")
    assert values["output"] == "held 3/5 · cooled 3/10 · shone 1/10"
    assert (values["good"], values["weak"], values["slow"]) == ("2.80", "1.04", "1.51")
    assert theory.speedup(float(values["break_even"]), 4, 0.05) == pytest.approx(1, abs=0.01)


def test_a_seed_gives_the_deck_again_and_every_card_once():
    deck = questions()
    assert cards.shuffled(deck, 3) == cards.shuffled(deck, 3) != cards.shuffled(deck, 4)
    assert sorted(q.name for q in cards.shuffled(deck, 3)) == sorted(q.name for q in deck)


@pytest.mark.parametrize(
    ("sent", "at"), [(2, 2), (-1, 0), (99, 4), (None, 1), ("3", 1), (float("nan"), 1), (1e300, 1)]
)
def test_a_card_that_the_browser_names_is_brought_into_the_deck(sent, at):
    assert cards.place(sent, 5, 1) == at


def test_a_link_opens_the_deck_at_its_card(app):
    at = app(PAGE, part="cards", topic="rule", seed="3", step="2", depth="middle", link="1")
    [sent] = [json.loads(c.proto.json) for c in at.get("bidi_component") if "cards" in c.proto.json]
    names = [q.name for q in cards.shuffled(find(topic="rule"), 3)]
    assert [card["name"] for card in sent["cards"]] == names and sent["start"] == 2
    assert {k: shared(at)[k] for k in ("topic", "seed", "step")} == {
        "topic": "rule",
        "seed": "3",
        "step": "2",
    }


def test_notes_of_a_minute_stay_and_the_model_answer_waits(app):
    at, first = app(PAGE, part="minute", link="1"), minute.minutes()[0]
    at = at.text_area(key="interview minute notes explain").set_value("a cheap drafter").run()
    assert not any(first.answer == m.value for m in at.markdown)
    assert "3 words" in [c.value for c in at.caption]
    at = at.radio(key="interview minute").set_value("cost").run()
    at = at.radio(key="interview minute").set_value("explain").run()
    assert at.text_area(key="interview minute notes explain").value == "a cheap drafter"


@pytest.mark.parametrize("entry", minute.minutes(), ids=lambda entry: entry.name)
def test_a_model_answer_takes_about_a_minute(entry):
    assert 110 <= len(entry.answer.split()) <= 170 and len(entry.points) >= 8


def test_the_numbers_of_the_sheet_are_those_of_theory():
    for row in sheet.pass_rows():
        for k in sheet.DRAFTS:
            assert row[f"k = {k}"] == f"{theory.tokens_per_pass(float(row['α']), k):.2f}"
    best = {row["α"]: row["c = 0.05"] for row in sheet.best_rows()}
    assert best == {
        "0.5": "3 · 1.63×",
        "0.6": "4 · 1.92×",
        "0.7": "6 · 2.35×",
        "0.8": "8 · 3.09×",
        "0.9": "13 · 4.67×",
    }
