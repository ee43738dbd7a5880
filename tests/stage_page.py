"""The stage alone on a page in a real Chromium, for the browser tests."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser import Watch, serving

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

# An open page at "trace=kiln&round=1&step=3" and the options of a browser context.
Visit = Callable[..., Page]


@contextmanager
def visiting(browser: Any, address: str) -> Iterator[Visit]:
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


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """Where the stage alone is served, for one file of tests."""
    with serving("tests/apps/stage_app.py") as served:
        yield served


@pytest.fixture
def visit(browser: Any, address: str) -> Iterator[Visit]:
    """Opens the stage as `visiting` does; a file of tests imports both fixtures."""
    with visiting(browser, address) as opened:
        yield opened
