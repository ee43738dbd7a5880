"""Somebody else's text is shown as it is, wherever a page puts it into Markdown."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from specdec import recordings
from specdec.trace import Memory
from specdec.ui.literal import literal
from specdec.ui.live_panels import TITLES

PAGE = "pages/5_live.py"
EVIL = "![x](https://evil.example/x.png) **b** <b>h</b> $x$ :red[hi]\n\n# |"
SOURCE = ("target", "drafter", "machine", "device", "when")


def test_every_mark_is_escaped_and_nothing_else() -> None:
    assert literal("a_b *c* é 字 1.5") == r"a\_b \*c\* é 字 1\.5"
    assert re.sub(r"\\(.)", r"\1", literal(EVIL)) == " ".join(EVIL.split())


def written(at) -> str:
    """All that the page gives to Markdown."""
    tables = [table.value.to_csv() for table in at.table]
    return "\n".join([*(e.value for e in [*at.markdown, *at.caption, *at.error]), *tables])


@pytest.mark.parametrize("panel", TITLES)
def test_a_file_s_words_load_and_style_nothing(app, panel) -> None:
    trace = recordings.load("code", "model").speculative
    source = replace(trace.source, memory=Memory(9, 3, 2, 1), **dict.fromkeys(SOURCE, EVIL))
    evil = replace(trace, source=source, settings=replace(trace.settings, rule=EVIL))
    at = app(PAGE, panel=panel, prompt="code", link="1")
    at.session_state["opened file"] = (f"{EVIL}.json", evil)
    at = at.run()
    assert not at.exception
    assert "evil" in written(at)
    for mark in ("![x]", "**b**", "<b>", "$x$", ":red["):
        assert mark not in written(at), mark


def test_what_an_upload_is_refused_for_is_shown_as_it_is(app) -> None:
    at = app(PAGE, panel="files", link="1")
    at.file_uploader(key="upload").set_value(("**a**.json", b'{"schema": 1, "![x](y)": 1}', ""))
    at = at.run()
    assert not at.exception and len(at.error) == 1
    assert "**a**" not in at.error[0].value and "![x]" not in at.error[0].value
    assert "unknown field" in at.error[0].value
