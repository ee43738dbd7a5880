"""The way through the lessons: what was opened, in the session and in the link."""

from __future__ import annotations

import pytest

from specdec.language import text
from specdec.ui import course, shell

pytestmark = pytest.mark.long

FIRST, SECOND = shell.LESSONS[:2]


def progress(at):
    return at.get("progress")[0].proto.text


def told(opened):
    return text("course")["progress"].format(opened=opened, all=len(shell.LESSONS))


def test_a_lesson_counts_when_its_page_was_opened(app):
    at = app()
    assert progress(at) == told(0)
    for path in (shell.page(SECOND).path, "app.py"):
        at.switch_page(path).run()
    assert progress(at) == told(1)
    [mark] = [e.proto.label for e in at.main.get("page_link") if "✓" in e.proto.label]
    assert mark.startswith(f"**{shell.page(SECOND).label}**")


def test_links_carry_what_was_opened_and_a_new_visit_takes_it(app):
    at = app(shell.page(SECOND).path, seen=FIRST)
    carried = {link.proto.query_string for link in at.sidebar.get("page_link")}
    assert carried == {f"seen={FIRST}.{SECOND}"}
    assert progress(app(seen=f"{FIRST}.{SECOND}")) == told(2)


def test_the_start_page_goes_on_with_the_first_lesson_that_was_not_opened(app):
    at = app(seen=FIRST)
    labels = [link.proto.label for link in at.main.get("page_link")]
    assert labels[0] == f"Go on with: {shell.page(SECOND).label}"
    at = app(seen=".".join(shell.LESSONS))
    assert text("course")["done"] in [m.value for m in at.main.markdown]
    assert progress(at) == told(len(shell.LESSONS))


def test_the_start_page_and_the_class_are_no_lessons():
    assert set(shell.LESSONS) == {page.address for page in shell.PAGES} - {"", "class"}


@pytest.mark.parametrize("link", ["nowhere", f"{FIRST}.<script>", "x" * 300])
def test_what_is_no_lesson_is_left_out_and_said(app, link):
    at = app(seen=link)
    assert not at.exception
    assert len(at.info) == 1 and "<" not in at.info[0].value


def test_reading_a_link():
    assert course.read({}, shell.LESSONS) == (frozenset(), ())
    assert course.read({"seen": ""}, shell.LESSONS) == (frozenset(), ())
    assert course.read({"seen": FIRST}, shell.LESSONS) == ({FIRST}, ())


@pytest.mark.parametrize("page", shell.PAGES, ids=lambda page: page.path)
def test_every_page_goes_on_to_another(app, page):
    links = [link.proto.page for link in app(page.path).main.get("page_link")]
    assert links and any(link != page.address for link in links)
