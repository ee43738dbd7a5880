"""The start page without a browser: a drawn round, a measurement on request, the map."""

from __future__ import annotations

import json

from specdec.ui import engine, passes, shell
from tests.pairs_np import Pair, drafting, random_model


def test_it_opens_on_a_recorded_round_in_which_all_happens(app):
    at = app()
    assert not at.exception
    data = json.loads(at.get("bidi_component")[0].proto.json)
    assert data["source"]["kind"] == "recorded"
    drafted = data["rounds"][data["start"]["round"] - 1]["drafted"]
    assert {token["verdict"] for token in drafted} == {"accepted", "rejected", "discarded"}


def test_the_measurement_is_one_of_this_machine(app, monkeypatch):
    target = random_model(300)
    monkeypatch.setattr(engine, "load", lambda: Pair(target, drafting(target)))
    at = app()
    at.button[0].click().run()
    at.session_state[passes.KEY].wait()
    at.run()
    assert not at.exception and not at.error
    table = at.dataframe[0].value
    assert list(table["tokens in one pass"]) == list(passes.TOKENS)
    assert at.metric[0].value.endswith("×")
    assert any("float64, cpu, a test" in caption.value for caption in at.caption)


def test_a_measurement_is_cancelled_between_passes(app, monkeypatch):
    target = random_model(300)
    monkeypatch.setattr(engine, "load", lambda: Pair(target, drafting(target)))
    at = app()
    with engine.GATE.turn("somebody else"):
        at.button[0].click().run()
        job = at.session_state[passes.KEY]
        while not engine.GATE.ahead(job):
            pass
        assert engine.progress(job)[1] == "Waiting: 1 turn of other readers first"
        next(b for b in at.button if b.label == "Cancel").click().run()
    job.wait()
    at.run()
    [scorer] = target.scorers
    assert scorer.closed and len(scorer.fed) < passes.REPEATS * len(passes.TOKENS)
    assert not (at.exception or at.error or at.metric or at.dataframe)
    assert not at.button[0].disabled


def test_a_machine_that_cannot_load_says_why(app, monkeypatch):
    def offline():
        raise RuntimeError("The package index cannot be reached.")

    monkeypatch.setattr(engine, "load", offline)
    at = app()
    at.button[0].click().run()
    at.session_state[passes.KEY].wait()
    at.run()
    assert at.error[0].value == "The package index cannot be reached."


def test_every_lesson_is_on_the_map(app):
    at = app()
    links = [element.proto.page for element in at.get("page_link")]
    for page in shell.PAGES[1:]:
        assert sum(page.address in link for link in links) >= 2, "in the menu and on the map"
