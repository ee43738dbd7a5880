"""The recorded runs that pages open on: real, of these very prompts, and true to each other."""

from __future__ import annotations

import pytest

from specdec import recordings
from specdec.presets import presets

ALL = [(p, way) for p in presets() for way in recordings.WAYS]


@pytest.mark.parametrize(("preset", "way"), ALL, ids=[f"{p.name}-{w}" for p, w in ALL])
def test_a_recording_is_of_its_preset(preset, way):
    r = recordings.load(preset.name, way)
    drafter, sampling = recordings.WAYS[way]
    for trace in (r.speculative, r.plain):
        assert preset.prompt in "".join(token.text for token in trace.prompt)
        assert trace.source.kind == "recorded" and trace.source.when and trace.source.machine
        assert trace.settings.sampling == sampling and trace.stop_reason
        assert all(x.seconds.verify > 0 for x in trace.rounds)
    assert r.speculative.settings.drafter == drafter and r.plain.settings.k == 0
    assert r.plain.target_passes == len(r.plain.token_ids)
    assert r.speculative.target_passes < len(r.speculative.token_ids)


@pytest.mark.parametrize("preset", presets(), ids=lambda p: p.name)
def test_greedy_recordings_agree_or_say_why_not(preset):
    for way in ("model", "lookup"):
        r = recordings.load(preset.name, way)
        same = r.speculative.token_ids == r.plain.token_ids
        assert r.check.natural.equal == same
        assert same or (r.check.fixed.equal and r.check.tie.gap <= 0.25), "a fault, not a near tie"
    assert recordings.load(preset.name, "sampled").check is None


def test_the_words_of_a_sampled_recording_were_drawn_by_its_uniforms():
    for preset in presets():
        for r in recordings.load(preset.name, "sampled").speculative.rounds:
            for token in r.drafted:
                if token.u is not None:
                    assert (token.u < token.threshold) == (token.verdict == "accepted")


@pytest.mark.parametrize(("preset", "way"), ALL, ids=[f"{p.name}-{w}" for p, w in ALL])
def test_every_discarded_tail_was_looked_at_again(preset, way):
    trace = recordings.load(preset.name, way).speculative
    for r in trace.rounds:
        tail = r.drafted[r.accepted + 1 :] if r.rejected else ()
        assert all(token.mended and token.mended.p_top.entries for token in tail)
    assert trace.source.memory.target_weights > trace.source.memory.drafter_weights
    assert (trace.source.memory.drafter_weights > 0) == (way != "lookup")


def first_guess_fails(trace) -> float:
    """The share of rounds that accepted nothing."""
    return trace.accepted_histogram[0] / len(trace.rounds)


def test_what_the_gallery_says_of_the_recordings_is_true():
    """The sentences of presets.toml, one claim after another."""
    of = {(p.name, way): recordings.load(p.name, way).speculative for p, way in ALL}
    alpha = {which: trace.alpha for which, trace in of.items()}
    assert all(first_guess_fails(of[name, way]) > 0.5 for name, way in of if name == "chat")
    assert all(first_guess_fails(of[name, way]) > 0.5 for name, way in of if name == "story")
    assert alpha["story", "lookup"] < 0.1
    assert alpha["code", "model"] == max(alpha[p.name, "model"] for p in presets())
    assert of["code", "model"].accepted_histogram[4] > 0
    assert alpha["copy", "lookup"] > 0.9 > 0.5 > alpha["copy", "model"]
    assert alpha["maths", "sampled"] > alpha["maths", "model"]
