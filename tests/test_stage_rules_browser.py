"""The stage under the other rules in a real Chromium: what the accept lane shows, and where."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from specdec.ui import stage
from tests.apps import stage_traces as traces
from tests.stage_page import (  # noqa: F401  (fixtures)
    BOXES,
    EDGE,
    SEEN,
    address,
    focus,
    look,
    place,
    press,
    visit,
)

pytestmark = pytest.mark.browser

# Cells of the accept lane whose content is higher or wider than they are.
CRAMPED = """(stage) => [...stage.querySelectorAll(".cell.accept[data-on]")]
  .filter((n) => n.scrollHeight > n.clientHeight + 1 || n.scrollWidth > n.clientWidth + 1)
  .map((n) => n.textContent)"""
KEPT = """(stage) => {
  const over = (n) => n.getBoundingClientRect(), keep = stage.querySelector(".keep");
  const inside = (n) => over(n).right <= over(keep).right + 1;
  return keep.hidden ? 0 : [...stage.querySelectorAll(".cell.accept")].filter(inside).length;
}"""
SAVED = re.compile("accepted, .*failed its own test, kept: a later one passed")
ROUND, RUN = 4, traces.ruled("block")  # its fourth round has all: a token saved, and one rejected


def cells(page: Page, what: str = "") -> list[str]:
    """The visible texts of the accept lane."""
    shown = page.locator(f".cell.accept[data-on] {what}".strip())
    return [text for n in shown.all() if (text := n.inner_text())]


def test_a_match_shows_the_targets_own_draw_and_whether_it_is_the_same(visit):
    run = traces.ruled("match")
    r = next(r for r in run.rounds if r.accepted == 2 and r.rejected)
    page = visit(f"trace=match&round={r.index + 1}&step={1 + 4 + 3}")
    assert cells(page, ".num:not(.own)") == ["✓ yes", "✓ yes", "✗ no"]
    own = page.locator(".cell.accept[data-on] .own")
    words = [t.text.replace(" ", "·").replace("\u202e", "U+202E") for t in r.written]
    assert own.all_inner_texts() == words
    expect(page.locator(".cell.accept .line:visible")).to_have_count(0)
    expect(page.locator(".say")).to_contain_text("is rejected: the target's own draw, with u = ")
    panel = page.locator(".panel dl").inner_text()
    assert "u of that draw" in panel and "same token" in panel and "min(1" not in panel
    assert float(page.locator(".panel dd").nth(3).inner_text()) == pytest.approx(
        r.drafted[2].u, abs=6e-4
    )


def test_a_token_that_failed_its_own_test_is_kept_by_a_later_one(visit):
    r = RUN.rounds[ROUND - 1]
    assert [t.u < t.threshold for t in r.drafted] == [False, True, False, False]
    page = visit(f"trace=block&round={ROUND}&step=6")
    first = page.locator(".cell.draft .tok").first
    expect(first).to_have_attribute("data-kind", "drafted")
    assert cells(page, ".fate") == ["failed"] and look(page, KEPT) == 0
    expect(page.locator(".say")).to_contain_text("only a later pass can keep it")
    focus(page)
    press(page, "ArrowRight")
    expect(first).to_have_attribute("data-kind", "accepted")
    expect(first).to_have_accessible_name(SAVED)
    assert cells(page, ".fate") == ["failed, kept", "passed"] and look(page, KEPT) == 2
    expect(page.locator(".say")).to_contain_text("which failed its own test")
    page.locator(".cell.draft .tok").first.hover()
    expect(page.locator(".panel .verdict")).to_contain_text("kept: a later one passed")


def test_the_last_pass_is_marked_and_what_follows_it_goes(visit):
    page = visit(f"trace=block&round={ROUND}&step=9")
    assert cells(page, ".fate") == ["failed, kept", "last pass", "failed", "failed"]
    kinds = "all => all.map((n) => n.dataset.kind)"
    drafts = page.locator(".cell.draft[data-on] .tok")
    assert drafts.evaluate_all(kinds) == ["accepted", "accepted", "drafted", "drafted"]
    focus(page)
    press(page, "ArrowRight")
    assert drafts.evaluate_all(kinds) == ["accepted", "accepted", "rejected", "discarded"]
    assert look(page, KEPT) == 2
    expect(page.locator(".say")).to_contain_text("the last pass is test 2, so 2 tokens are kept")
    heads = page.locator(".panel thead .num").all_inner_texts()
    assert heads == ["p", "q", "scaled residual"]


@pytest.mark.parametrize("name", ["match", "block", "cut"])
def test_every_step_back_shows_what_it_showed_on_the_way(visit, name):
    page = visit(f"trace={name}&round=1&step=0")
    focus(page)
    run = traces.ruled("block", seed=4, stop_ids=(5,)) if name == "cut" else traces.ruled(name)
    count = sum(stage.steps(r) for r in run.rounds[:6])
    seen = [(look(page, SEEN), look(page, KEPT))]
    for _ in range(count - 1):
        press(page, "ArrowRight")
        seen.append((look(page, SEEN), look(page, KEPT)))
    assert len({str(s) for s in seen}) == count
    assert place(page).startswith(f"round {min(6, len(run.rounds))} of {len(run.rounds)} · ")
    for earlier in reversed(seen[:-1]):
        press(page, "ArrowLeft")
        assert (look(page, SEEN), look(page, KEPT)) == earlier


def fixed(page: Page) -> list[str]:
    """Places of all but the written tokens, which scroll in their strip."""
    return [box for box in look(page, BOXES) if not box.startswith("tok ")]


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("name", ["match", "block"])
def test_nothing_jumps_and_all_has_its_room(visit, name, width):
    page = visit(f"trace={name}&round=1&step=0", width=width)
    focus(page)
    page.evaluate("document.fonts.ready.then(() => true)")
    boxes = fixed(page)
    for _ in range(sum(stage.steps(r) for r in traces.ruled(name).rounds[:4])):
        assert fixed(page) == boxes
        assert look(page, CRAMPED) == []
        press(page, "ArrowRight")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert look(page, EDGE) <= width
