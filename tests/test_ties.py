"""Near-ties: the spacing of a bfloat16, and a search on models that round by a pass's shape."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from specdec.presets import Preset
from specdec.ties import Ties, recorded, search, spacing
from tests.pairs_np import Model, Scorer, plain_ids, random_pair

pytestmark = pytest.mark.long

PROMPT = Preset("kiln", "A kiln", False, "the kiln")


def bfloat16s(x: float) -> tuple[float, float]:
    """x cut to a bfloat16, and the next one away from zero, by their bits."""
    bits = np.array([x], np.float32).view(np.uint32) & np.uint32(0xFFFF0000)
    pair = np.concatenate([bits, bits + np.uint32(0x10000)]).view(np.float32)
    return float(pair[0]), float(pair[1])


@given(st.floats(2.0**-100, 2.0**100))
def test_the_spacing_is_the_step_to_the_next_bfloat16(x: float) -> None:
    low, high = bfloat16s(x)
    assert spacing(low) == spacing(-low) == high - low


class Rounding(Model):
    """Two logits are a tie after `at` tokens; a pass over several rows breaks it the other way."""

    def __init__(self, of: Model, at: int, shakes: bool) -> None:
        super().__init__(of.vocab_size, of.logits, name=of.name)
        self.at, self.shakes = at, shakes

    def scorer(self, rows: int | None = None, capacity: int | None = None) -> Scorer:
        self.scorers.append(_RoundingScorer(self, capacity or 4096, rows))
        return self.scorers[-1]


class _RoundingScorer(Scorer):
    def __init__(self, model: Rounding, capacity: int, rows: int | None) -> None:
        super().__init__(model, capacity)
        self.shakes = model.shakes and rows is None

    def score(self, tokens: Sequence[int], parents: None = None) -> np.ndarray:
        start, logits = self.length, super().score(tokens)
        if start < self.model.at <= self.length:
            row = logits[self.model.at - start - 1]
            best = np.argsort(-row)[:2]
            row[best] = 16.0
            row[best[int(self.shakes and len(tokens) > 1)]] = 16.125
        return logits


def pairs(at: int):
    low, high = random_pair(), random_pair()
    shaky = [Rounding(p.target, at, shakes) for p, shakes in ((low, True), (high, False))]
    return replace(low, target=shaky[0]), replace(high, target=shaky[1], hardware=("fp", "", ""))


def test_the_search_finds_the_token_the_gap_and_the_cure() -> None:
    prompt = random_pair().tokenizer(PROMPT.prompt)["input_ids"]
    texts = []
    for at in range(len(prompt), len(prompt) + 20):
        *_, (share, ties) = search(*pairs(at), [PROMPT], n=24)
        [found] = ties.found
        texts.append(found)
        assert share == 1 and len(found.units) == 24
        assert found.units[at - len(prompt)] == 1.0  # 0.125 at 16.125
        assert found.fixed.first is found.high.first is None
        if found.natural.first is not None:  # else the pass that met it had one row, or …
            assert found.natural.first == at - len(prompt)
            plain, fast = (x.at for x in (found.natural.plain, found.natural.speculative))
            assert plain.tokens == fast.tokens[::-1]
            assert plain.units == fast.units == 1.0
            assert found.high.plain.at.tokens == plain.tokens
            assert found.natural.plain.tokens == found.high.plain.tokens
    assert sum(found.natural.first is not None for found in texts) > 10


def test_without_a_tie_the_text_is_the_oracle_s() -> None:
    low = random_pair()
    prompt = low.tokenizer(PROMPT.prompt)["input_ids"]
    *_, (_, ties) = search(low, low, [PROMPT], n=12)
    [found] = ties.found
    want = plain_ids(low.target, prompt, 12)
    for two in (found.natural, found.fixed, found.high):
        assert [t.id for t in two.plain.tokens] == [t.id for t in two.speculative.tokens] == want
        assert two.first is None and two.plain.at is None


def test_a_file_gives_back_what_was_written() -> None:
    assert Ties.from_json(recorded().to_json()) == recorded()
    with pytest.raises(ValueError, match="ties"):
        Ties.from_json("{}")


def test_what_was_recorded_is_the_lesson() -> None:
    """bf16 parts somewhere, within two spacings; at one shape and in fp32 nothing does."""
    found = recorded().found
    parted = [s for s in found if s.natural.first is not None]
    assert recorded().source.dtype == "bfloat16" and parted
    assert all(s.fixed.first is s.high.first is None for s in found)
    for s in parted:
        for text in (s.natural.plain, s.natural.speculative):
            assert text.at.units <= 2
            assert text.at.tokens[0].id == text.tokens[s.natural.first].id
