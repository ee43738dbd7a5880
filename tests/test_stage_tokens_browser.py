"""Stepping by written tokens in a real Chromium, up to a round that is still to be asked for."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from specdec.ui import stage
from tests.apps import stage_traces as traces
from tests.stage_page import address, focus, place, press, visit  # noqa: F401  (fixtures)

pytestmark = pytest.mark.browser


def test_a_key_and_a_button_go_to_the_next_written_token_and_back(visit):
    page = visit("trace=kiln")
    focus(page)
    steps = []
    for _ in range(3):
        press(page, ".")
        steps.append(place(page).split(" · ")[1])
    assert steps == ["step 6 of 10", "step 7 of 10", "step 10 of 10"]
    expect(page.locator(".strip .tok[data-on]")).to_have_count(3)
    press(page, ",")
    assert place(page) == "round 1 of 2 · step 7 of 10"
    page.get_by_role("button", name="To the next written token").click()
    page.get_by_role("button", name="To the next written token").click()
    assert place(page) == "round 2 of 2 · step 6 of 10"
    page.get_by_role("button", name="To the written token before").click()
    assert place(page) == "round 1 of 2 · step 10 of 10"
    press(page, ",", 9)
    assert place(page) == "round 1 of 2 · step 0 of 10"


def test_without_anybody_to_ask_it_rests_at_the_end(visit):
    page = visit("trace=sampled&rounds=2&round=2&step=99")
    focus(page)
    end = place(page)
    press(page, ".")
    assert place(page) == end
    onward = page.get_by_role("button", name="To the next written token")
    expect(onward).to_have_attribute("aria-disabled", "true")


def test_at_the_end_of_a_run_that_goes_on_it_asks_for_one_round_and_goes_to_its_first_token(visit):
    page = visit("trace=sampled&rounds=2&more=1&follow=play&round=2&step=99")
    expect(page.get_by_text("asked 0 times", exact=True)).to_be_visible()
    focus(page)
    press(page, ".", 5)  # a key held down
    r = traces.sampled().rounds[2]
    first = stage.steps(r) - 1 if not r.accepted else 1 + len(r.drafted) + 1
    expect(page.locator(".place")).to_have_text(
        f"round 3 of 3 · step {first} of {stage.steps(r) - 1}"
    )
    expect(page.get_by_text("asked 1 times", exact=True)).to_be_visible()
    expect(page.locator(".play")).to_have_text("Play")
    page.wait_for_url(f"**round=3&step={first}")


def test_a_reader_who_goes_back_meanwhile_stays_there(visit):
    page = visit("trace=sampled&rounds=2&more=1&round=2&step=99")
    focus(page)
    page.locator(".stage").evaluate(
        """(n) => [".", "Home"].forEach((key) =>
             n.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true })))"""
    )
    expect(page.locator(".place")).to_contain_text("round 1 of 3 · step 0 of ")


def test_the_ended_run_is_not_asked(visit):
    page = visit("trace=sampled&more=1&round=99&step=99")
    focus(page)
    press(page, ".")
    page.wait_for_timeout(600)
    expect(page.get_by_text("asked 0 times", exact=True)).to_be_visible()
