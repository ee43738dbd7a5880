"""Page 7 in a real browser: one real measurement, cancelled once, then whole; saved and opened."""

from __future__ import annotations

import json
import re

import pytest
from playwright.sync_api import expect

from specdec.machine import Machine

pytestmark = pytest.mark.browser


def test_a_measurement_is_saved_and_opened_beside_itself(watch, tmp_path):
    page = watch.open("/machine")
    expect(page.get_by_text(re.compile(r"^Recorded on "))).to_be_visible()
    with page.expect_download() as saved:
        page.get_by_role("button", name=re.compile("As JSON")).click()
    file = tmp_path / "machine.json"
    saved.value.save_as(file)
    Machine.from_json(file.read_bytes())
    page.locator("input[type=file]").set_input_files(file)
    expect(page.get_by_text("your file")).to_be_visible()


def test_a_bad_file_is_refused_and_the_page_stays(watch):
    page = watch.open("/machine")
    bad = {"name": "bad.json", "mimeType": "application/json", "buffer": b'{"schema": 1}'}
    page.locator("input[type=file]").set_input_files(bad)
    expect(page.get_by_text("was not opened")).to_be_visible()
    expect(page.get_by_text(re.compile(r"^Recorded on "))).to_be_visible()


@pytest.mark.model
def test_measure_cancel_and_measure(watch, default_pair, tmp_path):
    page = watch.open("/machine?prompt=copy&link=1")
    page.get_by_role("button", name="Measure this machine").click()
    expect(page.get_by_role("progressbar")).to_be_visible()
    page.get_by_role("button", name="Cancel").click()
    expect(page.get_by_role("button", name="Measure this machine")).to_be_enabled()
    expect(page.get_by_text(re.compile(r"^Recorded on "))).to_be_visible()
    page.get_by_role("button", name="Measure this machine").click()
    expect(page.get_by_text("Measured in this visit")).to_be_visible(timeout=300_000)
    with page.expect_download() as saved:
        page.get_by_role("button", name=re.compile("As JSON")).click()
    file = tmp_path / "machine.json"
    saved.value.save_as(file)
    assert Machine.from_json(file.read_bytes()).prompt == "copy"
    assert json.loads(file.read_text())["source"]["kind"] == "live"
