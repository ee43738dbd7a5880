"""Pairs of folders with different tokenizers, bridged by text."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

import specdec
from specdec.models.pairs import load_pair
from tests.tiny import one_thread, save_tokenizer
from tests.zoo import V, saved

pytestmark = pytest.mark.long

EXACT = {"dtype": "fp32", "device": "cpu", "bridge": True}
SHORT = {"chat": False, "max_new_tokens": 20, "tops": 0}
PROMPT = "w5 w41 w7 w88"


@pytest.fixture(autouse=True)
def threads() -> Iterator[None]:
    """One."""
    with one_thread():
        yield


@pytest.fixture
def twins(tmp_path: Path) -> str:
    """A target, and the same model under other ids: every word has another one."""
    target, twin = (saved(tmp_path / name, "llama") for name in ("target", "twin"))
    order = np.random.default_rng(0).permutation(V)
    state = load_file(twin / "model.safetensors")
    for name in state:
        if state[name].shape[:1] == (V,):
            moved = torch.empty_like(state[name])
            moved[torch.from_numpy(order)] = state[name]
            state[name] = moved
    save_file(state, twin / "model.safetensors", {"format": "pt"})
    save_tokenizer(twin, order=order)
    return f"{target}+{twin}"


@pytest.mark.parametrize("k", [1, 3, 6])
def test_the_same_model_under_other_ids_is_always_right(twins: str, k: int) -> None:
    pair = load_pair(twins, **EXACT)
    fast = specdec.generate(pair, PROMPT, k=k, **SHORT)
    assert fast.token_ids == specdec.plain(pair, PROMPT, **SHORT).token_ids
    assert fast.alpha == 1 and fast.tokens_per_pass > 0.8 * (k + 1)
    assert "bridged by text" in pair.description


@pytest.mark.parametrize("drafter", ["model", "combined", "lookup"])
@pytest.mark.parametrize("temperature", [0.0, 0.8])
def test_a_stranger_changes_no_text(tmp_path: Path, drafter: str, temperature: float) -> None:
    target, other = saved(tmp_path / "a", "llama"), saved(tmp_path / "b", "gpt2", words=V - 20)
    pair = load_pair(f"{target}+{other}", **EXACT)
    how = SHORT | {"temperature": temperature, "seed": 4}
    fast = specdec.generate(pair, PROMPT, k=3, drafter=drafter, **how)
    if not temperature:
        assert fast.token_ids == specdec.plain(pair, PROMPT, **how).token_ids
    assert any(r.drafted for r in fast.rounds)


def test_what_needs_its_logits_is_refused_in_a_sentence(twins: str) -> None:
    pair = load_pair(twins, **EXACT)
    with pytest.raises(ValueError, match="no tree"):
        specdec.generate(pair, PROMPT, drafter="tree", **SHORT)
    with pytest.raises(ValueError, match="bridged by text"):
        specdec.generate(pair, PROMPT, confidence=0.4, **SHORT)
    with pytest.raises(ValueError, match="another tokenizer"):
        pair.draft.scorer()


def test_without_a_bridge_they_make_no_pair(twins: str) -> None:
    with pytest.raises(ValueError, match="tokenizers differ"):
        load_pair(twins)
    with pytest.raises(ValueError, match="two folders"):
        load_pair("default", bridge=True)
