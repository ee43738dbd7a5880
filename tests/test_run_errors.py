"""What a run refuses, in words, before any forward and with every cache freed."""

from __future__ import annotations

import pytest

from specdec import run
from specdec.law import Sampling
from tests.pairs_np import Pair, closed, random_model, random_pair


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"drafter": "oracle"}, "'oracle'.*model, lookup"),
        ({"stop": ""}, "stop strings"),
        ({"stop": ["a", ""]}, "stop strings"),
        ({"stop": [3]}, "stop strings"),
        ({"k": -1}, "k is -1"),
        ({"k": 2.5}, "k is 2.5"),
        ({"k": float("nan")}, "k is nan"),
        ({"k": -500}, "k is -500"),
        ({"max_new_tokens": 0}, "max_new_tokens is 0"),
        ({"max_new_tokens": -500}, "max_new_tokens is -500"),
        ({"max_new_tokens": 2.5}, "max_new_tokens is 2.5"),
        ({"seed": -1}, "seed is -1"),
        ({"rule": "typical"}, "'typical'"),
        ({"rows": 4, "k": 4}, "k is 4; with rows=4"),
        ({"top_p": 2.0}, "top_p is 2.0"),
        ({"temperature": float("nan")}, "temperature is nan"),
        ({"sampling": Sampling(1.0), "top_k": -2}, "top_k is -2"),
    ],
    ids=str,
)
def test_bad_settings_are_named_before_any_forward(options: dict, named: str) -> None:
    pair = random_pair()
    with pytest.raises(ValueError, match=named):
        run.generate(pair, "the sky", **options)
    assert closed(pair)
    assert all(scorer.fed == [] for scorer in pair.scorers)


def test_two_vocabularies_are_named_before_any_forward() -> None:
    pair = Pair(random_model(96), random_model(128), stop_ids=())
    with pytest.raises(ValueError, match="128 tokens and the target 96"):
        run.generate(pair, [1, 2, 3])
    assert all(scorer.fed == [] for scorer in pair.scorers)
    assert run.generate(pair, [1, 2, 3], drafter="lookup", max_new_tokens=3).stop_reason == "length"


@pytest.mark.parametrize("word", ["k", "drafter", "rule"])
def test_plain_decoding_has_no_such_setting(word: str) -> None:
    with pytest.raises(TypeError, match=word):
        run.plain(random_pair(), "the sky", **{word: 1})


def test_a_setting_that_does_not_exist_is_named() -> None:
    with pytest.raises(TypeError, match="warmth"):
        run.rounds(random_pair(), "the sky", warmth=1.0)
