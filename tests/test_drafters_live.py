"""Page 6 live: the work behind its button, on NumPy models; the page starts, shows and keeps it."""

from __future__ import annotations

import pytest
from pairs_np import closed, random_pair

from specdec.contest import PLAIN
from specdec.ui import drafters, drafters_live, engine
from specdec.ui.job import Job

PAGE = "pages/6_drafters.py"
ASKED = {"prompt": "copy", "k": 2, "n": 8, "seed": 1}


@pytest.fixture
def pair(monkeypatch):
    pair = random_pair()
    monkeypatch.setattr(engine, "load", lambda *_: pair)
    return pair


def worked(**asked):
    job = Job(lambda job: drafters_live._work(job, **ASKED | asked))
    job.wait()
    return job


def test_the_ways_that_the_pair_has_run_in_turn(pair):
    job = worked(law="greedy", ways=("model", "heads", "tree"))
    assert not job.error
    prompt, law, contest = job.result
    assert (prompt, law) == ("copy", "greedy")
    assert [e.name for e in contest.entries] == [PLAIN, "model", "tree"]  # there are no heads
    assert {len(e.seconds) for e in contest.entries} == {drafters_live.TURNS}
    assert contest.entry("tree").trace.settings.k == 4 and contest.source.kind == "live"
    assert closed(pair)


def test_cancel_ends_it_without_a_result_and_frees_the_caches(pair):
    def work(job):
        job.cancel()
        return drafters_live._work(job, **ASKED, law="greedy", ways=("model",))

    job = Job(work)
    job.wait()
    assert job.result is None and not job.error and closed(pair)


def test_a_whole_contest_is_shown_in_place_of_the_recorded_one(pair, app):
    at = app(PAGE, prompt="copy", drafter="model.lookup", k="2", n="8", seed="1")
    at.button(key=f"{drafters_live.KEY} start").click().run()
    at.session_state[drafters_live.KEY].wait()
    at.run()
    assert not at.exception
    assert any("Measured just now" in caption.value for caption in at.caption)
    held = at.session_state[drafters.LIVE]["copy", "greedy"]
    assert held.names == ("model", "lookup") and held.plain.trace.settings.seed == 1
    at.segmented_control(key="drafters which").set_value("recorded").run()
    assert not any("Measured just now" in caption.value for caption in at.caption)
    at.segmented_control(key="drafters prompt").set_value("chat").run()
    assert not at.exception
