"""Stations 1, 4, 5 and 7: what they say is what was computed, and their links open each case."""

from __future__ import annotations

import pytest

from specdec import foreign, ties
from specdec.lab import forgotten, forgotten_pair
from specdec.lab.forgotten import PLACES
from specdec.law import Sampling
from specdec.trace import Token
from specdec.ui.stations import caches, settings, tokenizer
from specdec.ui.stations import ties as near
from specdec.ui.stations.marked import around, parting

pytestmark = pytest.mark.long

PAGE = "pages/8_pitfalls.py"


def texts(at) -> str:
    return "\n".join(m.value for m in [*at.markdown, *at.caption, *at.code])


def tokens(*texts: str) -> tuple[Token, ...]:
    return tuple(Token(i, text) for i, text in enumerate(texts))


def test_the_first_token_that_differs_is_in_brackets() -> None:
    one, other = tokens("a", " b", "\nc"), (*tokens("a", " b"), Token(9, "*"))
    assert parting(one, one) is None
    assert parting(one, other) == 2 and parting(one, one[:2]) == 2
    assert around(one, 2).split() == ["a", "b", "**⟦⏎c⟧**"]
    assert "⟦\\*⟧" in around(other, 2) and "⟦nothing⟧" in around(one[:2], 2)
    assert around(one, 2, before=1).startswith("… ")


# ---- 1 · a foreign tokenizer ---------------------------------------------------------------------


def test_a_typed_text_is_cut_and_the_checks_speak(app) -> None:
    at = app(PAGE, station="tokenizer", prompt="A lantern, *twice*")
    said = texts(at)
    ours, theirs = foreign.target(), foreign.trained()
    assert f"**{len(ours.encode('A lantern, *twice*'))}** tokens" in said
    assert foreign.verdict(ours, theirs) in said
    at.text_area(key="tokenizer text").set_value("heat").run()
    assert f"**1** tokens and **{len(theirs.encode('heat'))}**" in texts(at)
    at.pills(key="tokenizer example").set_value("Code").run()
    assert at.text_area(key="tokenizer text").value == tokenizer.TEXTS["Code"]
    assert not at.exception


# ---- 4 · forgotten settings ----------------------------------------------------------------------


@pytest.mark.parametrize("place", PLACES, ids=lambda place: place.name)
def test_every_place_says_its_bias(app, place) -> None:
    at = app(PAGE, station="settings", open=place.name, T="0.55", top_p="0.95", step="1")
    assert not at.exception and not at.info
    laws = forgotten_pair.recorded().heads[1].laws(Sampling(temperature=0.55, top_p=0.95))
    assert settings.symptom(place, laws) in texts(at)
    right = place.name in forgotten.RIGHT
    assert ("exactly p.**" in settings.symptom(place, laws)) is right


def test_without_settings_no_place_can_forget_them() -> None:
    laws = forgotten_pair.recorded().heads[0].laws(Sampling(temperature=1.0))
    for place in PLACES:
        assert max(forgotten.bias(place, laws)) < settings.TINY
        assert "exactly p.**" in settings.symptom(place, laws)


def test_the_recorded_places_are_lossless_where_the_rule_says_so() -> None:
    found = forgotten_pair.recorded()
    assert found == type(found).from_json(found.to_json())
    assert [way.place for way in found.ways] == [place.name for place in PLACES]
    for way in found.ways:
        lossless = max(way.most, way.bonus) < settings.TINY
        assert lossless is (way.place in forgotten.RIGHT)
    right = found.ways[0]
    changed = [way.place for way in found.ways if parting(right.tokens, way.tokens) is not None]
    assert len(changed) >= 4


# ---- 5 · near-ties -------------------------------------------------------------------------------


@pytest.mark.parametrize("searched", ties.recorded().found, ids=lambda s: s.preset)
def test_a_near_tie_is_told_as_recorded(app, searched) -> None:
    at = app(PAGE, station="ties", open=searched.preset)
    assert not at.exception and not at.info
    first = searched.natural.first
    assert ("Token" in near.symptom(searched.natural)) is (first is not None)
    assert near.symptom(searched.natural) in texts(at)
    outcomes = [row for table in at.table for row in table.value.get("plain and speculative", [])]
    assert [o.startswith("✓") for o in outcomes] == [first is None, True, True]


# ---- 7 · caches and contexts ---------------------------------------------------------------------


@pytest.mark.parametrize("name", caches.CASES)
def test_every_broken_cache_opens_and_tells_its_symptom(app, name: str) -> None:
    at = app(PAGE, station="caches", open=name)
    assert not at.exception and not at.info
    said = texts(at)
    assert ("**The text is wrong from word" in said) is name.endswith("target")
    assert ("no symptom" in said) is (name == "none")


def test_the_cells_on_screen_are_marked() -> None:
    found = [caches.Cell(0), caches.Cell(1, "stale"), caches.Cell(2, "lost")]
    assert caches.cells(found, ["", "kiln", "heat"]) == "⟨start⟩ ✗kiln ∅heat"


@pytest.mark.parametrize("name", ["stale-target", "stale-drafter", "twice-target", "twice-drafter"])
def test_what_was_really_dropped_is_what_the_cells_lack(name: str) -> None:
    """Every cell that was ever fed is there, or was dropped."""
    for seed in range(1, 5):
        case = caches._case(name, 4, 0.8, seed)
        row = caches._account(case, name)
        there = sum(c.state != "lost" for c in case.cache.cells)
        assert int(row["by the lengths: fed"]) == there + int(row["really dropped"])
