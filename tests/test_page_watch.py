"""Page 2 without a browser: the article's scenes, edited tables, links."""

from __future__ import annotations

import json

import pytest

from specdec import toy
from specdec.ui import scenes, tables

PAGE = "pages/2_watch.py"


def shown(at) -> dict:
    """What the page sent to the stage."""
    return json.loads(at.get("bidi_component")[0].proto.json)


def words(at) -> list[list[str]]:
    return [[token["text"].strip() for token in r["written"]] for r in shown(at)["rounds"]]


def text(at) -> str:
    return " ".join(word for written in words(at) for word in written)


def test_the_article_s_round(app):
    at = app(PAGE, drafter="good", link="1")
    assert not at.exception
    assert words(at) == [["the", "kiln", "held"], ["its", "heat", "overnight"]]
    verdicts = [token["verdict"] for token in shown(at)["rounds"][0]["drafted"]]
    assert verdicts == ["accepted", "accepted", "rejected", "discarded"]
    assert any("2 target passes for 6 tokens." in m.value for m in at.markdown)
    [lines] = [c.value for c in at.code if "drafted" in c.value]
    assert lines.splitlines() == [
        "drafted ['the', 'kiln', 'cooled', 'slowly'] kept 2 -> the kiln held",
        "drafted ['its', 'heat', 'all', 'night'] kept 2 -> the kiln held its heat overnight",
    ]


@pytest.mark.parametrize(
    ("name", "passes"), [("none", 6), ("good", 2), ("weak", 6), ("perfect", 2)]
)
def test_every_scene_writes_the_target_s_text(app, name, passes):
    at = app(PAGE, drafter=name, link="1")
    assert not at.exception
    assert text(at) == "the kiln held its heat overnight"
    assert len(words(at)) == passes


def test_the_slow_drafter_costs_what_the_answer_says():
    scene = next(s for s in scenes.SCENES if s.name == "perfect")
    show = scenes.show(scene, toy.table(tables.TARGET), toy.table(scene.drafter), 4)
    first = show.trace.rounds[0]
    assert len(first.written) == 5
    assert 1 + first.draft_passes * show.costs.draft_pass == pytest.approx(4.6)


def test_an_edited_table_runs(app):
    at = app(PAGE, drafter="good", link="1")
    at.text_area(key="drafter good").set_value(tables.write(tables.TARGET)).run()
    assert not at.exception and not at.error
    assert words(at)[0] == ["the", "kiln", "held", "its", "heat"]


@pytest.mark.parametrize(
    ("lines", "fault"),
    [
        ("", "one line must begin with ->"),
        ("the kiln", "there is no -> between"),
        (" -> the\nthe ->", "line 2: no word after the ->"),
        (" -> the\nthe -> two words", "line 2: 2 words after"),
        (" -> a\n -> b", "line 2: “” is there already"),
        (" -> <script>alert(1)</script>", "cannot begin with <"),
        (" -> " + "x" * 60, "longer than 24 letters"),
        ("\n".join(["-> w", *(f"{'w ' * n}-> w" for n in range(1, 80))]), "80 lines; 60 are"),
    ],
)
def test_wrong_lines_are_said_and_the_stage_stays(app, lines, fault):
    at = app(PAGE, drafter="good", link="1")
    at.text_area(key="target").set_value(lines).run()
    assert not at.exception
    assert fault in at.error[0].value
    assert words(at) == [["the", "kiln", "held"], ["its", "heat", "overnight"]]


def test_a_link_carries_the_tables_and_the_place(app):
    mine = {"": "a", "a": "b", "a b": "c"}
    both = tables.BREAK.join([tables.write(mine), tables.write({"": "a", "a": "b"})])
    at = app(PAGE, drafter="good", k="2", prompt=both, round="1", step="3", link="1")
    assert not at.exception
    assert words(at) == [["a", "b", "c"]]
    assert shown(at)["start"] == {"round": 1, "step": 3}
    [link] = [c.value for c in at.code if "watch?" in c.value]
    again = app(PAGE, **dict(pair.split("=", 1) for pair in _unquoted(link)))
    assert words(again) == words(at) and shown(again)["start"] == shown(at)["start"]


def _unquoted(link: str) -> list[str]:
    from urllib.parse import parse_qsl, urlsplit

    return [f"{name}={value}" for name, value in parse_qsl(urlsplit(link).query)]


def test_a_table_that_goes_in_circles_ends(app):
    at = app(PAGE, drafter="none", link="1")
    ring = {"": "go"} | {" ".join(["go"] * n): "go" for n in range(1, 50)}
    at.text_area(key="target").set_value(tables.write(ring)).run()
    assert not at.exception and text(at) == " ".join(["go"] * scenes.MOST_WORDS)


def test_nonsense_in_the_link(app):
    at = app(PAGE, drafter="<b>", k="-9", round="x", step="1e9", prompt="-> \n---\n", link="1")
    assert not at.exception and at.info
    assert shown(at)["rounds"]
