"""The stage in a real Chromium: keys, links, reruns, no jumps, nothing injected."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from specdec.ui import stage
from tests.apps import stage_traces as traces
from tests.browser import Watch, serving

pytestmark = pytest.mark.browser

# What a reader sees at a step, as text.
SEEN = """(stage) => {
  const all = (what) => [...stage.querySelectorAll(what)];
  const seen = (n) => n.checkVisibility({ visibilityProperty: true });
  return {
    say: stage.querySelector(".say").textContent,
    place: stage.querySelector(".place").textContent,
    tokens: all(".strip .tok, .cell .tok").filter(seen).map((n) => n.dataset.kind + n.dataset.text),
    cells: all(".cell").filter(seen).map((n) => n.className + n.textContent),
    panel: stage.querySelector(".panel").innerText,
    clock: [...stage.querySelectorAll(".sum, .time")].map((n) => n.textContent),
  };
}"""
BOXES = """(stage) => {
  const what = ".strip, .lanes, .say, .clock, .controls, .counts, .panel, footer, .cell, .tok";
  const still = (n) => !n.closest(".cell .tok, .panel .tok");
  const boxes = [...stage.querySelectorAll(what)].filter(still);
  const home = stage.getBoundingClientRect();
  const numbers = (b) => [b.x - home.x, b.y - home.y, b.width, b.height].map(Math.round).join();
  return boxes.map((n) => `${n.className} ${numbers(n.getBoundingClientRect())}`);
}"""


FORTY = """(stage) => {
  const key = { key: "ArrowRight", bubbles: true, cancelable: true };
  for (let i = 0; i < 40; i++) stage.dispatchEvent(new KeyboardEvent("keydown", key));
}"""
EDGE = """(stage) => {
  const what = ".strip, .lanes, .say, .clock *, .controls *, .counts, .panel, footer *";
  const parts = stage.querySelectorAll(what);
  return Math.max(...[...parts].map((n) => n.getBoundingClientRect().right));
}"""
MOVING = """(stage) => [...stage.querySelectorAll("*")]
  .filter((n) => parseFloat(getComputedStyle(n).transitionDuration) > 0).length"""
GROUNDS = """(stage) => [".cell .tok[data-kind=accepted]", ".band", ".label", ".play"]
  .map((what) => getComputedStyle(stage.querySelector(what)).backgroundColor)"""
FOCUSED = """(stage) => {
  const here = stage.getRootNode().activeElement;
  return here.dataset.ref ?? here.className;
}"""


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with serving("tests/apps/stage_app.py") as served:
        yield served


@pytest.fixture
def visit(browser: Any, address: str) -> Iterator[Callable[..., Page]]:
    """`visit("trace=kiln&round=1&step=3")` opens the stage there; faults fail the test."""
    watch = Watch(browser, address)

    def opened(query: str = "trace=kiln", **options: Any) -> Page:
        page = watch.open(f"/?{query}", **options)
        expect(page.locator(".stage .place")).not_to_be_empty(timeout=30_000)
        return page

    yield opened
    watch.close()


def look(page: Page, what: str) -> Any:
    """What a JavaScript function of the stage's root returns."""
    return page.locator(".stage").evaluate(what)


def place(page: Page) -> str:
    return page.locator(".stage .place").inner_text()


def press(page: Page, key: str, times: int = 1) -> None:
    for _ in range(times):
        page.keyboard.press(key)


def focus(page: Page) -> None:
    page.locator(".stage").evaluate("n => n.focus()")


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
    assert "residual" in panel.locator("thead").inner_text()


def test_hover_shows_a_token_and_leaving_gives_the_step_back(visit):
    page = visit("trace=kiln&round=1&step=8")
    expect(page.locator(".panel .kind")).to_have_text("rejected")
    page.locator("[data-ref=d0]").hover()
    expect(page.locator(".panel .kind")).to_have_text("accepted")
    page.mouse.move(5, 5)
    expect(page.locator(".panel .kind")).to_have_text("rejected")


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
