"""The losslessness lab in a real Chromium: choose, draw, read, on a phone and with keys alone."""

from __future__ import annotations

import pytest
from playwright.sync_api import Locator, Page, expect

pytestmark = pytest.mark.browser

PATH = "/rule"


def draw(page: Page) -> Locator:
    return page.get_by_role("button", name="Draw", exact=True)


def charts(page: Page) -> Locator:
    return page.get_by_test_id("stPlotlyChart")


def settled(page: Page) -> None:
    """The page has run: the lab's button is there and free."""
    expect(draw(page)).to_be_enabled()
    expect(page.get_by_text("✗ off by 4/25").first).to_be_visible()


def test_draws_leave_two_charts_and_a_verdict(watch):
    page = watch.open(PATH)
    settled(page)
    expect(charts(page)).to_have_count(0)  # no chart script before it is needed
    draw(page).click()
    expect(charts(page)).to_have_count(2)
    expect(page.get_by_text("Error against p, by draws")).to_be_visible()
    expect(page.get_by_text("✗ above the band").first).to_be_visible()
    expect(page.get_by_text("26/25 = 1.0400")).to_be_visible()
    expect(page.get_by_text("Questions in MCSD #5")).to_be_visible()


def test_a_rule_is_chosen_and_drawn_with_keys_alone(watch):
    page = watch.open(PATH)
    settled(page)
    page.get_by_role("button", name="Accept always").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_text("Full speed, and the small model's text.")).to_be_visible()
    draw(page).focus()
    page.keyboard.press("Enter")
    expect(page.get_by_text("✗ Accept always").nth(1)).to_be_attached()
    expect(charts(page)).to_have_count(2)


def test_the_lab_follows_the_canvas_link(watch):
    page = watch.open(f"{PATH}?prompt=a,b,c|5/10,3/10,2/10|2/10,3/10,5/10&link=1")
    expect(page.get_by_text("39/100").first).to_be_visible()  # replace from p, on toy A
    expect(page.get_by_text("✗ off by 3/20").first).to_be_visible()


def test_a_million_draws_end_or_are_cancelled(watch):
    page = watch.open(PATH)
    settled(page)
    slider = page.get_by_role("slider", name="Draws of each rule")
    slider.focus()
    page.keyboard.press("End")
    expect(page.get_by_text("1,000,000").first).to_be_visible()
    draw(page).click()
    expect(draw(page)).to_be_enabled()
    expect(charts(page)).to_have_count(2)
    expect(page.get_by_role("cell", name="1,000,000").first).to_be_attached()


@pytest.mark.parametrize("dark", [False, True])
def test_a_phone_does_not_scroll_sideways(watch, dark):
    page = watch.open(PATH, width=390, dark=dark)
    settled(page)
    draw(page).click()
    expect(charts(page)).to_have_count(2)
    main = page.get_by_test_id("stMain")
    assert main.evaluate("e => e.scrollWidth <= e.clientWidth")


def test_the_real_pair_s_results_open_on_request(watch):
    page = watch.open(PATH)
    settled(page)
    page.get_by_text("Two tokens, hundreds of times, in four ways").click()
    expect(page.get_by_text("very same continuations")).to_be_visible()
    expect(charts(page)).to_have_count(1)
    page.get_by_text("α along temperature, top-k and top-p").click()
    expect(charts(page)).to_have_count(4)
    for name in ("Draw again on this machine", "Measure again on this machine"):
        expect(page.get_by_role("button", name=name)).to_be_enabled()
