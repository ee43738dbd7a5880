"""The frame of every page: menu, links, and values that come from a link."""

from __future__ import annotations

import tomllib
from urllib.parse import parse_qsl, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specdec.ui import query, shell
from specdec.ui.measured import Measured, measured, remember
from tests.browser import ROOT


def test_the_menu_has_exactly_the_pages_that_exist():
    files = ["app.py", *sorted(f"pages/{file.name}" for file in (ROOT / "pages").glob("*.py"))]
    by_number = sorted(files[1:], key=lambda path: int(path.split("/")[1].split("_")[0]))
    assert [page.path for page in shell.PAGES] == ["app.py", *by_number]


def test_an_address_is_the_file_name_without_its_number():
    for page in shell.PAGES[1:]:
        assert page.address == page.path.removeprefix("pages/").removesuffix(".py").split("_", 1)[1]


@pytest.mark.parametrize("page", shell.PAGES, ids=lambda page: page.path)
def test_every_page_opens_with_its_menu_title_and_purpose(app, page):
    at = app(page.path)
    assert not at.exception
    assert len(at.title) == 1
    assert at.main.markdown[0].value == page.purpose
    links = [link.proto.label for link in at.sidebar.get("page_link")]
    assert links == [known.label for known in shell.PAGES]


def test_an_unknown_page_is_named():
    with pytest.raises(
        ValueError, match=r"""no page 'nowhere'; there are "" \(the start\), watch, rule,"""
    ):
        shell.page("nowhere")


def test_a_link_starts_from_any_page_of_the_app(monkeypatch):
    here = {"url": "http://127.0.0.1:8501/base/speedup"}
    monkeypatch.setattr(shell.st, "context", type("Context", (), here))
    link = urlsplit(shell.address_of("speedup", k=6, alpha=0.7))
    assert f"{link.scheme}://{link.netloc}{link.path}" == "http://127.0.0.1:8501/base/speedup"
    assert dict(parse_qsl(link.query)) == {"k": "6", "alpha": "0.7", "link": "1"}


@given(st.fixed_dictionaries({}, optional={name: st.text(max_size=30) for name in query.KEYS}))
def test_any_link_gives_values_in_range_and_sentences(params):
    link = query.read(params, *query.KEYS)
    assert set(link.values) == set(query.KEYS)
    for name, key in query.KEYS.items():
        value = link.values[name]
        if isinstance(key, query.Number):
            assert key.low <= value <= key.high
            assert isinstance(value, int) or not key.whole
        elif isinstance(key, query.Choice):
            assert value in key.options
        else:
            assert value == params.get(name, "")
    assert all(note.endswith(".") and len(note) < 120 for note in link.notes)


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("k", "6", 6),
        ("k", "999", 24),
        ("k", "-3", 0),
        ("k", "2.5", 4),
        ("k", "9" * 5000, 4),
        ("alpha", "0.7", 0.7),
        ("alpha", "nan", 0.8),
        ("alpha", "inf", 0.8),
        ("alpha", "1e400", 0.8),
        ("alpha", "-0.0", 0.0),
        ("drafter", "<script>", "model"),
        ("prompt", "", ""),
    ],
)
def test_a_value_is_taken_clamped_or_replaced(name, text, value):
    link = query.read({name: text}, name)
    assert link.values[name] == value
    assert bool(link.notes) == (str(value) != text and text != "-0.0")


def test_a_long_number_keeps_its_digits_in_a_note():
    [note] = query.read({"seed": "9" * 20}, "seed").notes
    assert note == "seed goes from 0 to 4294967295: it is 4294967295 here."


def test_notes_never_repeat_what_the_link_says():
    evil = "![x](https://example.org/x.png)<script>"
    params = dict.fromkeys(query.KEYS, evil * 100)
    assert "example" not in " ".join(query.read(params, *query.KEYS).notes)


def test_a_page_may_have_its_own_limits_and_default():
    own = query.Number(2, 1, 8, whole=True)
    assert query.read({}, "alpha", k=own).values == {"alpha": 0.8, "k": 2}
    assert query.read({"k": "24"}, k=own).values == {"k": 8}


def test_a_link_of_another_version_says_so():
    assert not query.read({"link": "1"}, "k").notes
    assert "another version" in query.read({"link": "2"}, "k").notes[0]


@given(st.integers(0, 24), st.floats(0, 1), st.floats(0, 1), st.floats(0, 0.5))
def test_a_written_link_reads_back_to_the_last_digit(k, alpha, c, v):
    asked = {"k": k, "alpha": alpha, "c": c, "v": v}
    assert query.read(query.write(**asked), *asked) == query.Link(asked, ())


def test_writing_an_unknown_key_is_an_error():
    with pytest.raises(ValueError, match="A link has no key 'gamma'"):
        query.write(gamma=4)


def test_measured_runs_are_kept_in_order_and_replaced_by_label(monkeypatch):
    monkeypatch.setattr("specdec.ui.measured.st.session_state", {})
    first, second = Measured("a", 4, 0.8, 0.1, 0.02, 2.0), Measured("b", 2, 0.7, 0.1, 0.02, 1.5)
    again = Measured("a", 4, 0.8, 0.1, 0.02, 2.1)
    assert measured() == ()
    for run in (first, second, again):
        remember(run)
    assert measured() == (second, again)


def test_no_page_and_no_asset_asks_for_anything_outside():
    suspects = [*(ROOT / "assets").glob("*.*s*"), *(ROOT / "assets").glob("*.html")]
    for file in [*suspects, ROOT / ".streamlit" / "config.toml"]:
        text = file.read_text(encoding="utf-8").replace("http://www.w3.org/", "")  # names, no pages
        assert "http://" not in text, file
        assert "https://" not in text, file
        assert "innerHTML" not in text, file


def test_the_configuration_keeps_everything_on_the_machine():
    config = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text(encoding="utf-8"))
    assert config["browser"]["gatherUsageStats"] is False
    assert config["server"]["address"] == "127.0.0.1"
    assert config["client"]["showSidebarNavigation"] is False  # the shell draws the menu
