"""Page 8: every station opens from a link, asks first, has its four parts, and can be shared."""

from __future__ import annotations

from itertools import pairwise
from urllib.parse import parse_qs, urlsplit

import pytest

from specdec.ui import query, stations
from specdec.ui.stations.parts import HEADINGS

pytestmark = pytest.mark.long

PAGE = "pages/8_pitfalls.py"
KEYS = [station.key for station in stations.STATIONS]
THERE = ["long"]


def texts(at):
    return "\n".join(m.value for m in [*at.markdown, *at.caption, *at.info, *at.error])


def test_these_stations_are_there():
    assert set(THERE) <= set(KEYS)
    assert tuple(s.key for s in stations.ALL) == query.KEYS["station"].options
    assert [s.number for s in stations.ALL] == list(range(1, 9))


def test_an_unknown_station_is_named():
    with pytest.raises(ValueError, match="There is no station 'nowhere'"):
        stations.by_key("nowhere")


@pytest.mark.parametrize("key", KEYS)
def test_a_station_opens_by_its_link_with_four_parts_in_order(app, key):
    at = app(PAGE, station=key)
    assert not at.exception
    assert at.header[0].value == stations.by_key(key).label
    assert [s.value for s in at.subheader if s.value in HEADINGS.values()] == list(
        HEADINGS.values()
    )
    assert not at.info


@pytest.mark.parametrize("key", KEYS)
def test_a_station_asks_and_one_guess_alone_is_right(app, key):
    at = app(PAGE, station=key)
    asked = at.radio(key=f"guess {key}")
    assert asked.value is None and "✓ Right." not in texts(at)
    found = []
    for guess in asked.options:
        at.radio(key=f"guess {key}").set_value(guess).run()
        assert ("✓ Right." in texts(at)) != ("✗ Not so." in texts(at))
        found.append("✓ Right." in texts(at))
    assert len(found) >= 2 and found.count(True) == 1


@pytest.mark.parametrize("key", KEYS)
def test_a_shared_station_opens_again_as_it_was(app, key):
    first = app(PAGE, station=key)
    [link] = [code.value for code in first.code if "pitfalls?" in code.value]
    params = {name: values[0] for name, values in parse_qs(urlsplit(link).query).items()}
    assert params["station"] == key
    again = app(PAGE, **params)
    assert not again.exception and not again.info
    assert link in [code.value for code in again.code]


@pytest.mark.parametrize("key", KEYS)
def test_nonsense_in_a_link_is_mended_and_said(app, key):
    evil = dict.fromkeys(query.KEYS, "![x](https://example.org)") | {"station": key}
    at = app(PAGE, **evil)
    assert not at.exception
    assert "example" not in texts(at)


def test_a_link_s_numbers_are_not_those_of_another_station(app):
    at = app(PAGE, station=KEYS[0], k="7", alpha="0.31")
    if len(KEYS) > 1:
        at.radio(key="station").set_value(KEYS[1]).run()
        assert not at.exception and not at.info


def test_every_station_leads_to_the_next(app):
    at = app(PAGE, station=KEYS[0])
    for before, after in pairwise(KEYS):
        assert at.radio(key="station").value == before
        [on] = [b for b in at.button if b.label.startswith("Next station")]
        on.click().run()
        assert not at.exception and at.header[0].value == stations.by_key(after).label
    assert not [b for b in at.button if b.label.startswith("Next station")]


def test_a_position_without_a_text_before_it_is_said_in_words(app):
    at = app(PAGE, station="settings", step="0", link="1")
    [before] = [m.value for m in at.markdown if "⟦?⟧" in m.value]
    assert before == "The first token of the answer: **⟦?⟧**"
