"""Presenter mode in a real Chromium: one key through stages, pages and a class; and out again."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from specdec.ui import classroom, shell

pytestmark = pytest.mark.browser
TOP = "document.querySelector('[data-testid=stMain]').scrollTop"


@pytest.fixture
def presented(watch):
    """A page in presenter mode, its bar there."""

    def visit(path, **how):
        page = watch.open(path, reduced_motion="reduce", **how)
        expect(page.locator(".presenter .place")).not_to_be_empty()
        expect(page.locator("[data-testid=stSidebar]")).to_have_count(0)
        return page

    return visit


def press(page, key, until, most=12):
    """Press a key until a condition holds; the presses that it took."""
    for n in range(1, most + 1):
        page.keyboard.press(key)
        page.wait_for_timeout(150)
        if until():
            return n
    raise AssertionError(f"{most} times {key} were not enough")


def step(page):
    return page.locator(".stage .place").text_content()


def test_space_and_a_clicker_step_the_stage_then_go_on_and_back(presented):
    page = presented("/watch?drafter=good&present=1&round=1&step=8&link=1")
    expect(page.locator(".stage .place")).to_have_text("round 1 of 2 · step 8 of 10")
    before = press(page, " ", lambda: step(page).endswith("step 9 of 10"))
    assert before <= 3, "the stage comes into sight first"
    page.keyboard.press("PageDown")
    expect(page.locator(".stage .place")).to_have_text("round 1 of 2 · step 10 of 10")
    page.keyboard.press("PageUp")
    expect(page.locator(".stage .place")).to_have_text("round 1 of 2 · step 9 of 10")
    page.keyboard.press("End")
    expect(page.locator(".stage .place")).to_have_text("round 2 of 2 · step 10 of 10")
    top = page.evaluate(TOP)
    page.keyboard.press("PageDown")
    page.wait_for_function(f"{TOP} > {top + 100}")
    press(page, "PageDown", lambda: "/rule" in page.url)
    expect(page.get_by_role("heading", name="The rule", exact=True)).to_be_visible()
    assert "present=1" in page.url
    page.wait_for_function(f"{TOP} === 0")
    page.keyboard.press("PageUp")
    expect(page.get_by_role("heading", name="Watch it run", exact=True)).to_be_visible()
    assert "present=1" in page.url


def test_rapid_keys_do_not_call_a_left_page_back(presented):
    page = presented("/watch?drafter=good&present=1&round=1&step=8&link=1")
    press(page, " ", lambda: step(page).endswith("step 9 of 10"))
    for key in ("End", "Shift+PageDown"):  # the stage tells its place 300 ms later
        page.keyboard.press(key)
    expect(page.get_by_role("heading", name="The rule", exact=True)).to_be_visible()
    page.wait_for_timeout(1500)
    expect(page.get_by_role("heading", name="The rule", exact=True)).to_be_visible()
    assert page.evaluate(TOP) == 0


def test_p_plays_in_presenter_mode(presented):
    page = presented("/watch?drafter=good&present=1&link=1")
    press(page, " ", lambda: step(page).endswith("step 1 of 10"))
    page.keyboard.press("p")
    expect(page.locator(".stage .place")).to_have_text("round 1 of 2 · step 3 of 10")
    page.keyboard.press("p")


@pytest.mark.parametrize("width", [1280, 390])
def test_a_page_without_a_stage_scrolls_to_its_end_and_goes_on(presented, width):
    page = presented("/speedup?present=1", width=width)
    expect(page.get_by_text("Go further")).to_be_attached()
    page.wait_for_timeout(1000)
    tops = []

    def gone():
        tops.append(page.evaluate(TOP))
        return "/live" in page.url

    press(page, "PageDown", gone, most=60)
    down = tops[: tops.index(max(tops)) + 1]  # then the next page begins at its top
    assert down == sorted(down) and len(set(down)) > 3
    expect(page.get_by_role("heading", name="Live pair", exact=True)).to_be_visible()


def test_controls_are_folded_until_asked_for_and_answers_too(presented):
    page = presented("/watch?present=1")
    slider = page.locator("[data-testid=stMain] [data-testid=stSlider]")
    answer = page.locator("[data-testid=stExpander] details").first
    expect(slider).to_be_hidden()
    page.keyboard.press("k")
    expect(slider).to_be_visible()
    expect(page.get_by_role("button", name="Controls")).to_have_attribute("aria-pressed", "true")
    page.keyboard.press("k")
    expect(slider).to_be_hidden()
    assert answer.get_attribute("open") is None
    page.keyboard.press("a")
    expect(answer).to_have_attribute("open", "")


def test_keys_are_the_reader_s_own_while_he_types(presented):
    page = presented("/watch?present=1")
    page.keyboard.press("k")
    page.get_by_text("The two tables, to change").click()
    field = page.get_by_label("Target", exact=True)
    field.fill("-> a")
    field.press("End")
    for key in (" ", "k", "a", "h", "p", "Escape"):
        field.press(key)
    assert field.input_value() == "-> a kahp"
    expect(page.locator(".presenter")).to_be_visible()


def test_escape_closes_what_lies_above_and_then_leaves_and_alt_p_comes_back(presented):
    page = presented("/rule?present=1")
    page.keyboard.press("h")
    keys = page.get_by_role("dialog", name="Keys of presenter mode")
    expect(keys).to_be_visible()
    page.keyboard.press("Escape")
    expect(keys).to_be_hidden()
    expect(page.locator(".presenter")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator(".presenter")).to_have_count(0)
    expect(page.locator("[data-testid=stSidebar]")).to_be_visible()
    page.wait_for_url(re.compile(r"/rule(?!.*present)"))
    page.keyboard.press("Alt+p")
    expect(page.locator(".presenter")).to_be_visible()
    page.wait_for_url(re.compile("present=1"))


def test_the_buttons_of_the_bar_do_what_the_keys_do(presented):
    page = presented("/watch?drafter=good&present=1&link=1", width=390)
    on = page.get_by_role("button", name="On", exact=True)
    for _ in range(8):
        on.click()
        page.wait_for_timeout(150)
    assert not step(page).endswith("step 0 of 10")
    page.get_by_role("button", name="Leave presenter mode").click()
    expect(page.locator(".presenter")).to_have_count(0)


@pytest.mark.parametrize("address", [page.address for page in shell.PAGES])
def test_every_page_fits_in_presenter_mode(presented, address):
    page = presented(f"/{address}?present=1", width=390)
    page.wait_for_timeout(1000)
    main = page.locator("[data-testid=stMain]").evaluate("e => e.scrollWidth - e.clientWidth")
    assert main <= 1, "the page scrolls sideways"
    bar = page.locator(".presenter").evaluate("e => e.scrollWidth - e.clientWidth")
    assert bar <= 1, "a button lies outside"


def test_a_class_goes_from_link_to_link(watch):
    script = classroom.built_in()
    page = watch.open("/class", reduced_motion="reduce")
    page.get_by_role("button", name=f"Present from: 3, {script.states[2].title}").click()
    place = page.locator(".presenter .place")
    total = len(script.states)
    expect(place).to_have_text(f"3 of {total} · {script.states[2].title}")
    assert "/watch?" in page.url and "drafter=good" in page.url
    page.keyboard.press("Shift+PageDown")
    expect(place).to_have_text(f"4 of {total} · {script.states[3].title}")
    page.wait_for_url(re.compile("drafter=perfect"))
    page.keyboard.press("Shift+PageUp")
    expect(place).to_have_text(f"3 of {total} · {script.states[2].title}")
    expect(page.locator(".presenter .clock")).to_contain_text("7 planned")
    page.keyboard.press("Escape")
    expect(page.locator("[data-testid=stSidebar]").get_by_role("button")).not_to_have_count(0)
    expect(page.locator(".presenter")).to_have_count(0)
    page.keyboard.press("Alt+p")
    expect(place).to_contain_text("Watch it run")


def test_a_class_that_the_browser_s_back_left_is_over(watch):
    page = watch.open("/class", reduced_motion="reduce")
    title = classroom.built_in().states[1].title
    page.get_by_role("button", name=f"Present from: 2, {title}").click()
    expect(page.locator(".presenter .place")).to_contain_text(title)
    page.go_back()
    expect(page.get_by_role("button", name=f"Present from: 2, {title}")).to_be_visible()
    page.keyboard.press("Alt+p")
    expect(page.locator(".presenter .place")).to_contain_text("For the class")


def test_what_a_part_is_worked_with_stays_while_controls_are_folded(presented):
    page = presented("/interview?part=walkthrough&present=1&link=1")
    expect(page.get_by_role("button", name="Start again")).to_be_hidden()
    page.get_by_role("button", name="Reveal").click()
    expect(page.get_by_role("button", name="Next question")).to_be_visible()
    page = presented("/interview?part=numbers&present=1&link=1")
    expect(page.get_by_label("Your answer")).to_be_visible()


@pytest.mark.parametrize("dark", [False, True])
def test_a_primary_button_keeps_the_colour_of_its_words(watch, dark):
    colours = []
    for present in ("0", "1"):
        page = watch.open(f"/interview?part=numbers&present={present}&link=1", dark=dark)
        if present == "1":
            expect(page.locator(".presenter .place")).not_to_be_empty()
        words = page.get_by_role("button", name="Check").locator("p")
        colours.append(words.evaluate("e => getComputedStyle(e).color"))
    assert colours[0] == colours[1]


def test_large_type_keeps_a_chart_s_legend_off_its_axis_title(presented):
    page = presented("/pitfalls?station=batch&present=1&link=1")
    chart = page.locator(".js-plotly-plot", has=page.locator(".legend .traces")).first
    expect(chart.locator(".legend .traces").first).to_be_attached()
    edge = "(node, name) => node.getBoundingClientRect()[name]"
    title_ends = chart.locator(".xtitle").evaluate(edge, "bottom")
    assert title_ends <= chart.locator(".legend .traces").first.evaluate(edge, "top")
