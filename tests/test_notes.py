"""What was mended in a link is said until the reader sets something, and no longer."""

from __future__ import annotations


def said(at) -> list[str]:
    return [info.value for info in at.info if "it is" in info.value]


def test_a_note_goes_once_a_control_was_moved(app):
    at = app("pages/7_machine.py", k="999", batch="2", link="1")
    assert said(at) == ["k goes from 0 to 24: it is 24 here."]
    at.run()
    assert said(at), "nothing was changed yet"
    at.select_slider(key="machine batch").set_value(8).run()
    assert not said(at)
    at.radio(key="machine drafter").set_value("lookup").run()
    assert not said(at)


def test_a_rerun_alone_keeps_the_note(app):
    at = app("pages/4_speedup.py", alpha="7")
    assert said(at)
    at.run()
    assert said(at)


def test_another_page_s_note_is_another_matter(app):
    at = app("pages/7_machine.py", k="999")
    at.select_slider(key="machine batch").set_value(8).run()
    assert not said(at)
    at.switch_page("pages/5_live.py").run()
    assert not at.exception
