"""The language files: read-only words, and faults said in a sentence."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from specdec import language


@dataclass(frozen=True)
class Entry:
    name: str
    tags: tuple[str, ...] = ()


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An own folder of language files, and nothing remembered of the real one."""

    def forget() -> None:
        language.text.cache_clear()
        language._tables.cache_clear()

    monkeypatch.setattr(language, "FOLDER", tmp_path)
    forget()
    yield tmp_path
    forget()


def test_a_table_is_read_only_at_every_depth(folder):
    (folder / "en.toml").write_text('[a]\nwords = ["x"]\n[a.b]\nc = 1\n')
    table = language.text("a")
    assert table["words"] == ("x",) and table["b"]["c"] == 1
    for part in (table, table["b"]):
        with pytest.raises(TypeError):
            part["new"] = 1


def test_many_entries_are_dataclasses(folder):
    (folder / "en.toml").write_text('[[a]]\nname = "x"\ntags = ["t"]\n[[a]]\nname = "y"\n')
    assert language.entries("a", Entry) == (Entry("x", ("t",)), Entry("y"))


def test_a_second_language_is_one_more_file_and_other_files_are_none(folder):
    for name in ("en", "pt-BR", "lab", "presets"):
        (folder / f"{name}.toml").write_text(f'[a]\nname = "{name}"\n')
    assert language.languages() == ("en", "pt-BR")
    assert language.text("a", "pt-BR")["name"] == "pt-BR"


@pytest.mark.parametrize(
    ("read", "words"),
    [
        (lambda: language.text("b"), "en.toml has no table 'b'; its tables are a, one."),
        (lambda: language.text("a", "../lab"), "There is no language '../lab'; there are en."),
        (lambda: language.entries("one", Entry), r"en.toml, one: write \[\[one\]\]"),
        (lambda: language.entries("a", Entry), r"en.toml, a\[1\]: field 'name' is missing."),
    ],
)
def test_a_fault_is_named_with_its_place(folder, read, words):
    (folder / "en.toml").write_text('[[a]]\nname = "x"\n[[a]]\ntags = []\n[one]\nname = "z"\n')
    with pytest.raises(ValueError, match=words):
        read()


def test_a_broken_file_is_named_with_its_line(folder):
    (folder / "en.toml").write_text('[a]\nname = "x\n')
    with pytest.raises(ValueError, match=r"en.toml is not TOML: .*line 2"):
        language.text("a")
