"""The live curve in a real Chromium: it follows the hand, and Python hears of it once."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from specdec import theory

pytestmark = pytest.mark.browser

COLD = "/speedup?k=6&alpha=0.7&link=1"


def out(page: Page, name: str) -> Locator:
    """A number of the curve's read-out."""
    return page.locator(f"[data-out={name}]")


def curve(page: Page) -> str:
    """The line of speed-up against k, as drawn now."""
    return page.locator(".main svg path.curve").get_attribute("d")


def grip(page: Page, name: str) -> tuple[float, float, float]:
    """Where a slider's thumb is, and the width its track moves in."""
    slider = page.locator(f"input#{name}")
    slider.scroll_into_view_if_needed()
    box = slider.bounding_box()
    share = slider.evaluate("e => (e.value - e.min) / (e.max - e.min)")
    thumb = 16  # px, Chromium's own
    x = box["x"] + thumb / 2 + share * (box["width"] - thumb)
    return x, box["y"] + box["height"] / 2, box["width"] - thumb


def frames_sent(page: Page) -> list[object]:
    """Filled, from the next load on, with every websocket frame that the page sends."""
    frames: list[object] = []
    page.on("websocket", lambda ws: ws.on("framesent", lambda frame: frames.append(frame)))
    return frames


def test_a_cold_deep_link_opens_on_its_point(watch):
    page = watch.open(COLD)
    expect(out(page, "speedup")).to_have_text(f"{theory.speedup(0.7, 6, 0.05):.2f}×")
    expect(page.locator("input#k")).to_have_value("6")
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(page.get_by_role("heading", name="The speed-up")).to_be_visible()


def test_the_curve_moves_before_the_slider_is_released(watch):
    page = watch.open()
    frames = frames_sent(page)
    page.goto(COLD)
    expect(out(page, "speedup")).to_have_text("2.35×")
    page.wait_for_timeout(300)
    verdict = page.get_by_text("no other k does better")
    expect(verdict).to_be_visible()
    before, sent = curve(page), len(frames)

    x, y, width = grip(page, "alpha")
    page.mouse.move(x, y)
    page.mouse.down()
    drawn = set()
    for step in range(1, 11):
        page.mouse.move(x + 0.02 * step * width, y)
        drawn.add(curve(page))
    assert len(drawn - {before}) >= 8, "the curve must follow the hand"
    alpha = float(page.locator("input#alpha").input_value())
    assert alpha == pytest.approx(0.9, abs=0.015)
    expect(out(page, "speedup")).to_have_text(f"{theory.speedup(alpha, 6, 0.05):.2f}×")
    assert len(frames) == sent, "nothing goes to Python during the drag"
    expect(verdict).to_be_visible()
    assert "alpha=0.7&" in page.url

    page.mouse.up()
    best = theory.best_k(alpha, 0.05)
    expect(page.get_by_text(f"The best is k = {best}")).to_be_visible()
    expect(page).to_have_url(re.compile(f"alpha={alpha:g}&"))
    assert len(frames) == sent + 1, "and once when it is released"


def test_keys_move_the_sliders_and_lose_nothing(watch):
    page = watch.open(COLD)
    expect(out(page, "speedup")).to_have_text("2.35×")
    page.locator("input#k").focus()
    for _ in range(11):  # faster than Python answers
        page.keyboard.press("ArrowRight")
    expect(page.locator("input#k")).to_have_value("17")
    expect(page).to_have_url(re.compile("k=17&"))
    expect(out(page, "speedup")).to_have_text(f"{theory.speedup(0.7, 17, 0.05):.2f}×")
    page.keyboard.press("Home")
    expect(page.get_by_text("Plain decoding: nothing is drafted")).to_be_visible()
    order = []
    for _ in range(5):
        order.append(page.evaluate("document.activeElement.shadowRoot.activeElement.ariaLabel"))
        order.append(page.evaluate("document.activeElement.shadowRoot.activeElement.id"))
        page.keyboard.press("Tab")
    assert [name for name in order if name] == ["k", "k, typed", "alpha", "α, typed", "c"]


def test_a_held_key_tells_python_once(watch):
    page = watch.open()
    frames = frames_sent(page)
    page.goto(COLD)
    expect(out(page, "speedup")).to_have_text("2.35×")
    page.locator("input#k").focus()
    page.wait_for_timeout(300)
    sent = len(frames)
    for _ in range(5):
        page.keyboard.down("ArrowRight")
    expect(page.locator("input#k")).to_have_value("11")
    assert len(frames) == sent
    page.keyboard.up("ArrowRight")
    expect(page).to_have_url(re.compile("k=11&"))
    assert len(frames) == sent + 1


def test_numbers_can_be_typed_and_are_kept_in_range(watch):
    page = watch.open(COLD)
    typed = page.get_by_label("c, typed")
    typed.focus()
    page.keyboard.press("ControlOrMeta+A")
    page.keyboard.type("0.123")
    expect(typed).to_have_value("0.123")
    expect(out(page, "cost")).to_have_text("1.74")  # 1 + 6 · 0.123, before Enter
    assert "c=0.123" not in page.url
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("c=0.123&"))
    page.keyboard.press("ControlOrMeta+A")
    page.keyboard.type("7")
    page.keyboard.press("Tab")
    expect(typed).to_have_value("1")
    expect(page.get_by_text("Do not speculate")).to_be_visible()
    expect(page).to_have_url(re.compile("c=1&"))


def test_the_figures_can_be_dragged_themselves(watch):
    page = watch.open(COLD)
    expect(out(page, "speedup")).to_have_text("2.35×")
    figure = page.locator(".main svg")
    figure.scroll_into_view_if_needed()
    box = figure.bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + 100)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 2, box["y"] + 100)  # beyond the end
    expect(page.locator("input#k")).to_have_value("24")
    page.mouse.up()
    expect(page).to_have_url(re.compile("k=24&"))


def test_a_preset_moves_the_curve_and_back_returns(watch):
    page = watch.open(COLD)
    expect(out(page, "speedup")).to_have_text("2.35×")
    page.get_by_role("button", name="Weak drafter").click()
    expect(out(page, "speedup")).to_have_text("1.04×")
    expect(out(page, "best")).to_have_text("1")
    page.go_back()
    expect(out(page, "speedup")).to_have_text("2.35×")
    expect(page.locator("input#k")).to_have_value("6")


def test_back_from_a_plain_visit_leaves_the_page(watch):
    page = watch.open("/")
    page.get_by_role("link", name="The speed-up").first.click()
    expect(out(page, "speedup")).to_have_text("2.80×")
    page.go_back()
    expect(page.get_by_role("heading", name="Draft · Verify · Accept")).to_be_visible()


def test_the_shared_link_opens_the_same_point_for_somebody_else(watch):
    page = watch.open(COLD)
    page.locator("input#k").focus()
    page.keyboard.press("ArrowLeft")
    expect(page).to_have_url(re.compile("k=5&"))
    page.get_by_role("button", name="Link to exactly this").click()
    link = page.get_by_test_id("stCode").inner_text().strip()
    assert link.startswith(watch.address)
    other = watch.open(link)
    expect(other.locator("input#k")).to_have_value("5")
    expect(out(other, "speedup")).to_have_text(f"{theory.speedup(0.7, 5, 0.05):.2f}×")


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("width", [1440, 390])
def test_both_themes_and_a_phone(watch, dark, width):
    page = watch.open(COLD, width=width, dark=dark, reduced_motion="reduce")
    expect(out(page, "speedup")).to_have_text("2.35×")
    main = page.get_by_test_id("stMain")
    assert main.evaluate("e => e.scrollWidth <= e.clientWidth"), "nothing scrolls sideways"
    colour = "e => getComputedStyle(e).getPropertyValue('--st-{}-color')"
    live = page.locator(".live")
    lightness = [
        sum(int(live.evaluate(colour.format(name))[i : i + 2], 16) for i in (1, 3, 5))
        for name in ("background", "text")
    ]
    assert (lightness[0] < lightness[1]) is dark
    boxes = page.locator(".main svg text").evaluate_all(
        "all => all.filter(t => t.textContent).map(t => [t.getBBox().x, t.getBBox().width])"
    )
    inside = page.locator(".main svg").bounding_box()["width"]
    assert all(x >= 0 and x + wide <= inside + 1 for x, wide in boxes), "no words are cut off"


def test_the_figures_speak_and_have_a_table(watch):
    page = watch.open(COLD)
    expect(page.locator(".main svg")).to_have_attribute(
        "aria-label", re.compile(r"α = 0.7, c = 0.05.*best at k = 6 with 2.35×.*You are at k = 6")
    )
    page.get_by_text("The curve as a table").click()
    rows = page.locator(".live tbody tr")
    expect(rows).to_have_count(25)
    expect(rows.nth(6)).to_contain_text("● you  ◆ best")
    speeds = [rows.nth(k).locator("td").nth(3).inner_text() for k in range(25)]
    assert speeds == [f"{theory.speedup(0.7, k, 0.05):.2f}×" for k in range(25)]


def test_every_link_with_nonsense_is_answered_in_words(watch):
    page = watch.open("/speedup?k=999&alpha=abc&c=%3Cscript%3E&v=-1&link=9")
    expect(page.get_by_text("k goes from 0 to 24: it is 24 here.")).to_be_visible()
    expect(page.get_by_text("another version")).to_be_visible()
    expect(page.locator("input#k")).to_have_value("24")
