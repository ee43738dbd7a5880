"""The class page: the script that comes with the app, a reader's own, and every link of both."""

from __future__ import annotations

import json
from urllib.parse import parse_qsl, urlsplit

import pytest

from specdec.ui import class_page, classroom, shell

BUILT_IN = classroom.built_in()
OWN = """
title = "Mine"
[[state]]
title = "<b>One</b>"
page = "speedup"
minutes = 1.5
[state.link]
k = 7
alpha = 0.9
"""


def test_the_built_in_script_is_a_lesson_of_twenty_minutes():
    assert BUILT_IN.starts()[-1] == 20
    assert all(state.say and state.ask and state.answer for state in BUILT_IN.states)


@pytest.mark.parametrize("i", range(len(BUILT_IN.states)), ids=lambda i: BUILT_IN.states[i].title)
def test_a_link_opens_its_state_and_nothing_is_mended(app, i):
    address = urlsplit(BUILT_IN.addresses(present="1")[i])
    state = BUILT_IN.states[i]
    assert address.path == f"/{state.page}"
    params = dict(parse_qsl(address.query))
    assert params["present"] == "1"
    at = app(shell.page(state.page).path, **params)
    assert not at.exception and not at.error
    assert not at.info, "something was mended"
    if state.page:
        assert at.title[0].value == shell.page(state.page).label


def test_the_page_lists_the_links_in_order_with_minutes_and_words(app):
    at = app("pages/10_class.py")
    assert not at.exception
    urls = [link.proto.url for link in at.get("link_button")]
    assert [urlsplit(url).path for url in urls] == [f"/{s.page}" for s in BUILT_IN.states]
    assert not any("present=1" in url for url in urls)
    at.toggle(key="class mode").set_value(True).run()
    assert all("present=1" in link.proto.url for link in at.get("link_button"))
    said = "\n".join(m.value for m in at.main.markdown)
    assert "minute 0 to 2" in said and "minute 17 to 20" in said
    assert said.count("**Ask:**") == len(BUILT_IN.states)
    [start] = [json.loads(e.proto.json) for e in at.get("bidi_component")]
    assert [item["minutes"] for item in start["items"]] == [s.minutes for s in BUILT_IN.states]
    assert all("present=1" in item["url"] for item in start["items"])


def test_an_own_script_holds_for_the_visit_and_loads_nothing(app):
    at = app("pages/10_class.py")
    at.file_uploader[0].set_value(("mine.toml", OWN.encode(), "application/toml")).run()
    assert not at.exception and not at.error
    assert at.subheader[0].value.endswith("· links: 1 · minutes: 1.5"), "one link is no plural"
    [link] = at.get("link_button")
    assert dict(parse_qsl(urlsplit(link.proto.url).query))["k"] == "7"
    assert any(r"\<b\>One" in m.value for m in at.main.markdown)
    at.switch_page("app.py").run()
    at.switch_page("pages/10_class.py").run()
    assert len(at.get("link_button")) == 1
    next(b for b in at.button if b.label.startswith("Back to the script")).click().run()
    assert len(at.get("link_button")) == len(BUILT_IN.states)


def test_a_script_that_is_refused_says_why_and_the_old_one_stays(app):
    at = app("pages/10_class.py")
    at.file_uploader[0].set_value(("mine.toml", b"title = ", "application/toml")).run()
    assert not at.exception
    assert r"“mine\.toml” was not opened\. It is not TOML" in at.error[0].value
    assert len(at.get("link_button")) == len(BUILT_IN.states)


def test_a_saved_script_reads_back():
    assert classroom.read(BUILT_IN.text.encode()) == BUILT_IN


STATE = '[[state]]\ntitle = "A"\npage = "watch"\nminutes = 1\n'


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (b"\xff", "It is not text in UTF-8."),
        (b"x" * 100_001, "It has 100001 bytes; a script has 100000 at most."),
        ("title = ", "It is not TOML: "),
        ("a = " + "[" * 5000, "It is not TOML: "),
        ("", r"It needs 1 to 100 entries, each begun by \[\[state\]\]."),
        ("state = 3", "It needs 1 to 100 entries"),
        ("state = [3]", r"State 1: it is begun by \[\[state\]\]."),
        (STATE * 101, "It needs 1 to 100 entries"),
        ("colour = 1\n" + STATE, r"Above the first \[\[state\]\]: unknown field 'colour'."),
        (STATE.replace("watch", "https://example.org"), "State 1: There is no page"),
        (STATE + STATE.replace("minutes = 1", ""), "State 2: field 'minutes' is missing."),
        (STATE.replace("= 1", "= 0"), "State 1: minutes is 0; it goes up to 600, above 0."),
        (STATE.replace("= 1", "= nan"), "State 1.minutes: a finite number was expected."),
        (STATE + "say = 3", "State 1.say: str was expected, not int."),
        (STATE + "link = 3", r"State 1: settings stand below \[state.link\]."),
        (STATE + "[state.link]\ngamma = 1", "State 1: a link has no key 'gamma'; its keys are"),
        (STATE + "[state.link]\nseen = 'watch'", "State 1: a link has no key 'seen'"),
        (STATE + "[state.link]\nk = true", "State 1: k is a number or a text."),
        (STATE + "[state.link]\nk = [1]", "State 1: k is a number or a text."),
        (STATE + "[state.link]\nk = 99", "State 1: k goes from 0 to 24."),
        (STATE + "[state.link]\nk = 2.5", "State 1: k must be a whole number from 0 to 24."),
    ],
)
def test_a_fault_of_a_script_is_one_sentence(text, words):
    data = text if isinstance(text, bytes) else text.encode()
    with pytest.raises(ValueError, match=f"^{words}"):
        classroom.read(data)


def test_a_script_is_read_as_it_says():
    script = classroom.read(OWN.encode())
    assert script.title == "Mine" and script.starts() == (0, 1.5)
    assert script.links == ({"k": 7, "alpha": 0.9},)
    [address] = script.addresses()
    assert parse_qsl(urlsplit(address).query) == [("k", "7"), ("alpha", "0.9"), ("link", "1")]


def test_the_page_s_own_script_is_the_built_in_one_at_first(monkeypatch):
    monkeypatch.setattr(class_page.st, "session_state", {})
    assert class_page.current() == BUILT_IN
