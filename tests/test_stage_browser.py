"""The stage in a real Chromium: keys, links, and the panel of a token."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from specdec.ui import stage
from tests.apps import stage_traces as traces
from tests.stage_page import (  # noqa: F401  (fixtures)
    FOCUSED,
    FORTY,
    SEEN,
    address,
    focus,
    look,
    place,
    press,
    visit,
)

pytestmark = pytest.mark.browser


def test_every_step_back_shows_what_it_showed_on_the_way(visit):
    page = visit("trace=sampled")
    focus(page)
    count = sum(stage.steps(r) for r in traces.sampled().rounds)
    seen = [look(page, SEEN)]
    for _ in range(count - 1):
        press(page, "ArrowRight")
        seen.append(look(page, SEEN))
    assert len({str(s) for s in seen}) == count
    press(page, "ArrowRight")
    assert look(page, SEEN) == seen[-1]
    for earlier in reversed(seen[:-1]):
        press(page, "ArrowLeft")
        assert look(page, SEEN) == earlier


def test_verify_lights_all_positions_at_once(visit):
    page = visit("trace=kiln&round=1&step=4")
    lit = page.locator(".cell.verify[data-on]")
    expect(lit).to_have_count(0)
    expect(page.locator(".cell.draft[data-on]")).to_have_count(4)
    focus(page)
    press(page, "ArrowRight")
    expect(page.locator(".say")).to_have_text(
        "Round 1, verify: one target pass scores 5 positions at once."
    )
    expect(lit).to_have_count(5)


def test_rapid_keys_lose_nothing_and_the_page_hears_the_absolute_place(visit):
    page = visit("trace=long")
    focus(page)
    look(page, FORTY)
    run, at = traces.sampled(180, seed=5), 40
    number = 1
    while at >= stage.steps(run.rounds[number - 1]):
        at -= stage.steps(run.rounds[number - 1])
        number += 1
    assert place(page).startswith(f"round {number} of {len(run.rounds)} · step {at} of ")
    expect(page.get_by_text(f"round {number}, step {at}", exact=True)).to_be_visible()
    page.wait_for_url(f"**round={number}&step={at}")


def test_a_link_restores_the_place(visit):
    page = visit("trace=kiln&round=2&step=3")
    assert place(page) == "round 2 of 2 · step 3 of 10"
    expect(page.get_by_text("round 2, step 3", exact=True)).to_be_visible()


@pytest.mark.parametrize("query", ["round=99&step=-4", "round=<b>&step=x", "round=1e9"])
def test_a_nonsense_link_is_clamped(visit, query):
    page = visit(f"trace=kiln&{query}")
    assert place(page) in ("round 2 of 2 · step 10 of 10", "round 1 of 2 · step 0 of 10")


def test_rounds_home_and_end(visit):
    page = visit("trace=kiln")
    focus(page)
    for key, expected in [
        ("Shift+ArrowRight", "round 2 of 2 · step 0 of 10"),
        ("PageDown", "round 2 of 2 · step 1 of 10"),
        ("Shift+ArrowLeft", "round 2 of 2 · step 0 of 10"),
        ("PageUp", "round 1 of 2 · step 10 of 10"),
        ("End", "round 2 of 2 · step 10 of 10"),
        ("Home", "round 1 of 2 · step 0 of 10"),
    ]:
        press(page, key)
        assert place(page) == expected


def test_space_plays_to_the_end_and_pauses(visit):
    page = visit("trace=kiln")
    focus(page)
    page.locator(".speed select").select_option("4")
    focus(page)
    press(page, " ")
    expect(page.locator(".play")).to_have_text("Pause")
    expect(page.locator(".place")).to_have_text("round 1 of 2 · step 2 of 10")
    press(page, " ")
    expect(page.locator(".play")).to_have_text("Play")
    stopped = place(page)
    page.wait_for_timeout(700)
    assert place(page) == stopped
    press(page, " ")
    expect(page.locator(".place")).to_have_text("round 2 of 2 · step 10 of 10", timeout=20_000)
    expect(page.locator(".play")).to_have_text("Play")
    expect(page.get_by_text("round 2, step 10", exact=True)).to_be_visible()


def test_arrows_reach_the_stage_while_nothing_has_the_focus(visit):
    page = visit("trace=kiln")
    press(page, "ArrowRight", 3)
    assert place(page) == "round 1 of 2 · step 3 of 10"
    press(page, " ")
    expect(page.locator(".play")).to_have_text("Play")


def test_in_presenter_mode_space_and_clicker_step_without_focus(visit):
    page = visit("trace=kiln&mode=presenter")
    press(page, " ", 2)
    press(page, "PageDown")
    assert place(page) == "round 1 of 2 · step 3 of 10"
    press(page, "PageUp")
    assert place(page) == "round 1 of 2 · step 2 of 10"


def test_buttons_and_scrubber(visit):
    page = visit("trace=kiln")
    page.get_by_role("button", name="One step on").click()
    assert place(page) == "round 1 of 2 · step 1 of 10"
    page.get_by_role("button", name="To the end").click()
    page.get_by_role("button", name="One step back").click()
    assert place(page) == "round 2 of 2 · step 9 of 10"
    page.get_by_role("slider", name="Step").fill("12")
    assert place(page) == "round 2 of 2 · step 1 of 10"


def test_tab_reaches_the_tokens_and_arrows_walk_them(visit):
    page = visit("trace=sampled&round=3&step=8")
    stops = page.locator(".tok[tabindex='0']")
    expect(stops).to_have_count(1)
    focus(page)
    press(page, "Tab")
    first = look(page, FOCUSED)
    press(page, "ArrowUp")
    second = look(page, FOCUSED)
    assert first != second and second[0] in "dwp"
    expect(stops).to_have_count(1)
    name = page.locator(".panel .head .text")
    expect(name).to_have_text(page.locator(f"[data-ref={second}]:visible .text").first.inner_text())
    press(page, "ArrowLeft")
    assert place(page) == "round 3 of 8 · step 7 of 10"


def test_a_clicked_token_tells_its_numbers(visit):
    run = traces.sampled()
    r = next(i for i, r in enumerate(run.rounds) if r.rejected)
    i = run.rounds[r].accepted
    token = run.rounds[r].drafted[i]
    page = visit(f"trace=sampled&round={r + 1}&step={stage.steps(run.rounds[r]) - 1}")
    page.locator(f"[data-ref=d{i}]").click()
    panel = page.locator(".panel")
    expect(panel.locator(".kind")).to_have_text("rejected")
    expect(panel.locator(".id")).to_have_text(f"id {token.id}")
    values = panel.locator("dd").all_inner_texts()
    assert float(values[0]) == pytest.approx(token.q, abs=6e-4)
    assert float(values[1]) == pytest.approx(token.p, abs=6e-4)
    assert float(values[4]) == pytest.approx(token.u, abs=6e-4)
    expect(panel.locator("tbody tr.mine")).to_have_count(1)
    assert panel.locator("tbody tr").count() >= 10
    assert "residual" in panel.locator("thead:visible").inner_text()


def test_hover_shows_a_token_and_leaving_gives_the_step_back(visit):
    page = visit("trace=kiln&round=1&step=8")
    expect(page.locator(".panel .kind")).to_have_text("rejected")
    page.locator("[data-ref=d0]").hover()
    expect(page.locator(".panel .kind")).to_have_text("accepted")
    page.mouse.move(5, 5)
    expect(page.locator(".panel .kind")).to_have_text("rejected")
