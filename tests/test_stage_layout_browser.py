"""The stage in a real Chromium: no jumps, reruns, themes, paper; nothing injected."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from specdec.ui import stage
from tests.apps import stage_traces as traces
from tests.stage_page import (  # noqa: F401  (fixtures)
    BOXES,
    EDGE,
    GROUNDS,
    MOVING,
    SEEN,
    address,
    focus,
    look,
    place,
    press,
    visit,
)

pytestmark = pytest.mark.browser


@pytest.mark.parametrize("width", [1440, 1280, 390])
def test_nothing_jumps_within_a_run(visit, width):
    page = visit("trace=kiln", width=width)
    focus(page)
    page.evaluate("document.fonts.ready.then(() => true)")
    boxes = look(page, BOXES)
    count = sum(stage.steps(r) for r in traces.kiln().rounds)
    rounds = [boxes]
    for _ in range(count - 1):
        press(page, "ArrowRight")
        rounds.append(look(page, BOXES))
    for now in rounds:
        assert now == boxes


@pytest.mark.parametrize("name", ["long", "plain", "copied", "cancelled"])
def test_no_sideways_scroll_on_a_phone(visit, name):
    page = visit(f"trace={name}&round=2&step=3", width=390)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert look(page, EDGE) <= 390


def test_light_and_dark_follow_the_system(visit):
    def grounds(dark: bool) -> list[str]:
        page = visit("trace=kiln&round=1&step=8", dark=dark)
        return look(page, GROUNDS)

    light, dark = grounds(False), grounds(True)
    assert len(light) == len(dark) == 4
    assert all(a != b for a, b in zip(light, dark))


def test_token_text_is_never_markup(visit):
    page = visit("trace=long&round=66&step=99")
    texts = page.locator(".strip .tok").evaluate_all("all => all.map((n) => n.dataset.text)")
    written = [t.text for t in traces.sampled(180, seed=5).written]
    assert texts[-len(written) :] == written
    assert "<script>alert(1)</script>" in written
    inside = page.locator(".stage").evaluate(
        "s => s.querySelectorAll('.tok script, .tok b').length"
    )
    assert inside == 0


def test_a_rerun_changes_no_node_and_no_place(visit):
    page = visit("trace=sampled")
    focus(page)
    press(page, "ArrowRight", 7)
    before = look(page, SEEN)
    page.locator(".stage").evaluate(
        "s => s.querySelectorAll('.tok, .cell').forEach((n) => (n.mine = true))"
    )
    expect(page.get_by_text("round 1, step 7", exact=True)).to_be_visible()
    page.get_by_role("button", name="Rerun").click()
    page.wait_for_timeout(800)
    page.mouse.move(5, 5)
    assert look(page, SEEN) == before
    kept = page.locator(".stage").evaluate(
        "s => [...s.querySelectorAll('.tok[data-ref], .cell')].every((n) => n.mine)"
    )
    assert kept


def more(page: Page, rounds: int) -> None:
    page.get_by_role("button", name="One round more").click()
    expect(page.locator(".place")).to_contain_text(f"of {rounds} ·")


@pytest.mark.parametrize("follow", ["stay", "end"])
def test_a_growing_run_leaves_a_reader_where_he_is(visit, follow):
    page = visit(f"trace=sampled&rounds=2&follow={follow}&round=1&step=4")
    more(page, 3)
    assert place(page).startswith("round 1 of 3 · step 4 of ")


def test_a_reader_at_the_end_follows_if_asked(visit):
    page = visit("trace=sampled&rounds=2&follow=end&round=9&step=0")
    more(page, 3)
    last = stage.steps(traces.sampled().rounds[2]) - 1
    expect(page.locator(".place")).to_have_text(f"round 3 of 3 · step {last} of {last}")


def test_a_reader_at_the_end_sees_the_new_round_played(visit):
    page = visit("trace=sampled&rounds=0&follow=play")
    expect(page.locator(".place")).to_have_text("no round yet")
    more(page, 1)
    expect(page.locator(".play")).to_have_text("Pause")
    expect(page.locator(".place")).to_contain_text("step 3 of")


def test_a_run_that_appears_is_played_but_not_the_place_of_a_link(visit):
    page = visit("trace=sampled&rounds=2&follow=play")
    expect(page.locator(".play")).to_have_text("Pause")
    expect(page.locator(".place")).to_contain_text("step 2 of")
    page = visit("trace=sampled&rounds=2&follow=play&round=1&step=4")
    expect(page.locator(".play")).to_have_text("Play")
    expect(page.locator(".place")).to_contain_text("step 4 of")


def test_reduced_motion_shows_the_end_instead_of_playing(visit):
    page = visit("trace=sampled&rounds=0&follow=play", reduced_motion="reduce")
    more(page, 1)
    last = stage.steps(traces.sampled().rounds[0]) - 1
    expect(page.locator(".place")).to_have_text(f"round 1 of 1 · step {last} of {last}")
    assert look(page, MOVING) == 0


def test_print_shows_the_finished_state(visit):
    page = visit("trace=kiln&round=1&step=2")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    page.emulate_media(media="print")
    expect(page.locator(".strip .tok:visible")).to_have_count(6)
    expect(page.locator(".cell.write .tok:visible")).to_have_count(3)
    expect(page.locator(".controls")).to_be_hidden()
    page.emulate_media(media="screen")
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert place(page) == "round 1 of 2 · step 2 of 10"


@pytest.mark.parametrize("name", ["plain", "copied", "cancelled"])
def test_runs_without_a_drafting_model_are_shown(visit, name):
    page = visit(f"trace={name}&round=1&step=1", dark=True)
    focus(page)
    press(page, "End")
    says = {
        "plain": "1 token for one pass",
        "copied": "for one pass",
        "cancelled": "Cancelled before",
    }
    expect(page.locator(".say")).to_contain_text(says[name])
