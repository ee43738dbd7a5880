"""The race in a real Chromium: start, scrub, keys, the end, calm, narrow screens."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator
from itertools import accumulate
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from specdec import recordings
from specdec.trace import Trace
from specdec.ui import race
from tests.browser import Watch, serving

pytestmark = pytest.mark.browser
RUNS = recordings.load("code", "lookup")
SCRUB = """(root, time) => {
  const range = root.querySelector("input");
  range.value = time;
  range.dispatchEvent(new Event("input", { bubbles: true }));
}"""
SHOWN = """(root) => [...root.querySelectorAll(".strip")].map((strip) =>
  [...strip.children].filter((n) => n.checkVisibility({ visibilityProperty: true })).length)"""
BOXES = """(root) => {
  const parts = root.querySelectorAll(".tok, .bar, .numbers, .end, details, footer, .controls");
  return [...parts].map((n) => {
    const b = n.getBoundingClientRect(), home = n.closest(".strip") ?? root;
    const { x, y } = home.getBoundingClientRect();
    return [b.x - x, b.y - y + home.scrollTop, b.width, b.height].map(Math.round).join();
  });
}"""
CLOCK = """(root) => new Promise((done) => {
  const seen = new Set(), now = root.querySelector(".now");
  const watch = new MutationObserver(() => {
    seen.add(now.textContent);
    if (root.hasAttribute("data-over")) done([...seen]);
  });
  watch.observe(root, { attributes: true, childList: true, subtree: true });
  root.querySelector(".play").click();
})"""
EDGE = """(root) => Math.max(...[...root.querySelectorAll("*")]
  .filter((n) => n.checkVisibility()).map((n) => n.getBoundingClientRect().right))"""


CROWDED = """(root) => [...root.querySelectorAll(".numbers")].flatMap((line) => {
  const boxes = [...line.children].map((n) => {
    const range = document.createRange();
    range.selectNodeContents(n);
    return range.getBoundingClientRect();
  });
  const meets = (b, a) => b.width && b.top < a.bottom && b.left < a.right + 4;
  return boxes.slice(1).filter((b, i) => meets(b, boxes[i]));
}).length"""


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with serving("tests/apps/race_app.py") as served:
        yield served


@pytest.fixture
def visit(browser: Any, address: str) -> Iterator[Callable[..., Page]]:
    watch = Watch(browser, address)

    def opened(query: str = "", **options: Any) -> Page:
        page = watch.open(f"/?{query}", **options)
        expect(page.locator(".race .total")).not_to_be_empty()
        return page

    yield opened
    watch.close()


def look(page: Page, what: str, *given: Any) -> Any:
    return page.locator(".race").evaluate(what, *given)


def ends_of(trace: Trace) -> set[float]:
    return set(accumulate(r.seconds.total for r in trace.rounds))


def tokens_at(trace: Trace, time: float) -> int:
    """Written tokens of the passes that are over."""
    ends = list(accumulate(r.seconds.total for r in trace.rounds))
    return sum(len(r.written) for r in trace.rounds[: bisect_right(ends, time)])


def test_a_scrubbed_time_shows_the_schedules_tokens(visit):
    page = visit()
    for share in (0.0, 0.13, 0.37, 0.5, 0.81, 0.999):
        time = share * RUNS.plain.seconds.total
        look(page, SCRUB, time)
        expected = [tokens_at(t, time) for t in (RUNS.plain, RUNS.speculative)]
        assert look(page, SHOWN) == expected
        for lane, n in zip(("plain", "speculative"), expected):
            words = page.locator(f".track.{lane} .numbers span").first
            expect(words).to_have_text(f"{n} of 64 tokens")


def test_start_runs_to_the_end_and_tells_who_was_first(visit):
    page = visit()
    expect(page.locator(".result")).not_to_be_visible()
    page.get_by_label("Speed").select_option("4")
    page.get_by_role("button", name="Start", exact=True).click()
    expect(page.get_by_role("button", name="Pause")).to_be_visible()
    expect(page.locator(".race[data-over]")).to_have_count(1)
    assert look(page, SHOWN) == [64, 64]
    words = race.result(RUNS.speculative, RUNS.plain)
    expect(page.locator(".result")).to_have_text(words)
    expect(page.get_by_role("status")).to_have_text(words)
    expect(page.locator(".gaps tbody tr")).to_have_count(2)
    page.get_by_role("button", name="Again").click()
    expect(page.locator(".race[data-over]")).to_have_count(0)


def test_pause_holds_the_clock_and_a_rerun_does_not_move_it(visit):
    page = visit()
    page.get_by_label("Speed").select_option("0.25")
    page.get_by_role("button", name="Start", exact=True).click()
    expect(page.locator(".track.plain .numbers span").first).not_to_have_text("0 of 64 tokens")
    page.locator(".race").press("Space")
    held = page.locator(".now").inner_text()
    page.get_by_role("button", name="Rerun").click()
    expect(page.get_by_test_id("stStatusWidget")).to_have_count(0)
    expect(page.get_by_role("button", name="Go on")).to_be_visible()
    assert page.locator(".now").inner_text() == held != "0 ms"


def test_arrow_keys_go_pass_by_pass_and_back_shows_the_same(visit):
    page = visit()
    root = page.locator(".race")
    root.focus()
    ends = ends_of(RUNS.plain) | ends_of(RUNS.speculative)
    seen = [look(page, SHOWN)]
    for time in sorted(ends)[:12]:
        root.press("ArrowRight")
        expected = [tokens_at(t, time) for t in (RUNS.plain, RUNS.speculative)]
        seen.append(look(page, SHOWN))
        assert seen[-1] == expected
    for earlier in reversed(seen[:-1]):
        root.press("ArrowLeft")
        assert look(page, SHOWN) == earlier
    root.press("End")
    assert look(page, SHOWN) == [64, 64]
    root.press("Home")
    assert look(page, SHOWN) == [0, 0]


@pytest.mark.parametrize("width", [1280, 1000, 900, 800, 390])
def test_the_numbers_of_a_lane_stand_apart(visit, width):
    page = visit(width=width)
    for share in (0.0, 1.0):
        look(page, SCRUB, share * RUNS.plain.seconds.total)
        assert look(page, CROWDED) == 0


@pytest.mark.parametrize("width", [1280, 390])
def test_nothing_moves_and_nothing_sticks_out(visit, width):
    page = visit(width=width)
    boxes = look(page, BOXES)
    for share in (0.4, 0.8, 1.0):
        look(page, SCRUB, share * RUNS.plain.seconds.total)
        assert look(page, BOXES) == boxes
        assert look(page, EDGE) <= width


def test_calm_visitors_get_jumps_from_event_to_event(visit):
    page = visit(reduced_motion="reduce")
    page.get_by_label("Speed").select_option("4")
    ends = ends_of(RUNS.plain) | ends_of(RUNS.speculative)
    times = {f"{e * 1e3:.0f} ms" for e in {0.0, *ends}}
    assert set(look(page, CLOCK)) <= times


def test_every_pass_stands_in_the_table(visit):
    page = visit()
    page.get_by_text("All passes as a table").click()
    rows = page.locator("details tbody tr")
    expect(rows).to_have_count(len(RUNS.plain.rounds) + len(RUNS.speculative.rounds))
    expect(rows.last).to_contain_text("64")


def test_simulated_tokens_have_no_text(visit):
    page = visit("run=simulated")
    look(page, SCRUB, 99)
    expect(page.locator(".tok.blank[data-on]")).to_have_count(96)
    assert not page.locator(".strip .text").all_inner_texts()[0]
    expect(page.locator(".written .note").last).to_have_text("simulated: not the target's text")
