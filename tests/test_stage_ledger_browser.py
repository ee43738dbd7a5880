"""The ledger of both caches in a real Chromium: cells step by step, the book, no jumps."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from specdec.ledger import ledger
from specdec.ui import stage
from tests.apps import stage_traces as traces
from tests.stage_page import (  # noqa: F401  (fixtures)
    BOXES,
    address,
    focus,
    look,
    place,
    press,
    visit,
)

pytestmark = pytest.mark.browser

RUN = traces.priced()
STATES = """(stage) => ["target", "drafter"].map((who) =>
  [...stage.querySelectorAll(`.kv.${who}`)].map((n) => n.dataset.state))"""
SEEN = """(stage) => [stage.querySelector(".told").textContent, stage.querySelector(".held").textContent,
  ...[...stage.querySelectorAll(".kv, .at, .who, .book tr")].map((n) => `${n.dataset.state ?? ""} ${n.textContent}`)]"""  # noqa: E501
INSIDE = """(stage) => {
  const home = stage.querySelector(".ledger").getBoundingClientRect();
  const still = [...stage.querySelectorAll(".kv, .at, .who, .book, .book :is(th, td), .told, .price")];
  const boxes = still.map((n) => n.getBoundingClientRect());
  const scroll = stage.querySelector(".book").scrollTop;
  return boxes.map((b, i) => [still[i].className, b.x - home.x,
    b.y - home.y + (still[i].closest("tbody") ? scroll : 0), b.width, b.height].map(String).join());
}"""  # noqa: E501
CUT = """(stage) => [...stage.querySelectorAll(".ledger .kv .word, .book td")]
  .filter((n) => n.checkVisibility({ visibilityProperty: true }) && n.scrollWidth > n.clientWidth + 1 && n.clientWidth)
  .map((n) => n.textContent)"""  # noqa: E501


def unfold(page: Page) -> Page:
    page.locator(".ledger summary").click()
    expect(page.locator(".ruler")).to_be_visible()
    focus(page)
    return page


def lengths(page: Page) -> list[int]:
    """Cached tokens of target and drafter as the summary says them."""
    said = page.locator(".ledger summary .held").inner_text()
    return [int(part.split()[1]) for part in said.split(" · ")]


def test_the_cells_follow_the_steps(visit):
    r = next(r for r in RUN.rounds if r.rejected and 0 < r.accepted < len(r.drafted))
    entry = ledger(RUN)[r.index]
    page = unfold(visit(f"trace=priced&ledger=1&round={r.index + 1}&step=0"))
    rows = []
    for _ in range(stage.steps(r)):
        rows.append(look(page, STATES))
        press(page, "ArrowRight")
    target, drafter = zip(*rows)
    n = len(r.drafted)
    assert target[0] == target[n] and "written" not in target[n]  # while the drafter drafts
    assert [row.count("written") for row in drafter[1 : n + 1]] == [
        reached - entry.drafter.before for reached in entry.drafter.reached
    ]
    assert target[n + 1].count("written") == n + 1  # all at once
    assert target[-2].count("rolled") == 0 and target[-1].count("rolled") == n - r.accepted
    assert drafter[-1].count("rolled") == entry.drafter.rolled_back
    assert target[-1].count("kept") == len(r.written)


def test_the_owed_cell_stands_until_the_next_first_pass(visit):
    r = next(r for r in RUN.rounds if r.accepted == len(r.drafted))
    page = unfold(visit(f"trace=priced&ledger=1&round={r.index + 1}&step=99"))
    assert [row.count("owed") for row in look(page, STATES)] == [0, 1]
    expect(page.locator(".kv[data-state=owed]")).to_have_text("○owed")
    press(page, "ArrowRight")
    assert [row.count("owed") for row in look(page, STATES)] == [0, 1]
    expect(page.locator(".told")).to_contain_text("The drafter is also owed")
    press(page, "ArrowRight")
    assert [row.count("owed") for row in look(page, STATES)] == [0, 0]
    assert look(page, STATES)[1].count("written") == 2


def test_the_book_has_the_rounds_that_are_over_and_marks_the_current_one(visit):
    page = unfold(visit("trace=priced&ledger=1&round=3&step=5"))
    rows = page.locator(".book tbody tr")
    expect(rows).to_have_count(len(RUN.rounds))
    numbers = rows.evaluate_all(
        "all => all.map((n) => [...n.cells].slice(1).map((c) => c.textContent))"
    )
    for i, entry in enumerate(ledger(RUN)):
        one, two = entry.target, entry.drafter
        expected = [one.fed, one.kept, one.rolled_back, one.after]
        expected += [two.fed, two.kept, two.rolled_back, two.owed, two.after]
        assert numbers[i] == ([str(n) for n in expected] if i < 2 else [""] * 9)
    assert rows.evaluate_all("all => all.map((n) => n.ariaCurrent)").index("true") == 2
    foot = page.locator(".book tfoot tr").first.locator("td").all_inner_texts()
    done = ledger(RUN)[:2]
    assert foot[0] == str(sum(e.target.fed for e in done))
    assert foot[6] == str(sum(e.drafter.rolled_back for e in done))
    in_bytes = page.locator(".book tfoot tr").nth(1).locator("td").all_inner_texts()
    assert in_bytes[3] == f"{done[-1].target.after * 23_040 / 1e6:.2f} MB"
    expect(page.locator(".price")).to_contain_text("23.0 kB in the target and 3.07 kB")


def test_every_step_back_shows_what_it_showed_on_the_way(visit):
    page = unfold(visit("trace=priced&ledger=1"))
    count = sum(stage.steps(r) for r in RUN.rounds[:3])
    seen = [look(page, SEEN)]
    for _ in range(count - 1):
        press(page, "ArrowRight")
        seen.append(look(page, SEEN))
    for earlier in reversed(seen[:-1]):
        press(page, "ArrowLeft")
        assert look(page, SEEN) == earlier


def test_the_summary_counts_while_it_is_closed(visit):
    page = visit("trace=priced&ledger=1&round=1&step=99")
    first = ledger(RUN)[0]
    assert lengths(page) == [first.target.after, first.drafter.after]
    expect(page.locator(".ruler")).to_be_hidden()


def test_it_is_open_again_after_a_reload(visit):
    page = unfold(visit("trace=priced&ledger=1&round=2&step=4"))
    page.reload()
    expect(page.locator(".ruler")).to_be_visible()
    expect(page.locator(".kv[data-state=written]").first).to_be_visible()


def test_a_page_that_did_not_ask_has_none(visit):
    expect(visit("trace=priced").locator(".ledger")).to_be_hidden()


@pytest.mark.parametrize("width", [1440, 1280, 390])
@pytest.mark.parametrize("name", ["kiln", "priced"])
def test_nothing_jumps_and_nothing_is_cut(visit, name, width):
    page = unfold(visit(f"trace={name}&ledger=1", width=width))
    page.evaluate("document.fonts.ready.then(() => true)")
    run = traces.kiln() if name == "kiln" else RUN

    def fixed() -> list[str]:
        return look(page, INSIDE) + [b for b in look(page, BOXES) if not b.startswith("tok ")]

    boxes = fixed()
    for _ in range(sum(stage.steps(r) for r in run.rounds[:4])):
        press(page, "ArrowRight")
        assert fixed() == boxes
        assert look(page, CUT) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_a_copying_drafter_has_no_row_of_cells(visit):
    page = unfold(visit("trace=copied&ledger=1&round=2&step=1"))
    expect(page.locator(".who.drafter")).to_contain_text("no cache")
    expect(page.locator(".kv.drafter:visible, .book .drafter:visible")).to_have_count(0)
    expect(page.locator(".told")).to_have_text("The drafter keeps no cache: nothing is written.")


@pytest.mark.parametrize("name", ["plain", "cancelled"])
def test_runs_without_a_draft_or_a_round(visit, name):
    page = unfold(visit(f"trace={name}&ledger=1&round=2&step=99"))
    told = {"plain": "Nothing is rolled back.", "cancelled": "No round yet."}
    expect(page.locator(".told")).to_contain_text(told[name])


def test_the_book_scrolls_by_keys_and_the_stage_steps_by_its_own(visit):
    page = unfold(visit("trace=long&ledger=1&round=1&step=1"))
    book = page.locator(".book")
    book.focus()
    press(page, "End")
    page.wait_for_timeout(400)
    assert place(page).startswith("round 1 ") and book.evaluate("n => n.scrollTop") > 500
    press(page, "ArrowRight")
    assert " · step 2 of " in place(page)


def test_print_shows_all_rounds(visit):
    page = unfold(visit("trace=long&ledger=1&round=1&step=1"))
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    page.emulate_media(media="print")
    rounds = traces.sampled(180, seed=5).rounds
    expect(page.locator(".book tbody tr[data-on]:visible")).to_have_count(len(rounds))
    box = page.locator(".book").evaluate("n => n.scrollHeight - n.clientHeight")
    assert box <= 0
