"""Every page in a real browser: cold, on a phone, in the dark, by keyboard, with real models."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from specdec.ui.shell import PAGES

pytestmark = pytest.mark.browser
ADDRESSES = [page.address for page in PAGES]
LABELS = {page.address: page.label for page in PAGES}


def opened(watch, address, **how):
    page = watch.open(f"/{address}", **how)
    title = LABELS[address] if address else "Draft · Verify · Accept"
    expect(page.get_by_role("heading", name=title, exact=True)).to_be_visible()
    return page


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("address", ADDRESSES)
def test_opens_cold_without_an_error(watch, address, dark):
    page = opened(watch, address, dark=dark)
    page.wait_for_timeout(500)
    expect(page.get_by_text("Page not found")).to_have_count(0)
    expect(page.locator("[data-testid=stException]")).to_have_count(0)
    grounds = page.evaluate("getComputedStyle(document.querySelector('.stApp')).backgroundColor")
    red = int(re.findall(r"\d+", grounds)[0])
    assert red < 64 if dark else red > 192


@pytest.mark.parametrize("address", ADDRESSES)
def test_fits_a_phone(watch, address):
    page = opened(watch, address, width=390)
    page.wait_for_timeout(1000)
    wide = page.evaluate(
        "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    )
    main = page.locator("[data-testid=stMain]").evaluate("e => e.scrollWidth - e.clientWidth")
    assert max(wide, main) <= 1, "the page scrolls sideways"


def test_the_article_s_round_by_keyboard(watch):
    page = watch.open("/watch?drafter=good&link=1")
    step = page.get_by_role("slider", name="Step")
    step.focus()
    for key, words in [
        ("End", "round 2 of 2 · step 10 of 10"),
        ("Home", "round 1 of 2 · step 0 of 10"),
        ("Shift+ArrowRight", "round 2 of 2 · step 0 of 10"),
        ("ArrowLeft", "round 1 of 2 · step 10 of 10"),
    ]:
        page.keyboard.press(key)
        expect(step).to_have_attribute("aria-valuetext", words)
    expect(page.get_by_text("1 pass for 3 tokens")).to_be_visible()


@pytest.mark.model
def test_a_live_round_of_the_real_pair(watch, default_pair):
    page = opened(watch, "live")
    expect(page.get_by_text("Recorded").first).to_be_visible()
    page.get_by_role("button", name="One round").click()
    expect(page.get_by_text("decoded on this machine")).to_be_visible()
    expect(page.get_by_text(re.compile(r"round 1 of 1"))).to_be_visible()
    page.get_by_role("button", name="One round").click()
    expect(page.get_by_text(re.compile(r"of 2"))).to_be_visible()


@pytest.mark.model
def test_a_whole_live_run_is_compared_with_plain_decoding(watch, default_pair):
    page = watch.open("/live?n=12&prompt=code&link=1")
    page.get_by_role("button", name="Run", exact=True).click()
    verdict = page.get_by_text(re.compile("The same 12 tokens as|The two texts part"))
    expect(verdict).to_be_visible(timeout=120_000)
    expect(page.get_by_text("Measured", exact=True)).to_be_visible()
    page.get_by_role("link", name="The speed-up").first.click()
    expect(page.get_by_text("small model, k = 4").first).to_be_visible()


@pytest.mark.model
def test_the_start_page_measures_this_machine(watch, default_pair):
    page = opened(watch, "")
    page.get_by_role("button", name="Measure it here").click()
    expect(page.get_by_text("A pass over 5 tokens costs")).to_be_visible(timeout=120_000)
