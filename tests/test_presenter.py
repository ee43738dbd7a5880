"""Presenter mode without a browser: every page in it, its keys, and how far a page goes on."""

from __future__ import annotations

import json
from itertools import pairwise

import pytest

from specdec.language import text
from specdec.ui import component, presenter, shell
from tests.browser import ROOT

OPEN = """
const mode = await import("data:text/javascript," + encodeURIComponent(data.script));
const { input } = data;
give((() => { %s })());
"""


@pytest.fixture
def js(node):
    """What a JavaScript function body returns, given `mode` (the shipped modules) and `input`."""
    script = component.script("presenter", presenter.MODULES)
    return lambda body, **given: node(OPEN % body, {"script": script, "input": given})


def bars(at):
    """What the presenter's bar was given, on every place where it is mounted."""
    found = [json.loads(each.proto.json) for each in at.get("bidi_component")]
    return [data for data in found if data and "keys" in data]


@pytest.mark.parametrize("page", shell.PAGES, ids=lambda page: page.path)
def test_every_page_presents(app, page):
    at = app(page.path, present="1")
    assert not at.exception and not at.error
    [bar] = bars(at)
    number = shell.PAGES.index(page) + 1
    assert bar["place"] == f"{number} of {len(shell.PAGES)} · {page.label}"
    assert not at.sidebar.get("page_link"), "no menu"
    assert at.main.markdown[0].value == page.purpose
    links = [link.proto.query_string for link in at.main.get("page_link")]
    assert all("present=1" in link for link in links)
    for expander in at.expander:
        if expander.label.startswith("Predict"):
            assert not expander.proto.expanded, "answers are hidden until asked for"


def test_no_page_presents_unasked(app):
    at = app("pages/2_watch.py")
    assert not bars(at)
    assert "Presenter mode" in [button.label for button in at.sidebar.button]
    assert not any("present" in link.proto.query_string for link in at.get("page_link"))


def test_a_stage_hears_of_the_mode_and_the_reader_enters_and_leaves_it(app):
    def mode(at):
        return next(d["mode"] for e in at.get("bidi_component") if "mode" in (d := data(e)))

    def data(element):
        return json.loads(element.proto.json)

    at = app("pages/2_watch.py")
    assert mode(at) == "full"
    next(b for b in at.sidebar.button if b.label == "Presenter mode").click().run()
    assert mode(at) == "presenter" and bars(at)
    assert at.query_params["present"] == "1"


def test_the_session_remembers_the_mode_when_a_link_does_not_carry_it(app):
    at = app("pages/2_watch.py", present="1")
    del at.query_params["present"]
    at.switch_page("pages/3_rule.py").run()
    assert bars(at)


def test_nonsense_in_the_link_is_no_mode(app):
    assert not bars(app("pages/2_watch.py", present="<b>"))


def test_keys(js):
    def key(name, on="", **held):
        return [{"key": name, **held}, on]

    expected = [
        (key(" "), "next"),
        (key("PageDown"), "next"),
        (key("ArrowRight"), "next"),
        (key("PageUp"), "back"),
        (key("ArrowLeft"), "back"),
        (key(" ", shiftKey=True), "back"),
        (key("PageDown", shiftKey=True), "page+"),
        (key("PageUp", shiftKey=True), "page-"),
        (key("ArrowRight", shiftKey=True), None),  # rounds of the stage
        (key("a"), "answer"),
        (key("K"), "controls"),
        (key("h"), "help"),
        (key("p"), None),  # the stage plays
        (key("Escape"), "leave"),
        (key("π", code="KeyP", altKey=True), "leave"),
        (key("PageDown", ctrlKey=True), None),
        (key("ArrowLeft", altKey=True), None),  # the browser goes back
        (key(" ", "press"), None),
        (key("PageDown", "press"), "next"),
        (key("ArrowRight", "slider"), None),
        (key("PageDown", "slider"), None),
        (key(" ", "list"), None),
        *[(key(name, "typing"), None) for name in (" ", "PageDown", "a", "k", "h", "Escape")],
        (key("x"), None),
    ]
    body = "return input.keys.map((k) => mode.presenterAction(...k))"
    got = js(body, keys=[k for k, _ in expected])
    assert got == [action for _, action in expected]


def test_what_has_the_focus(js):
    expected = [
        ({"tag": "textarea"}, "typing"),
        ({"tag": "input", "type": "text"}, "typing"),
        ({"tag": "input", "type": "number"}, "typing"),
        ({"tag": "input", "type": "text", "role": "combobox"}, "typing"),
        ({"tag": "div", "editable": True}, "typing"),
        ({"tag": "input", "type": "range"}, "slider"),
        ({"tag": "div", "role": "slider"}, "slider"),
        ({"tag": "input", "type": "radio"}, "list"),
        ({"tag": "select"}, "list"),
        ({"tag": "button"}, "press"),
        ({"tag": "button", "role": "tab"}, "list"),
        ({"tag": "summary"}, "press"),
        ({"tag": "body"}, ""),
    ]
    got = js("return input.nodes.map(mode.focusOf)", nodes=[node for node, _ in expected])
    assert got == [kind for _, kind in expected]


def test_a_page_goes_on_by_what_is_not_wholly_in_sight(js):
    blocks = [
        {"top": 0, "bottom": 300, "heading": False},
        {"top": 300, "bottom": 340, "heading": True},
        {"top": 340, "bottom": 870, "heading": False},  # under its heading
        {"top": 900, "bottom": 2900, "heading": False},  # taller than the screen
        {"top": 2900, "bottom": 3000, "heading": False},
    ]
    expected = [(0, 284), (284, 884), (884, 884 + 480), (2000, 2400), (2384, 2400), (2400, None)]
    body = "return input.ys.map((y) => mode.nextTop(input.blocks, y, 600, 2400))"
    assert js(body, blocks=blocks, ys=[y for y, _ in expected]) == [top for _, top in expected]


def test_every_page_ends_after_finitely_many_keys(js):
    body = """
    const seen = [], on = (y) => mode.nextTop(input.blocks, y, 500, 5000);
    for (let y = 0; y !== null && seen.length < 100; y = on(y)) seen.push(y);
    return seen;
    """
    blocks = [{"top": 700 * i, "bottom": 700 * i + 690, "heading": False} for i in range(8)]
    seen = js(body, blocks=blocks)
    assert seen == sorted(set(seen)) and seen[-1] == 5000
    assert all(b - a <= 700 for a, b in pairwise(seen)), "nothing is skipped"


def test_a_class_is_kept_in_the_tab_and_moves_by_one(js):
    body = """
    const kept = new Map(), store = {
      getItem: (k) => kept.get(k) ?? null, setItem: (k, v) => kept.set(k, v),
      removeItem: (k) => kept.delete(k),
    };
    const items = [{ url: "/a", title: "A", minutes: 2 }, { url: "/b", title: "B", minutes: 3 }];
    const out = [mode.classOf(store)];
    mode.begun(store, items, 0, 0);
    out.push(mode.moved(store, mode.classOf(store), -1));
    out.push(mode.classWords(mode.classOf(store), 90_000));
    out.push(mode.moved(store, mode.classOf(store), 1), mode.classOf(store).at);
    out.push(mode.moved(store, mode.classOf(store), 1), mode.classOf(store).at);
    store.setItem("draft-verify-accept class", "{broken");
    out.push(mode.classOf(store));
    mode.begun(store, items, 1, 0);
    mode.ended(store);
    return [...out, mode.classOf(store)];
    """
    words = {"place": "1 of 2 · A", "clock": "1 min gone, 2 planned by the end of this"}
    assert js(body) == [None, None, words, "/b", 1, None, 1, None, None]


def test_the_planned_minutes_are_those_of_the_script_not_of_its_floats(js):
    items = [{"url": "/", "title": "A", "minutes": 0.1 * n} for n in (1, 2)]  # 0.1 + 0.2 ≠ 0.3
    run = {"items": items, "at": 1, "since": 0}
    clock = js("return mode.classWords(input.run, 0).clock", run=run)
    assert clock == "0 min gone, 0.3 planned by the end of this"


def test_the_bar_knows_whether_the_reader_or_a_link_began_to_present(app):
    assert [bar["entered"] for bar in bars(app("pages/3_rule.py", present="1"))] == [False]
    at = app("pages/3_rule.py")
    at = at.sidebar.button[0].click().run()
    assert [bar["entered"] for bar in bars(at)] == [True]


def test_all_keys_are_told():
    told = " ".join(row["keys"] for row in text("presenter")["key"])
    for name in ("Space", "PageDown", "PageUp", "P", "A", "K", "H", "Esc", "Alt+P"):
        assert name in told


def test_the_bar_is_small_as_it_is_sent_with_every_run():
    parts = [component.script("presenter", presenter.MODULES)]
    parts += [(ROOT / "assets" / f"presenter.{part}").read_text() for part in ("html", "css")]
    assert sum(map(len, parts)) < 16_000
