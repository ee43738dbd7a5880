"""The glossary: every letter that a page speaks of is explained there, and every entry is used."""

from __future__ import annotations

import re

import pytest

from specdec.language import text
from specdec.ui import glossary, shell

pytestmark = pytest.mark.long

LETTER = re.compile(r"(?<![\w'])([b-hj-zα-ω])(?!\w)")  # one letter; not a, I


@pytest.mark.parametrize("page", shell.PAGES, ids=lambda page: page.path)
def test_every_letter_of_a_purpose_has_an_entry_on_its_page(page):
    terms = {word.term for word in glossary.of_page(page.address)}
    assert set(LETTER.findall(page.purpose)) <= terms


def test_letters_are_found_in_a_sentence():
    assert LETTER.findall("a = 1: min(1, p/q), α at k; the target's x") == ["p", "q", "α", "k", "x"]


def test_the_notation_is_explained():
    terms = {glossary.word(name).term for name in text("glossary")}
    assert {"p", "q", "k", "α", "c", "v", "u", "T"} <= terms
    kinds = {"accepted", "rejected", "discarded", "corrected", "bonus"}
    assert kinds == {term.split()[-1] for term in terms} & kinds


@pytest.mark.parametrize("name", text("glossary"))
def test_an_entry_says_what_it_means_and_is_offered_somewhere(name):
    word = glossary.word(name)
    assert word.meaning.endswith(".") and len(word.meaning) < 200
    assert any(name in words for words in text("words").values())


def test_every_page_has_words_and_words_name_entries_that_exist():
    assert set(text("words")) == {page.address for page in shell.PAGES} - {""}
    for names in text("words").values():
        assert len(set(names)) == len(names)
        assert all(map(glossary.word, names))


def test_no_entry_goes_by_an_unknown_name():
    with pytest.raises(ValueError, match="The glossary has no 'gamma'"):
        glossary.word("gamma")


def test_a_page_offers_its_words_and_the_start_page_all(app):
    at = app("pages/3_rule.py")
    [box] = [p for p in at.get("popover") if "Words" in p.proto.popover.label]
    assert box.proto.popover.label == "Words: p, q, u, α, overlap, residual, ↻ corrected, T, greedy"
    said = box.markdown[0].value
    for word in glossary.of_page("rule"):
        assert word.meaning in said and word.formula in said
    at = app()
    [box] = [p for p in at.get("popover") if "words" in p.proto.popover.label]
    assert box.markdown[0].value.count("\n\n") == len(text("glossary")) - 1
