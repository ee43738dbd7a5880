"""Page 9 in a browser: cards from the keyboard, the minute's clock, the sheet on paper."""

from __future__ import annotations

import re
from urllib.parse import urlencode

import pytest
from playwright.sync_api import expect

from specdec.questions import questions
from specdec.ui.interview import cards

pytestmark = pytest.mark.browser

PAGES = re.compile(rb"/Type\s*/Page\b(?!s)")


def address(part: str, **state: str) -> str:
    return "/interview?" + urlencode({"part": part, **state, "link": "1"})


def test_cards_turn_go_on_and_are_marked_from_the_keyboard(watch):
    page = watch.open(address("cards", seed="3"))
    deck = cards.shuffled(questions(), 3)
    box = page.locator(".cards")
    expect(box.locator(".ask")).to_have_text(deck[0].ask)
    expect(box.locator(".answer")).to_be_hidden()
    box.focus()
    page.keyboard.press(" ")
    expect(box.locator(".answer")).to_have_text(deck[0].line)
    for _ in range(20):  # faster than the server answers: none is lost
        page.keyboard.press("ArrowRight")
    expect(box.locator(".ask")).to_have_text(deck[20].ask)
    expect(box.locator(".answer")).to_be_hidden()
    page.keyboard.press("k")
    expect(box.locator(".count")).to_have_text(f"1 of {len(deck)} known")
    page.keyboard.press("k")
    expect(box.locator(".count")).to_have_text(f"0 of {len(deck)} known")


def test_the_minute_runs_stops_and_starts_again(watch):
    page = watch.open(address("minute"))
    timer = page.locator(".timer")
    expect(timer.locator(".digits")).to_have_text("1:00")
    timer.get_by_role("button", name="Start").click()
    expect(timer.locator(".digits")).to_have_text("0:58")
    timer.get_by_role("button", name="Pause").click()
    timer.get_by_role("button", name="Reset").click()
    expect(timer.locator(".digits")).to_have_text("1:00")
    expect(timer.get_by_role("button", name="Start")).to_be_visible()


@pytest.mark.parametrize("dark", [False, True])
def test_the_sheet_is_two_pages_of_paper_and_nothing_else(watch, dark):
    page = watch.open(address("sheet"), dark=dark)
    expect(page.locator(".st-key-sheet_two table")).to_have_count(2)
    expect(page.locator(".st-key-sheet_one .katex").first).to_be_visible()
    assert len(PAGES.findall(page.pdf(prefer_css_page_size=True))) == 2
    page.emulate_media(media="print")
    expect(page.get_by_role("button", name="Print the sheet")).to_be_hidden()
    expect(page.get_by_text("What to notice.")).to_be_hidden()
    ground = "element => getComputedStyle(element).backgroundColor"
    assert page.locator(".stApp").evaluate(ground) == "rgb(255, 255, 255)"


def test_show_me_opens_the_other_page_and_back_comes_back(watch):
    page = watch.open(address("questions", ask="cost", depth="senior"))
    page.get_by_role("link", name="Show me: The speed-up").click()
    expect(page.get_by_role("heading", name="The speed-up", exact=True)).to_be_visible()
    assert "alpha=0.95" in page.url and "c=0.5" in page.url
    page.get_by_role("link", name="Interview").first.click()
    expect(page.get_by_text("Total arithmetic goes up")).to_be_visible()
