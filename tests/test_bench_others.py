"""Other engines beside us on a tiny pair: the same text, by about as many passes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

import specdec
from specdec.bench import bench
from specdec.bench_others import others
from specdec.models.pairs import Pair, load_pair
from specdec.presets import Preset
from tests.tiny import one_thread
from tests.zoo import near, saved

pytestmark = pytest.mark.long

EXACT = {"dtype": "fp32", "device": "cpu"}
PROMPT, N, K = [5, 41, 7, 41, 7, 88], 30, 3


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    place: Path = tmp_path_factory.mktemp("others")
    target = saved(place / "target", "llama")
    with one_thread():
        yield load_pair(f"{target}+{near(place / 'small', target, 0.1)}", **EXACT)


def test_they_write_plain_decodings_text(pair: Pair) -> None:
    arms = others(pair, K)
    assert [arm.name for arm in arms] == ["economize", "flashspec"]
    plain = specdec.plain(pair, PROMPT, max_new_tokens=N)
    ours = specdec.generate(pair, PROMPT, k=K, max_new_tokens=N)
    for arm in arms:
        for _ in range(2):  # what it keeps from the first run is no other text
            out = arm.run(PROMPT, N)
            assert out.tokens == plain.token_ids
            assert abs(out.target_passes - ours.target_passes) <= 2
            assert out.draft_passes > 0 and out.seconds > 0


def test_an_end_ends_them_too(pair: Pair) -> None:
    plain = specdec.plain(pair, PROMPT, max_new_tokens=N)
    end = plain.token_ids[4]
    stopped = replace(pair, stop_ids=(end,))
    expected = plain.token_ids[: plain.token_ids.index(end) + 1]
    assert [arm.run(PROMPT, N).tokens for arm in others(stopped, K)] == [expected, expected]


def test_they_stand_in_the_table(pair: Pair) -> None:
    preset = Preset("tiny", "Tiny", False, "w5 w41 w7")
    report = bench(
        pair, [preset], k=K, max_new_tokens=8, repeats=1, drafters=["model"], peers=others(pair, K)
    )
    found = {arm.name: arm for arm in report.arms}
    assert found["economize"].equal and found["flashspec"].equal and not report.left_out
