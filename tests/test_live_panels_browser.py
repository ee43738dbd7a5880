"""The panels of "Live pair" in a real browser: files, the gallery, the race, the ledger, tokens."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from specdec import recordings
from specdec.trace import Trace

pytestmark = pytest.mark.browser


def panel(watch, name: str, **more: str) -> Page:
    """Page 5 on one of its panels."""
    query = "&".join(f"{key}={value}" for key, value in more.items())
    page = watch.open(f"/live?panel={name}&link=1&{query}")
    expect(page.get_by_text("Recorded").first).to_be_visible()
    return page


def upload(page: Page, name: str, data: bytes) -> None:
    file = {"name": name, "mimeType": "application/json", "buffer": data}
    page.locator("input[type=file]").set_input_files(file)


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"not a trace", "This is not JSON"),
        (b'{"schema": 1}', "field 'prompt' is missing"),
        (b"\x00\xff" * 100, "This is not JSON"),
    ],
    ids=["words", "half", "bytes"],
)
def test_a_bad_file_is_refused_and_nothing_is_lost(watch, data: bytes, said: str) -> None:
    page = panel(watch, "files")
    rounds = page.get_by_text(re.compile(r"round \d+ of \d+")).first.inner_text()
    upload(page, "bad.json", data)
    expect(page.get_by_text("“bad.json” was not opened.")).to_be_visible()
    expect(page.get_by_text(said)).to_be_visible()
    expect(page.get_by_text(rounds).first).to_be_visible()
    expect(page.get_by_text("Recorded").first).to_be_visible()


def test_a_lie_in_a_file_is_refused(watch) -> None:
    data = json.loads(recordings.load("copy", "lookup").speculative.to_json())
    data["rounds"][1]["drafted"][0]["p"] = 7
    page = panel(watch, "files")
    upload(page, "lie.json", json.dumps(data).encode())
    expect(page.get_by_text("7.0 is not a chance between 0 and 1")).to_be_visible()


def test_a_run_is_saved_and_opened_again(watch, tmp_path: Path) -> None:
    page = panel(watch, "files", prompt="copy", drafter="lookup")
    with page.expect_download() as saved:
        page.get_by_role("button", name=re.compile("As JSON")).click()
    file = tmp_path / "run.json"
    saved.value.save_as(file)
    wanted = recordings.load("copy", "lookup").speculative
    assert Trace.from_json(file.read_bytes()) == wanted
    page.get_by_role("radio", name="A question").click()
    upload(page, "run.json", file.read_bytes())
    expect(page.get_by_text("Opened from your file “run.json”")).to_be_visible()
    expect(page.get_by_text(f"of {len(wanted.rounds)} ").first).to_be_visible()
    page.get_by_role("button", name="Close it and go back").click()
    expect(page.get_by_text("Opened from your file")).to_have_count(0)


def test_a_recording_of_the_gallery_opens(watch) -> None:
    page = panel(watch, "recordings")
    page.get_by_role("button", name="Open", exact=True).nth(11).click()  # 4th prompt, 3rd way
    wanted = recordings.load("copy", "lookup").speculative
    expect(page.get_by_text(f"of {len(wanted.rounds)} ").first).to_be_visible()
    expect(page.get_by_role("radio", name="Copying")).to_be_checked()


def test_the_race_is_run_to_its_end(watch) -> None:
    page = panel(watch, "race", prompt="copy", drafter="lookup")
    race = page.locator(".race")
    race.get_by_role("slider").focus()
    page.keyboard.press("End")
    wanted = recordings.load("copy", "lookup").speculative
    n = len(wanted.token_ids)
    expect(race.get_by_text(f"{n} of {n} tokens").first).to_be_visible()
    expect(race.locator(".result")).to_contain_text("Speculative decoding was first")


def test_the_ledger_steps_with_the_stage(watch) -> None:
    page = panel(watch, "rates")
    page.get_by_text("KV ledger").click()
    step = page.get_by_role("slider", name="Step")
    step.focus()
    page.keyboard.press("Home")
    before = page.locator(".stage .ledger").inner_text()
    page.keyboard.press("Shift+ArrowRight")
    page.keyboard.press("ArrowLeft")
    expect(page.locator(".stage .ledger")).not_to_have_text(before)
    expect(page.locator(".stage .ledger").get_by_text("rolled back").first).to_be_visible()


@pytest.mark.model
def test_the_next_token_asks_for_the_next_round(watch, default_pair) -> None:
    page = panel(watch, "rates")
    page.get_by_role("button", name="One round").click()
    expect(page.get_by_text("decoded on this machine")).to_be_visible()
    step = page.get_by_role("slider", name="Step")
    step.focus()
    page.keyboard.press("End")
    expect(step).to_have_attribute("aria-valuetext", re.compile("round 1 of 1"))
    page.keyboard.press(".")
    expect(step).to_have_attribute("aria-valuetext", re.compile("round 2 of 2"))
