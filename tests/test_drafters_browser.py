"""Page 6 in a real browser: the clock plays, the tree is walked, a link opens the same node."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from specdec import contest, tree, tree_rounds
from specdec.ui.drafters_tree import telling

pytestmark = pytest.mark.browser
TREE = contest.load("chat").entry("tree").trace
ROUND, NODE = telling(TREE)


def test_the_clock_waits_plays_and_ends(watch):
    page = watch.open("/drafters", reduced_motion="reduce")
    lanes = page.locator(".lanes")
    expect(lanes.locator(".now")).to_have_text("0 ms")
    lanes.locator("[data-do=next]").click()
    expect(lanes.locator(".now")).not_to_have_text("0 ms")
    lanes.locator("[data-do=last]").click()
    expect(lanes.locator(".lane[data-over]")).to_have_count(lanes.locator(".lane").count())
    expect(lanes.locator(".said")).to_contain_text("1. ")
    lanes.focus()
    page.keyboard.press("Home")
    expect(lanes.locator(".now")).to_have_text("0 ms")


def test_a_node_lights_its_path_its_row_and_its_position(watch):
    page = watch.open(f"/drafters?round={ROUND}&step=0")
    r = TREE.rounds[ROUND - 1]
    parents = tree_rounds.parents(r)
    drawn = page.locator(".tree")
    for node in (NODE - 1, len(r.drafted) - 1):
        drawn.locator(f".canvas [data-node='{node}']").click()
        path = tree.path(parents, node)
        expect(drawn.locator(".canvas .tok[data-path]")).to_have_count(len(path))
        row = drawn.locator(".mask tr[data-chosen]")
        expect(row).to_have_attribute("data-node", str(node))
        expect(row.locator("td[data-sees]")).to_have_count(2 + len(path))
        place = tree.positions(parents, r.start)[node]
        expect(drawn.locator(".about dl")).to_contain_text(f"{place} = {r.start} + depth")


def test_the_keys_walk_the_tree_and_the_rounds_and_the_link_follows(watch):
    page = watch.open(f"/drafters?round={ROUND}&step=1")
    drawn, r = page.locator(".tree"), TREE.rounds[ROUND - 1]
    drawn.locator(".canvas [data-node='0']").focus()
    page.keyboard.press("ArrowDown")
    chosen = drawn.locator(".canvas [aria-current=true]")
    expect(chosen).to_be_focused()
    assert tree.depths(tree_rounds.parents(r))[int(chosen.get_attribute("data-node"))] == 1
    page.keyboard.press("Shift+ArrowRight")
    expect(drawn.locator(".place")).to_have_text(f"round {ROUND + 1} of {len(TREE.rounds)}")
    page.get_by_text("Link to exactly this").click()
    link = page.get_by_text(re.compile(rf"round={ROUND + 1}&"))
    expect(link).to_be_visible()


@pytest.mark.parametrize("width", [390, 1280])
def test_nothing_is_wider_than_the_screen(watch, width):
    page = watch.open("/drafters?open=adaptive.certainty.published", width=width, dark=True)
    expect(page.locator(".tree .canvas .root")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.model
def test_ways_run_live_and_can_be_cancelled(watch, default_pair):
    page = watch.open("/drafters?drafter=lookup&n=8&k=2&link=1")
    start = page.get_by_role("button", name="Run these ways here")
    start.click()
    page.get_by_role("button", name="Cancel").click()
    expect(start).to_be_enabled()
    expect(page.get_by_text(re.compile(r"^Recorded on "))).to_be_visible()
    start.click()
    expect(page.get_by_text(re.compile(r"^Measured just now"))).to_be_visible(timeout=300_000)
