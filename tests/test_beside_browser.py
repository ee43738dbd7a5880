"""Two runs beside each other in a real Chromium: the mark, the fold, the keys, narrow screens."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from specdec import recordings
from specdec.compare import compare
from tests.browser import Watch, serving

pytestmark = pytest.mark.browser
A, B = (recordings.load("chat", way).speculative for way in ("model", "lookup"))
FIRST = compare(A, B).first
IN_SIGHT = """(root) => {
  const box = (what) => root.querySelector(what).getBoundingClientRect();
  const frame = box(".frame"), home = box(".scroll"), label = box(".label");
  return frame.left >= label.right && frame.right <= home.right;
}"""
MARKED = """(root) => {
  const frame = root.querySelector(".frame").getBoundingClientRect();
  const boxes = [...root.querySelectorAll(".grid .tok")].map((n) => [n, n.getBoundingClientRect()]);
  const inside = boxes.filter(([, b]) => b.left >= frame.left - 4 && b.right <= frame.right + 4);
  return inside.map(([n]) => n.dataset.text);
}"""


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with serving("tests/apps/beside_app.py") as served:
        yield served


@pytest.fixture
def visit(browser: Any, address: str) -> Iterator[Callable[..., Page]]:
    watch = Watch(browser, address)

    def opened(pair: str = "drafters", **options: Any) -> Page:
        page = watch.open(f"/?pair={pair}", **options)
        expect(page.locator(".beside .grid .tok").first).to_be_visible()
        return page

    yield opened
    watch.close()


def look(page: Page, what: str) -> Any:
    return page.locator(".beside").evaluate(what)


@pytest.mark.parametrize("width", [1280, 390])
def test_the_first_difference_is_in_sight_and_marked(visit, width):
    page = visit(width=width)
    assert look(page, IN_SIGHT)
    assert look(page, MARKED) == [t.written[FIRST].text for t in (A, B)]
    expect(page.locator(".sign.mark-word")).to_have_text("▼ first difference")
    label = page.locator(".frame").get_attribute("aria-label")
    assert label.startswith(f"First difference, token {FIRST + 1}. small model: ")
    right = page.locator(".beside").evaluate("n => n.getBoundingClientRect().right")
    assert right <= width


def test_a_mark_wider_than_the_screen_shows_its_beginning(visit):
    page = visit("shorter", width=390)
    frame, label = (page.locator(f".grid {what}").bounding_box() for what in (".frame", ".corner"))
    assert label["x"] + label["width"] <= frame["x"] < 390 / 2


def test_a_key_goes_to_the_first_difference(visit):
    page = visit(width=390)
    scroll = page.locator(".beside .scroll").first
    scroll.evaluate("n => { n.scrollLeft = 0 }")
    assert not look(page, IN_SIGHT)
    scroll.focus()
    page.keyboard.press("f")
    expect(page.locator(".frame")).to_be_focused()
    page.wait_for_function(
        "() => { const find = (n) => [...document.querySelectorAll('*')].map((x) => x.shadowRoot)"
        ".filter(Boolean).map((r) => r.querySelector('.beside .scroll')).find(Boolean);"
        "return find().scrollLeft > 0 }"
    )


def test_equal_tokens_are_folded_and_unfold(visit):
    page = visit()
    shown = page.locator(".grid .cell")
    kept = 8 + (64 - FIRST)
    expect(shown).to_have_count(2 * kept)
    page.get_by_role("button", name=f"… {FIRST - 8} equal tokens").click()
    expect(shown).to_have_count(2 * 64)
    expect(page.locator(".cell[data-equal]")).to_have_count(2 * FIRST)
    button = page.get_by_role("button", name="Fold the equal tokens")
    expect(button).to_be_focused()
    button.press("Enter")
    expect(shown).to_have_count(2 * kept)
    assert look(page, IN_SIGHT)


def test_a_text_that_ends_first_shows_its_end_and_no_seams_after(visit):
    page = visit("shorter")
    expect(page.locator(".grid .ended")).to_have_count(1)
    seams = page.locator(".grid .cell[data-seam]:not(:has(.tok))")
    expect(seams).to_have_count(0)


def test_all_tokens_stand_in_the_table(visit):
    page = visit()
    page.get_by_text("Both texts as a table").click()
    rows = page.locator("details tbody tr")
    expect(rows).to_have_count(64)
    expect(page.locator("tr[data-first]")).to_contain_text("first difference")


def test_a_rerun_leaves_fold_and_scrolling(visit):
    page = visit()
    page.get_by_role("button", name=f"… {FIRST - 8} equal tokens").click()
    page.get_by_role("button", name="Rerun").click()
    expect(page.get_by_test_id("stStatusWidget")).to_have_count(0)
    expect(page.locator(".grid .cell")).to_have_count(2 * 64)
