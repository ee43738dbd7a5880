"""Page 4 in a real Chromium: pins, the simulated cloud, the saved figure, sections on demand."""

from __future__ import annotations

import csv
import io
import re
from urllib.parse import parse_qs, urlsplit
from xml.etree import ElementTree

import pytest
from playwright.sync_api import Page, expect

from specdec import theory
from specdec.ui.speedup_at import SECTIONS

pytestmark = pytest.mark.browser

COLD = "/speedup?k=6&alpha=0.7&c=0.05&v=0&link=1"
PINNED = f"{COLD}&pins=4_0.2_0.05_0~8_0.8_0.2_0.05"
SVG = "{http://www.w3.org/2000/svg}"


def speed(page: Page):
    return page.locator("[data-out=speedup]")


def lines(page: Page, kind: str):
    return page.locator(f".main svg path.{kind}")


def test_a_pinned_curve_stays_while_the_sliders_go_on(watch):
    page = watch.open(COLD)
    expect(speed(page)).to_have_text("2.35×")
    pin = page.get_by_role("button", name="Pin this setting")
    pin.click()
    expect(page.locator(".pins li")).to_have_text(re.compile("A  k = 6 · α = 0.7.*2.35×"))
    expect(page.get_by_text("this setting is pinned")).to_be_visible()
    expect(page).to_have_url(re.compile("pins=6_0.7_0.05_0"))
    kept = lines(page, "pin").get_attribute("d")
    assert kept == lines(page, "curve").get_attribute("d")

    page.locator("input#k").focus()
    page.keyboard.press("ArrowRight")
    page.locator("input#c").focus()
    page.keyboard.press("ArrowRight")
    expect(page).to_have_url(re.compile("k=7&.*c=0.055"))
    assert lines(page, "pin").get_attribute("d") == kept
    assert lines(page, "curve").get_attribute("d") != kept
    expect(page.locator(".main svg text.ring")).to_have_text("A")
    expect(page.get_by_text("Pinned, beside your setting")).to_be_visible()
    expect(page.get_by_text("this setting is pinned")).to_have_count(0)


def test_pins_are_set_and_let_go_by_keyboard_and_four_are_the_most(watch):
    page = watch.open(COLD)
    expect(speed(page)).to_have_text("2.35×")
    pin = page.get_by_role("button", name="Pin this setting")
    for _ in range(5):
        pin.focus()
        page.keyboard.press("Enter")
        page.locator("input#k").focus()
        page.keyboard.press("ArrowRight")
    expect(page.locator(".pins li")).to_have_count(4)
    expect(page.get_by_text("four pins are the most")).to_be_visible()
    assert len({p.get_attribute("class") for p in lines(page, "pin").all()}) == 4, "four dashes"
    page.get_by_role("button", name="Unpin B").focus()
    page.keyboard.press("Enter")
    expect(page.locator(".pins li")).to_have_count(3)
    focused = "document.activeElement.shadowRoot.activeElement.textContent"
    assert page.evaluate(focused) == "Pin this setting", "the focus is not lost with the row"
    expect(page).to_have_url(re.compile("pins=6_0.7_0.05_0~8_0.7_0.05_0~9_0.7_0.05_0"))


def test_a_link_restores_pins_and_a_preset_leaves_them(watch):
    page = watch.open(PINNED)
    expect(page.locator(".pins li")).to_have_count(2)
    page.get_by_role("button", name="Good and cheap").click()
    expect(speed(page)).to_have_text("2.80×")
    expect(page.locator(".pins li")).to_have_count(2)
    expect(page).to_have_url(re.compile("pins=4_0.2_0.05_0~8_0.8_0.2_0.05"))
    page.get_by_role("button", name="Set the sliders to B").click()
    expect(speed(page)).to_have_text(f"{theory.speedup(0.8, 8, 0.2, 0.05):.2f}×")
    page.reload()
    expect(page.locator(".pins li")).to_have_count(2)


@pytest.mark.parametrize("dark", [False, True])
def test_the_saved_figure_is_whole_and_dark_on_white(watch, dark, tmp_path):
    page = watch.open(f"{PINNED}&open=rounds&n=200", dark=dark, accept_downloads=True)
    expect(lines(page, "mean")).to_have_attribute("d", re.compile("M"))
    drawn = lines(page, "curve").get_attribute("d")
    with page.expect_download() as caught:
        page.get_by_role("button", name="Save the figure").click()
    assert caught.value.suggested_filename == "speedup_k6_alpha0.7_c0.05_v0.svg"
    file = tmp_path / "figure.svg"
    caught.value.save_as(file)
    text = file.read_text(encoding="utf-8")
    root = ElementTree.fromstring(text)
    assert root.tag == f"{SVG}svg"
    assert "var(" not in text and "href" not in text and "class=" not in text
    paths = {path.get("d"): path for path in root.iter(f"{SVG}path")}
    curve = paths[drawn]
    assert (curve.get("stroke"), curve.get("stroke-width")) == ("rgb(0, 114, 178)", "3px")
    assert sum(path.get("stroke") == "rgb(192, 86, 158)" for path in paths.values()) == 2
    ground = next(root.iter(f"{SVG}rect"))
    assert (ground.get("fill"), ground.get("width")) == ("#ffffff", root.get("width"))
    inks = {node.get("fill") for node in root.iter(f"{SVG}text")}
    assert inks <= {"rgb(27, 27, 27)", "#1b1b1b", "rgb(0, 114, 178)", "rgb(192, 86, 158)"}
    words = " ".join(node.text or "" for node in root.iter(f"{SVG}text"))
    for said in ("you: k = 6 · α = 0.7", "A: k = 4", "B: k = 8", "simulated: mean of 200 rounds"):
        assert said in words
    assert page.locator(".main svg").count() == 1, "the copy is gone"


def test_the_values_come_as_a_file(watch, tmp_path):
    page = watch.open(PINNED, accept_downloads=True)
    with page.expect_download() as caught:
        page.get_by_role("button", name="Save the values").click()
    caught.value.save_as(tmp_path / "values.csv")
    text = (tmp_path / "values.csv").read_text(encoding="utf-8")
    rows = list(csv.reader(io.StringIO(text)))
    assert len(rows) == 26 and len(rows[0]) == 6
    assert float(rows[7][3]) == theory.speedup(0.7, 6, 0.05)


def test_the_cloud_is_on_the_curve_while_its_section_is_open(watch):
    page = watch.open(COLD)
    expect(speed(page)).to_have_text("2.35×")
    assert not lines(page, "band").get_attribute("d")
    page.get_by_text("Play the rounds out").click()
    expect(lines(page, "band")).to_have_attribute("d", re.compile("M"))
    expect(page.get_by_text("simulated: mean of 500 rounds")).to_be_visible()
    expect(page).to_have_url(re.compile("open=rounds&n=500&seed=0"))
    first = lines(page, "mean").get_attribute("d")
    page.get_by_role("button", name="Another seed").click()
    expect(page).to_have_url(re.compile("seed=1"))
    expect(lines(page, "mean")).not_to_have_attribute("d", first)
    assert first.count("L") == 24, "a mean at every k"

    page.locator("input#alpha").focus()
    page.keyboard.down("ArrowRight")  # another α: these rounds are not its own
    expect(lines(page, "mean")).to_have_attribute("d", "")
    page.keyboard.up("ArrowRight")  # let go: new rounds
    expect(lines(page, "mean")).to_have_attribute("d", re.compile("M"))
    page.get_by_text("Play the rounds out").click()
    expect(lines(page, "band")).to_have_attribute("d", "")
    expect(page).not_to_have_url(re.compile("open="))


def test_sections_open_by_key_load_their_chart_then_and_a_reload_keeps_them(watch):
    page = watch.open(COLD)
    expect(speed(page)).to_have_text("2.35×")
    expect(page.locator(".js-plotly-plot")).to_have_count(0)
    page.locator("summary", has_text="The whole map").focus()
    page.keyboard.press("Enter")
    expect(page.locator(".js-plotly-plot")).to_have_count(1)
    assert parse_qs(urlsplit(page.url).query)["open"] == ["map"]
    page.reload()
    expect(page.locator(".js-plotly-plot")).to_have_count(1)
    page.get_by_text("Backwards: from a measured").click()
    typed = page.get_by_label("Measured speed-up")
    typed.fill("1.9")
    typed.press("Enter")
    expect(page.get_by_text("1.9 × 1.3 = 2.470 tokens a pass")).to_be_visible()
    page.get_by_role("button", name="Put it on the curve").click()
    expect(speed(page)).to_have_text("1.90×")


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("width", [1280, 390])
def test_everything_open_fits_both_themes_and_a_phone(watch, dark, width):
    page = watch.open(f"{PINNED}&open={'.'.join(SECTIONS)}", width=width, dark=dark)
    expect(page.locator(".js-plotly-plot")).to_have_count(3)
    main = page.get_by_test_id("stMain")
    assert main.evaluate("e => e.scrollWidth <= e.clientWidth"), "nothing scrolls sideways"
    boxes = page.locator(".main svg text").evaluate_all(
        "all => all.filter(t => t.textContent).map(t => [t.getBBox().x, t.getBBox().width])"
    )
    inside = page.locator(".main svg").bounding_box()["width"]
    assert all(x >= 0 and x + wide <= inside + 1 for x, wide in boxes), "no words are cut off"
