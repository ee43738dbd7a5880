"""The overlap canvas in a real Chromium: drag, keys, touch, typing, temperature, no jumps."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from fractions import Fraction as F
from typing import Any
from urllib.parse import quote

import pytest
from playwright.sync_api import Locator, Page, expect

from specdec.ui.overlap_laws import Laws, read
from tests.browser import Watch, serving

pytestmark = pytest.mark.browser

EIGHT = (
    "held,cooled,shone,glowed,cracked,sang,burst,<b>x</b>|3/10,1/5,3/20,3/25,1/10,2/25,1/20,0|"
    "1/10,3/10,1/20,11/50,1/10,0,13/100,1/10"
)
BAD = "a,b,c|1/2,1/2,1/10|1/5,3/10,1/2"
EDGE = """(root) => Math.max(...[...root.querySelectorAll("*")]
  .filter((n) => !n.closest(".scroll, .flows, .unseen, .value") && n.checkVisibility())
  .map((n) => n.getBoundingClientRect().right))"""
BOXES = """(root) => [...root.querySelectorAll(".picture, .say, .strips, .algebra, .heat, table")]
  .map((n) => Object.values(n.getBoundingClientRect().toJSON()).map(Math.round).join())"""
MOVING = """(root) => [...root.querySelectorAll("*")]
  .filter((n) => parseFloat(getComputedStyle(n).transitionDuration) > 0).length"""


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with serving("tests/apps/overlap_app.py") as served:
        yield served


@pytest.fixture
def visit(browser: Any, address: str) -> Iterator[Callable[..., Page]]:
    """`visit(laws="a,b,c|…")` opens the canvas there; faults fail the test."""
    watch = Watch(browser, address)

    def opened(laws: str = "", query: str = "", **options: Any) -> Page:
        asked = f"laws={quote(laws)}&{query}" if laws else query
        page = watch.open(f"/?{asked}", **options)
        expect(page.locator(".overlap .say")).not_to_be_empty(timeout=30_000)
        return page

    yield opened
    watch.close()


def bar(page: Page, law: str, name: str) -> Locator:
    return page.get_by_role("slider", name=f"{law} of “\u2068{name}\u2069”")


def field(page: Page, law: str, name: str) -> Locator:
    return page.get_by_role("textbox", name=f"{law} of “\u2068{name}\u2069”")


def heard(page: Page) -> Laws:
    """What Python last heard of the canvas."""
    words = page.get_by_text("python: ").text_content()
    text, temperature, _ = re.fullmatch(r"python: (.*) T=(\S+) valid=(\w+)", words).groups()
    return read(text, float(temperature))


def wait_heard(page: Page, part: str) -> Laws:
    """The laws once Python has heard of this part of them."""
    expect(page.get_by_text("python: ")).to_contain_text(part)
    return heard(page)


def drag(page: Page, handle: Locator, to: float) -> None:
    """Press in the middle of a bar and let go at this height of it."""
    box = handle.bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] * 0.5
    page.mouse.move(x, y)
    page.mouse.down()
    for i in range(1, 6):
        page.mouse.move(x, y + (box["y"] + box["height"] * (1 - to) - y) * i / 5)
    page.mouse.up()


def test_the_article_s_numbers_are_on_the_screen(visit):
    page = visit()
    written = page.locator("tbody tr td:nth-child(9) span")
    assert written.all_text_contents() == ["3/5", "3/10", "1/10"]
    lines = page.locator(".algebra > li:last-child ul li").all_text_contents()
    assert [line.endswith("= p ✓") for line in lines] == [True] * 3
    expect(page.locator(".row [data-kind=alpha]")).to_have_text("α = 3/5")
    expect(page.locator(".row [data-kind=tv]")).to_have_text("1 − α = 2/5")


def test_dragging_moves_the_picture_at_once_and_python_hears_of_it_once(visit):
    page = visit()
    frames: list[Any] = []
    page.on("websocket", lambda socket: socket.on("framesent", lambda data: frames.append(data)))
    page.reload()
    expect(page.locator(".overlap .say")).not_to_be_empty()
    page.wait_for_timeout(800)
    frames.clear()
    box = bar(page, "q", "cooled").bounding_box()
    page.mouse.move(box["x"] + 10, box["y"] + box["height"] * 0.3)
    page.mouse.down()
    for i in range(20):
        page.mouse.move(box["x"] + 10, box["y"] + box["height"] * (0.3 + 0.02 * i))
    q = [F(x) for x in fields(page, "q")]
    assert sum(q) == 1 and q[1] == F(32, 100) and q[0] / q[2] == pytest.approx(2, abs=0.1)
    assert not frames and heard(page).q[1] == F(7, 10)
    page.mouse.up()
    laws = wait_heard(page, "8/25")
    assert laws.q[1] == F(32, 100) and laws.valid
    assert len(frames) == 1
    assert laws.p == (F(3, 5), F(3, 10), F(1, 10))


def fields(page: Page, law: str) -> list[str]:
    return page.locator(f"input[data-field={law}]").evaluate_all("(all) => all.map((n) => n.value)")


def test_a_bar_dragged_to_one_and_to_zero_stays_a_law(visit):
    page = visit()
    drag(page, bar(page, "p", "held"), 1.3)
    assert fields(page, "p") == ["1", "0", "0"]
    drag(page, bar(page, "p", "held"), -0.2)
    assert fields(page, "p") == ["0", "1/2", "1/2"]
    assert wait_heard(page, "|0,1/2,1/2|").valid
    rejected = page.locator(".algebra > li:nth-child(3) li")
    expect(rejected).to_have_text("1 − 3/5 = 2/5 = 0 + 0 + 2/5")


def test_touch_moves_a_bar(visit):
    page = visit(has_touch=True)
    box = bar(page, "q", "held").bounding_box()
    page.touchscreen.tap(box["x"] + 8, box["y"] + box["height"] * 0.5)
    assert fields(page, "q")[0] == "1/2"
    assert wait_heard(page, "|1/2,").valid


def test_every_bar_is_reached_and_moved_by_keys_alone(visit):
    page = visit()
    page.locator("[data-preset]").last.focus()
    seen = []
    for _ in range(10):
        page.keyboard.press("Tab")
        seen.append(page.evaluate(FOCUSED))
    assert seen[:2] == ["p of “\u2068held\u2069”", "q of “\u2068held\u2069”"]
    assert [name for name in seen if " of " in name] == [
        f"{law} of “\u2068{name}\u2069”" for name in ("held", "cooled", "shone") for law in "pq"
    ]
    held = bar(page, "p", "held")
    held.focus()
    expect(held).to_have_attribute("aria-valuetext", "p of “\u2068held\u2069”: 3/5")
    for key, value in (
        ("ArrowRight", "61/100"),
        ("Shift+ArrowRight", "71/100"),
        ("ArrowLeft", "7/10"),
        ("Shift+ArrowLeft", "3/5"),
        ("End", "1"),
        ("Home", "0"),
    ):
        page.keyboard.press(key)
        expect(held).to_have_attribute("aria-valuetext", f"p of “\u2068held\u2069”: {value}")
        assert sum(F(x) for x in fields(page, "p")) == 1
    page.keyboard.press("Shift+ArrowUp")
    page.keyboard.press("ArrowUp")
    assert fields(page, "p")[0] == "11/100"
    assert wait_heard(page, "11/100").valid


FOCUSED = """() => {
  let at = document.activeElement;
  while (at.shadowRoot?.activeElement) at = at.shadowRoot.activeElement;
  return at.getAttribute("aria-label") ?? at.textContent;
}"""


def test_keys_to_and_fro_lose_nothing(visit):
    page = visit()
    bar(page, "q", "cooled").focus()
    for key in ["ArrowRight"] * 7 + ["ArrowLeft"] * 7:
        page.keyboard.press(key)
    assert fields(page, "q") == ["1/5", "7/10", "1/10"]


def test_typed_fractions_and_a_sum_that_is_not_one(visit):
    page = visit()
    field(page, "p", "held").fill("50 %")
    page.keyboard.press("Tab")
    fault = page.locator(".faults p")
    expect(fault).to_contain_text("p sums to 9/10 = 0.9, 1/10 too little: it is not a law yet.")
    assert fields(page, "p") == [
        "1/2",
        "3/10",
        "1/10",
    ]  # nothing is mended behind the reader's back
    expect(page.locator(".say")).to_contain_text("Mend the sums first")
    assert not page.locator(".algebra").is_visible()
    assert not wait_heard(page, "|1/2,3/10,1/10|").valid
    page.get_by_role("button", name="Normalise p").click()
    assert fields(page, "p") == ["5/9", "1/3", "1/9"]
    expect(fault).to_have_count(0)
    expect(page.locator(".algebra")).to_be_visible()
    assert wait_heard(page, "|5/9,1/3,1/9|").valid


def test_wrong_input_is_said_and_the_last_good_number_stays(visit):
    page = visit()
    mine = field(page, "q", "shone")
    mine.fill("seven")
    page.keyboard.press("Enter")
    said = page.locator(".fault")
    expect(said).to_have_text("“seven” is no number: write 6/10, 0.6 or 60 %.")
    expect(mine).to_have_attribute("aria-invalid", "true")
    expect(bar(page, "q", "shone")).to_have_attribute("aria-valuenow", "0.1")
    mine.fill("0.1")
    page.keyboard.press("Enter")
    expect(said).to_be_empty()
    expect(mine).not_to_have_attribute("aria-invalid", "true")


def test_tokens_are_added_renamed_and_removed(visit):
    page = visit()
    add = page.get_by_role("button", name="Add a token")
    for _ in range(5):
        add.click()
    expect(add).to_be_disabled()
    assert wait_heard(page, "token e").valid  # new ones have no mass
    name = page.get_by_role("textbox", name="name of token 4")
    name.fill("<b>x</b>")
    page.keyboard.press("Tab")
    expect(page.locator(".pick bdi").nth(3)).to_have_text("<b>x</b>")
    assert page.locator(".pick b").count() == 0
    name.fill("held")
    page.keyboard.press("Tab")
    expect(page.locator(".fault")).to_have_text("There is a token “held” already.")
    name.fill("rain")
    page.keyboard.press("Tab")
    for _ in range(4):
        page.get_by_role("button", name="Remove").last.click()
    page.get_by_role("button", name="Remove “\u2068held\u2069”").click()
    laws = wait_heard(page, "cooled,shone,rain|")
    assert (laws.names, laws.p) == (("cooled", "shone", "rain"), (F(3, 10), F(1, 10), F(0)))
    expect(page.locator(".faults p").first).to_contain_text("p sums to 2/5")
    expect(page.get_by_role("button", name="Remove").first).to_be_disabled()


def test_presets_are_taken_whole_and_marked(visit):
    page = visit()
    for title, alpha in (
        ("Identical", "1"),
        ("Disjoint", "0"),
        ("One-hot draft", "3/10"),
        ("Toy A", "7/10"),
        ("T → 0", "0"),
        ("held, cooled, shone", "3/5"),
    ):
        button = page.get_by_role("button", name=title, exact=True)
        button.click()
        expect(button).to_have_attribute("aria-pressed", "true")
        assert page.locator("[data-preset][aria-pressed=true]").count() == 1
        expect(page.locator(".notice")).not_to_be_empty()
        expect(page.locator("tfoot td").nth(2).locator("span")).to_have_text(alpha)
        marks = page.locator(".algebra > li:last-child li span:last-child").all_text_contents()
        assert set(marks) == {"= p ✓"}


def test_u_decides_and_w_draws_the_replacement(visit):
    page = visit()
    u = page.get_by_role("slider", name="u, the uniform of the test")
    result = page.locator(".result output")
    expect(result).to_have_text("↻ held")
    u.focus()
    page.keyboard.press("Home")
    expect(result).to_have_text("✓ cooled")
    for _ in range(4):
        page.keyboard.press("Shift+ArrowRight")
    expect(u).to_have_attribute("aria-valuetext", "u = 0.4: accepted")
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    expect(u).to_have_attribute("aria-valuetext", "u = 0.43: rejected")  # 3/7 = 0.4285…
    expect(page.locator(".fate")).to_contain_text("u = 43/100 ≥ min(1, p/q) = 3/7: rejected.")
    page.get_by_label("draft “\u2068held\u2069”").check()
    expect(result).to_have_text("✓ held")
    expect(page.locator(".fate")).to_contain_text("whatever u is")
    assert wait_heard(page, "|0,0.43,0.5").drop.token == 0


def test_a_token_that_is_never_drafted_is_never_tested(visit):
    page = visit("a,b,c|1/2,1/4,1/4|0,1/2,1/2|0,0.5,0.5")
    expect(page.locator(".fate")).to_contain_text("q = 0: the drafter never says")
    assert page.locator("tbody td:nth-child(9) span").first.text_content() == "1/2"


def test_draws_by_chance_are_what_the_rule_can_write(visit):
    page = visit()
    written = set()
    for _ in range(40):
        page.locator("[data-draw]").click()
        written.add(page.locator(".result output").text_content())
    assert written <= {"✓ held", "✓ cooled", "✓ shone", "↻ held"} and len(written) > 1


def test_temperature_leads_to_the_greedy_limit_and_back(visit):
    page = visit()
    dial = page.get_by_role("slider", name="T", exact=True)
    dial.fill("0.5")
    expect(page.locator(".heated")).to_contain_text("no longer exact fractions")
    expect(bar(page, "p", "held")).to_have_attribute("aria-disabled", "true")
    assert bar(page, "p", "held").get_attribute("aria-valuetext").endswith(": 0.7826")
    dial.fill("0")
    expect(page.locator(".heated")).to_contain_text("greedy: each law is one-hot")
    assert fields(page, "p") == ["1", "0", "0"] and fields(page, "q") == ["0", "1", "0"]
    laws = wait_heard(page, "T=0 ")
    assert laws.p == (F(3, 5), F(3, 10), F(1, 10))  # the laws stay what they are at T = 1
    page.get_by_role("button", name="Back to T = 1").click()
    assert fields(page, "p") == ["3/5", "3/10", "1/10"]
    assert wait_heard(page, "T=1 ").temperature == 1


def test_the_four_steps_lead_to_the_whole_picture(visit):
    page = visit()
    root, say = page.locator(".overlap"), page.locator(".say")
    boxes = root.evaluate(BOXES)
    for step, words in ((1, "draws a token"), (2, "Kept"), (3, "Rejected"), (4, "equal areas")):
        page.locator(f".steps div [data-step='{step}']").click()
        expect(say).to_contain_text(words)
        assert root.get_attribute("data-step") == str(step)
        assert root.evaluate(BOXES) == boxes  # nothing jumps
    expect(page.locator(".flying *")).to_have_count(0)
    page.get_by_role("button", name="Play").click()
    expect(root).to_have_attribute("data-step", "1")
    expect(root).to_have_attribute("data-step", "4", timeout=20_000)
    page.get_by_role("button", name="Play").click()
    bar(page, "p", "held").focus()
    page.keyboard.press("ArrowRight")  # a hand on the picture ends the show
    expect(root).to_have_attribute("data-step", "4")


def test_with_reduced_motion_nothing_moves_by_itself(visit):
    page = visit(reduced_motion="reduce")
    assert page.locator(".overlap").evaluate(MOVING) == 0
    page.locator(".steps div [data-step='3']").click()
    page.locator(".steps div [data-step='4']").click()
    assert page.locator(".flying *").count() == 0
    expect(page.locator(".overlap")).to_have_attribute("data-step", "4")


def test_the_sums_are_said_to_those_who_do_not_see_them(visit):
    page = visit()
    bar(page, "p", "shone").focus()
    page.keyboard.press("ArrowRight")
    said = page.locator(".said")
    expect(said).to_contain_text("p and q each sum to 1. Overlap α = Σ min(p, q) =")
    assert said.get_attribute("aria-live") == "polite"
    described = page.locator("#described").text_content()
    assert "p 11/100, q 1/10, kept 1/10, missing 1/100" in described


@pytest.mark.parametrize("laws", ["", EIGHT, BAD], ids=["three", "eight", "bad"])
@pytest.mark.parametrize("width", [390, 1280, 1440])
def test_all_fits_at_every_width(visit, laws, width):
    page = visit(laws, width=width, dark=width == 1280)
    assert page.locator(".overlap").evaluate(EDGE) <= width
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    main = page.locator("[data-testid=stMain]")
    assert main.evaluate("(n) => n.scrollWidth - n.clientWidth") <= 0


def test_a_rerun_keeps_the_focus_and_the_laws(visit):
    page = visit()
    held = bar(page, "p", "held")
    held.focus()
    page.keyboard.press("ArrowRight")
    wait_heard(page, "61/100")
    page.keyboard.press("ArrowRight")  # after the rerun the same bar is still in hand
    assert wait_heard(page, "31/50").valid
    expect(held).to_be_focused()


def test_real_laws_are_only_to_look_at(visit):
    page = visit(query="fixed=3")
    names = page.locator(".pick bdi").all_text_contents()
    assert names[-1] == "the rest" and len(names) == 11
    assert page.locator(".bar[aria-disabled=true]").count() == 22
    assert page.locator("input[data-field]:not([readonly])").count() == 0
    for hidden in (".presets", ".tools", ".heat"):
        assert not page.locator(hidden).is_visible()
    expect(page.locator(".algebra > li:last-child li")).to_contain_text("≈ p ✓")
    u = page.get_by_role("slider", name="u, the uniform of the test")
    u.focus()
    page.keyboard.press("Home")
    expect(u).to_have_attribute("aria-valuenow", "0")


def test_it_prints(visit):
    page = visit()
    page.emulate_media(media="print")
    assert not page.locator(".steps").is_visible()
    assert page.locator(".algebra").is_visible() and page.locator("table").is_visible()
    assert len(page.pdf()) > 10_000


def test_the_page_works_as_a_whole(watch: Watch):
    page = watch.open("/rule")
    expect(page.locator(".overlap .say").nth(1)).not_to_be_empty()
    page.get_by_role("button", name="Run 300 pairs now").click()
    expect(page.get_by_text("300 of 300")).to_be_visible()
    bar(page, "q", "cooled").first.focus()
    page.keyboard.press("Shift+ArrowLeft")
    expect(page.locator(".said").first).not_to_be_empty()
    expect(page.locator("[data-test-script-state=notRunning]")).to_be_attached()
    expect(page.get_by_text("300 of 300")).to_be_visible()  # no rerun takes it away
    page.get_by_role("button", name="Link to exactly this").click()
    link = page.locator("code").filter(has_text="/rule?")
    expect(link).to_contain_text(quote("27/100,3/5,13/100", safe=""))
    page.goto(link.text_content())
    expect(bar(page, "q", "cooled").first).to_have_attribute("aria-valuenow", "0.6")
