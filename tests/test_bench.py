"""The bench on NumPy models: arms, counts, equality; its times are for a real machine only."""

from __future__ import annotations

import json
from dataclasses import asdict, replace

import pytest

from specdec.bench import bench
from specdec.presets import Preset
from tests.pairs_np import ByteTokenizer, Pair, drafting, random_model

PROMPTS = [Preset("a", "A", False, "the kiln"), Preset("b", "B", False, "the sky is")]


@pytest.fixture(scope="module")
def report():
    target = random_model(len(ByteTokenizer()), name="large")
    pair = Pair(target, drafting(target, error=0.5))
    return bench(pair, PROMPTS, k=3, max_new_tokens=12, repeats=2, peers=False)


def test_our_arms_write_the_same_text(report):
    assert [arm.name for arm in report.arms] == ["plain", "model", "lookup"]
    assert all(arm.equal for arm in report.arms)


def test_passes_are_counted_over_all_prompts(report):
    plain, model, _ = report.arms
    assert plain.target_passes == 24 and plain.tokens_per_pass == 1 and plain.alpha is None
    assert model.target_passes < 24 and model.draft_passes == 3 * model.target_passes
    assert model.tokens_per_pass == pytest.approx(24 / model.target_passes)


def test_speed_ups_are_against_plain_in_the_same_repeat(report):
    assert report.arms[0].speedup == 1 and report.arms[0].spread == (1, 1)
    for arm in report.arms:
        assert 0 < arm.spread[0] <= arm.speedup <= arm.spread[1] and arm.tokens_per_s > 0


def test_the_report_is_json_with_the_promised_names(report):
    data = json.loads(json.dumps(asdict(report)))
    assert {"dtype", "k", "overhead", "arms"} <= set(data)
    names = {"name", "tokens_per_s", "speedup", "predicted", "alpha", "draft_yield"}
    assert names | {"tokens_per_pass", "target_passes", "equal"} <= set(data["arms"][0])
    assert data["overhead"] > 0 and data["overhead_sampling"] > 0


def test_the_table_shows_every_arm(report):
    from specdec.__main__ import table

    text = table(replace(report, machine="a test"))
    assert all(arm.name in text for arm in report.arms) and "a test" in text
