"""Page 5 without a browser, on NumPy models: the recording first, then runs, links, bad input."""

from __future__ import annotations

import json

import pytest

from specdec.presets import presets
from specdec.ui import engine
from tests.pairs_np import ByteTokenizer, Pair, drafting, random_model

pytestmark = pytest.mark.long

PAGE = "pages/5_live.py"
NAMES = [p.name for p in presets()]


@pytest.fixture(autouse=True)
def live(monkeypatch):
    """The reader's run, at hand: a test must wait for its thread."""
    one = engine.Live()
    monkeypatch.setattr(engine, "live", lambda: one)
    return one


@pytest.fixture
def pair(monkeypatch):
    target = random_model(len(ByteTokenizer()), name="large")
    pair = Pair(target, drafting(target, error=0.5))
    monkeypatch.setattr(engine, "load", lambda *_: pair)
    return pair


def shown(at) -> dict:
    """What the page sent to the stage."""
    return json.loads(at.get("bidi_component")[0].proto.json)


def press(at, label):
    next(b for b in at.button if b.label == label).click().run()
    engine.live().wait()
    return at.run()


def texts(at) -> str:
    return "\n".join(e.value for e in [*at.markdown, *at.info, *at.caption, *at.error])


@pytest.mark.parametrize("name", NAMES)
def test_it_opens_on_a_recording_of_every_preset(app, name):
    at = app(PAGE, prompt=name, link="1")
    assert not at.exception
    assert shown(at)["source"]["kind"] == "recorded" and shown(at)["rounds"]
    assert "**Recorded** on" in texts(at)


@pytest.mark.parametrize("way", [{"drafter": "lookup"}, {"T": "0.8"}, {}])
def test_the_recording_fits_the_settings(app, way):
    at = app(PAGE, link="1", **way)
    assert not at.exception
    assert shown(at)["greedy"] is ("T" not in way)


def test_a_run_replaces_the_recording(app, pair):
    at = press(app(PAGE, n="12", link="1"), "Run")
    assert not at.exception and not at.error
    assert shown(at)["source"]["kind"] == "live"
    assert sum(len(r["written"]) for r in shown(at)["rounds"]) == 12
    assert "✓ The same 12 tokens as plain decoding" in texts(at)
    assert at.metric[0].value != "n/a"
    assert at.session_state["measured"][0].k == 4


def test_one_round_at_a_time(app, pair):
    at = press(app(PAGE, n="12", link="1"), "One round")
    assert len(shown(at)["rounds"]) == 1 and shown(at)["end"] is None
    assert len(shown(press(at, "One round"))["rounds"]) == 2


@pytest.mark.parametrize(
    "text",
    [
        "",
        "😀 字 é",
        "<script>alert(1)</script>",
        "مرحبا بالعالم",
        "\x00\x1b[31m",
        "a" * 2000,
    ],
)
def test_any_prompt_runs_or_is_refused_in_a_sentence(app, pair, text):
    at = app(PAGE, prompt=text or "x", n="6", link="1")
    at.text_area(key="live own").set_value(text)
    at = press(at.run(), "Run")
    assert not at.exception
    assert (len(shown(at)["rounds"]) > 0) and (at.error or shown(at)["source"]["kind"] == "live")


@pytest.mark.parametrize("rule", ["pq", "match", "block"])
def test_every_lossless_rule_can_be_watched(app, pair, rule):
    at = press(app(PAGE, rule=rule, T="1", n="8", link="1"), "Run")
    assert not at.exception and not at.error
    assert engine.live().trace.settings.rule == rule
    assert ("as a rough one" in texts(at)) is (rule != "pq")


def test_k_0_is_plain_decoding(app, pair):
    at = press(app(PAGE, k="0", n="5", link="1"), "Run")
    assert not at.exception and len(shown(at)["rounds"]) == 5
    assert at.metric[1].value == "n/a"


def test_nonsense_in_the_link(app):
    at = app(
        PAGE, k="-3", T="hot", top_k="1e9", top_p="0", n="0", seed="-1", drafter="x", round="?"
    )
    assert not at.exception and at.info


def test_the_link_restores_everything(app):
    values = ("6", "0.7", "40", "0.9", "32", "7", "model", "code", "block")
    names = ("k", "T", "top_k", "top_p", "n", "seed", "drafter", "prompt", "rule")
    state = dict(zip(names, values))
    at = app(PAGE, round="2", step="3", link="1", **state)
    [link] = [c.value for c in at.code if "live?" in c.value]
    for name, value in {**state, "chat": "1", "round": "2", "step": "3"}.items():
        assert f"{name}={value}" in link


def test_the_link_restores_a_reader_s_own_text(app):
    at = app(PAGE, prompt="Once upon a time", chat="0", link="1")
    assert at.text_area(key="live own").value == "Once upon a time"
    assert at.checkbox(key="live chat").value is False
    [link] = [c.value for c in at.code if "live?" in c.value]
    assert "prompt=Once+upon+a+time" in link and "chat=0" in link


def test_a_failure_is_a_sentence_and_the_recording_stays(app, monkeypatch):
    def offline(*_):
        raise RuntimeError("The package index cannot be reached.")

    monkeypatch.setattr(engine, "load", offline)
    at = press(app(PAGE, link="1"), "Run")
    assert not at.exception
    assert at.error[0].value == "The package index cannot be reached."
    assert shown(at)["source"]["kind"] == "recorded"


def test_a_reader_who_comes_back_finds_his_settings(app):
    at = app(PAGE)
    at.segmented_control(key="live preset").set_value("own").run()
    at.text_area(key="live own").set_value("Once upon a time").run()
    at.slider(key="live k").set_value(7).run()
    at.segmented_control(key="live preset").set_value("code").run()
    at.segmented_control(key="live preset").set_value("own").run()
    assert at.text_area(key="live own").value == "Once upon a time", "a look at a preset loses it"
    at.switch_page("pages/4_speedup.py").run()
    at.switch_page(PAGE).run()
    assert not at.exception
    assert at.text_area(key="live own").value == "Once upon a time"
    assert at.slider(key="live k").value == 7
    at.switch_page("pages/4_speedup.py").run()
    at.query_params["k"] = "3"
    at.switch_page(PAGE).run()
    assert at.slider(key="live k").value == 3, "a link goes before what was left"
