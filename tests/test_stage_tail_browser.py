"""The two laws of a discarded token in a real Chromium."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from specdec.ui import stage
from tests.apps import stage_traces as traces
from tests.stage_page import BOXES, address, focus, look, press, visit  # noqa: F401  (fixtures)

pytestmark = pytest.mark.browser

RUN = traces.mended()
ROUND = next(r for r in RUN.rounds if len(r.drafted) > r.accepted + 2 and r.rejected)
DISCARD = stage.steps(ROUND) - 2


def test_the_step_of_the_tail_shows_both_laws_of_its_first_token(visit):
    page = visit(f"trace=mended&round={ROUND.index + 1}&step={DISCARD - 1}")
    two = page.locator(".panel .two")
    expect(two).to_be_hidden()
    focus(page)
    press(page, "ArrowRight")
    expect(page.locator(".say")).to_contain_text("have been kept; to judge it there takes another")
    expect(two).to_be_visible()
    token = ROUND.drafted[ROUND.accepted + 1]
    expect(two.locator("tr.mine")).to_have_count(1)
    numbers = [float(x) for x in two.locator("tr.mine .num").all_inner_texts()]
    assert numbers == [
        pytest.approx(token.p, abs=6e-4),
        pytest.approx(token.mended.p, abs=6e-4),
    ]
    assert two.locator("thead").inner_text().split() == ["token", "after", "✗", "after", "↻"]
    expect(page.locator(".panel .there")).to_contain_text("To judge it there takes another pass.")
    expect(page.get_by_role("table").first.locator("caption")).to_contain_text("after the rejected")


def test_a_token_that_was_kept_has_one_table(visit):
    page = visit(f"trace=mended&round={ROUND.index + 1}&step={DISCARD}")
    page.locator(f"[data-ref=d{ROUND.accepted}]").hover()
    expect(page.locator(".panel .kind")).to_have_text("rejected")
    expect(page.locator(".panel .two")).to_be_hidden()
    expect(page.locator(".panel tr.mine")).to_have_count(1)


@pytest.mark.parametrize("width", [1440, 1280, 800, 390])
def test_nothing_jumps(visit, width):
    page = visit("trace=mended&round=1&step=0", width=width)
    focus(page)
    page.evaluate("document.fonts.ready.then(() => true)")

    def fixed() -> list[str]:
        return [box for box in look(page, BOXES) if not box.startswith("tok ")]

    boxes = fixed()
    for _ in range(sum(stage.steps(r) for r in RUN.rounds[:4])):
        press(page, "ArrowRight")
        assert fixed() == boxes
    assert page.evaluate("document.documentElement.scrollWidth") <= width
