"""Any causal model of transformers: its cache taken back is as if it had never gone astray."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from math import ceil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from specdec.drafters import ModelDrafter
from specdec.models import hf_checks, hf_scorer
from specdec.models.hf import HFModel
from tests.pairs_np import ids_of, run_rounds, scripted
from tests.tiny import build, one_thread
from tests.zoo import (
    CONTEXT,
    FULL,
    KNOWN,
    REFUSED,
    REFUSED_LATER,
    RUNNING,
    WINDOWS,
    V,
    phi3_long,
)

pytestmark = pytest.mark.long

PROMPT, N = [5, 41, 7, 88, 3, 60], 12


@pytest.fixture(autouse=True)
def threads() -> Iterator[None]:
    """One."""
    with one_thread():
        yield


@cache
def model(kind: str, seed: int = 0) -> HFModel:
    """A small random model of this architecture in fp32."""
    return HFModel(build(KNOWN[kind](), seed), name=kind)


def oracle(network: Any, ids: list[int]) -> np.ndarray:
    """Logits [n, V] of a pass over all tokens at once, with no cache."""
    with torch.inference_mode():
        return network(torch.tensor([ids]), use_cache=False).logits[0].float().numpy()


@cache
def greedy(kind: str) -> list[int]:
    """N tokens written with no cache and no engine."""
    ids = list(PROMPT)
    for _ in range(N):
        ids.append(int(oracle(model(kind).network, ids)[-1].argmax()))
    return ids[len(PROMPT) :]


def ids(n: int, seed: int = 1) -> list[int]:
    return np.random.default_rng(seed).integers(V, size=n).tolist()


def assert_same(got: np.ndarray, want: np.ndarray, rounding: float = 2e-5) -> None:
    assert got.dtype == np.float32
    assert got.shape == want.shape
    assert np.abs(got - want).max() <= rounding * np.abs(want).max()


@pytest.mark.parametrize("kind", KNOWN)
def test_speculation_is_plain_greedy_decoding(kind: str) -> None:
    """The drafter errs at half of the tokens: rejections and acceptances for every k."""
    want = greedy(kind)
    wrong = [(x + 1) % V if i % 4 in (1, 2) else x for i, x in enumerate(want)]
    drafter = scripted(V, wrong, len(PROMPT))
    for k in range(1, 6):
        rounds = run_rounds(model(kind).scorer(), drafter, PROMPT, k=k, n=N)
        assert ids_of(rounds) == want
        assert sum(r.rejected for r in rounds) and sum(r.accepted for r in rounds)
        lengths = np.cumsum([len(r.written) for r in rounds]) + len(PROMPT) - 1
        assert [r.lengths.target[1] for r in rounds] == lengths.tolist()


# What happens to a cache: tokens fed (f), tokens scored (s), a shorter length (b).
STORY = "f9 s5 b11 s3 b7 s6 b12 s1 s1 b13 s4 b16 b1 s7 b0 s1 s4 b3 f8 b10 s2"


@pytest.mark.parametrize(
    ("kind", "kept"),
    [(kind, "little") for kind in KNOWN] + [(kind, "much") for kind in WINDOWS | RUNNING],
)
def test_a_cache_taken_back_equals_a_fresh_one(
    kind: str, kept: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`little`: what is kept to go back to does not reach, and blocks of a prefill are short."""
    if kept == "little":
        for name, size in (("SPARE", 2), ("COPIES", 1), ("BLOCK", 4)):
            monkeypatch.setattr(hf_scorer, name, size)
    scorer, cached = model(kind).scorer(), []
    rounding = 5e-4 if kind in RUNNING else 2e-5  # a sum over chunks rounds otherwise
    for at, step in enumerate(STORY.split()):
        what, n = step[0], int(step[1:])
        if what == "b":
            scorer.rollback(n)
            cached = cached[:n]
        else:
            new = ids(n, seed=at)
            cached += new
            got = (scorer.feed if what == "f" else scorer.score)(new)
            if what == "s":
                assert_same(got, oracle(model(kind).network, cached)[-n:], rounding)
        assert scorer.length == len(cached)


@pytest.mark.parametrize("kind", ["gpt2", "gemma2", "lfm2", "mamba2", "qwen3_5_text"])
def test_a_model_that_drafts_for_itself_is_always_right(kind: str) -> None:
    own = ModelDrafter(model(kind).scorer())
    rounds = run_rounds(model(kind).scorer(), own, PROMPT, k=4, n=N)
    assert ids_of(rounds) == greedy(kind)
    assert len(rounds) == ceil(N / 5)
    assert not any(r.rejected for r in rounds)


@pytest.mark.parametrize("kind", ["gpt2", "gemma3", "lfm2", "mamba2", "granitemoehybrid"])
def test_a_drafter_of_this_kind_that_is_rejected_stays_right(kind: str) -> None:
    """Its drafts are those of a fresh cache, every round, however often it was taken back."""
    other, prompt = model(kind, seed=1), list(PROMPT)
    rounds = run_rounds(model(kind).scorer(), ModelDrafter(other.scorer()), PROMPT, k=3, n=N)
    assert ids_of(rounds) == greedy(kind)
    assert sum(r.rejected for r in rounds) > 3
    for r in rounds:
        drafted = [token.id for token in r.drafted]
        rows = oracle(other.network, prompt + drafted)[len(prompt) - 1 : -1]
        assert rows.argmax(1).tolist() == drafted
        prompt += [token.id for token in r.written]


def test_a_rollback_that_does_nothing_is_never_continued(monkeypatch: pytest.MonkeyPatch) -> None:
    scorer = model("gpt2").scorer()
    scorer.score(ids(6))
    monkeypatch.setattr(scorer._cache, "crop", lambda tokens: None)
    with pytest.raises(ValueError, match=r"'gpt2' holds \[6\] tokens instead of 4"):
        scorer.rollback(4)
    with pytest.raises(ValueError, match="cannot be relied upon"):
        scorer.score([1])


def test_one_layer_that_lags_is_noticed() -> None:
    scorer = model("gemma2").scorer()
    scorer.score(ids(9))
    scorer._cache.layers[1].crop(-1)
    with pytest.raises(ValueError, match="instead of 10"):
        scorer.score([1])


@pytest.mark.parametrize("kind", REFUSED)
def test_what_cannot_go_back_or_on_is_refused_before_its_weights(kind: str, tmp_path: Path) -> None:
    REFUSED[kind]().save_pretrained(tmp_path)
    reason = "no causal language model" if kind in ("t5", "bart", "clip") else "running state"
    with pytest.raises(ValueError, match=f"{kind}' .*{reason}"):
        HFModel.load(tmp_path)


@pytest.mark.parametrize("kind", REFUSED_LATER)
def test_a_model_without_a_cache_that_serves_is_refused(kind: str) -> None:
    with pytest.raises(ValueError, match=f"'{kind}' (cannot be decoded|gives other logits)"):
        HFModel(build(REFUSED_LATER[kind]()))


def test_every_kind_that_is_let_in_with_a_state_is_tested() -> None:
    assert set(hf_checks.RUNNING) == set(RUNNING)
    assert set(hf_checks.SHORT) == {"lfm2"}


def test_a_model_says_what_it_is() -> None:
    it = model("gemma2")
    assert (it.vocab_size, it.context, it.name) == (V, CONTEXT, "gemma2")
    assert (it.dtype, it.device.type, it.token_ids) == (torch.float32, "cpu", None)
    assert it.cache_bytes_per_token == 2 * 2 * 2 * 8 * 4  # layers, K and V, heads, size, fp32
    assert it.parameters_bytes == 4 * sum(x.numel() for x in it.network.parameters())
    assert model("bloom").context is None
    assert model("opt").context == CONTEXT


def test_the_context_ends_where_rope_would_turn_cached_keys_otherwise() -> None:
    it = HFModel(build(phi3_long()))
    assert it.context == 16
    scorer = it.scorer()
    scorer.feed(ids(16))
    with pytest.raises(ValueError, match="16 cached tokens and 1 more exceed the context of 16"):
        scorer.score([1])


def test_what_cannot_be_scored_is_said_and_nothing_is_fed() -> None:
    scorer = model("gpt2").scorer()
    for wrong, words in (([], "no tokens"), ([1, V], f"id {V} is outside"), ([-1], "id -1")):
        with pytest.raises(ValueError, match=words):
            scorer.score(wrong)
    with pytest.raises(ValueError, match="exceed the context"):
        scorer.score(ids(CONTEXT + 1))
    with pytest.raises(ValueError, match="chains only"):
        scorer.score([1, 2, 3], parents=[-1, 0, 0])
    with pytest.raises(ValueError, match=r"roll back to 1; it must be in \[0, 0\]"):
        scorer.rollback(1)
    assert scorer.length == 0
    assert_same(scorer.score([1, 2, 3], parents=[-1, 0, 1]), scorer_of_three())


def scorer_of_three() -> np.ndarray:
    return model("gpt2").scorer().score([1, 2, 3])


def test_a_closed_scorer_or_model_says_so() -> None:
    scorer, other = model("gpt2").scorer(), HFModel(build(KNOWN["gpt2"]()))
    scorer.close()
    orphan = other.scorer()
    other.close()
    for closed in (scorer, orphan):
        with pytest.raises(ValueError, match="closed"):
            closed.score([1])
        with pytest.raises(ValueError, match="closed"):
            closed.rollback(0)


@pytest.mark.parametrize("kind", ["gpt2", "gpt-neox", "bloom", "opt"])
def test_one_shape_gives_the_same_bits_in_bf16(kind: str) -> None:
    low = HFModel(build(KNOWN[kind]()).to(torch.bfloat16))
    assert low.rows_are_exact(8)
    options, tokens = {"rows": 8, "capacity": 48}, ids(32)
    plain = low.scorer(**options)
    plain.feed(tokens[:6])
    want = np.concatenate([plain.score([i]) for i in tokens[6:]])
    grouped = low.scorer(**options)
    grouped.feed(tokens[:6])
    sizes = iter(np.random.default_rng(0).integers(1, 9, size=32).tolist())
    while (at := grouped.length) < len(tokens):
        some = tokens[at : at + next(sizes)]
        grouped.score([(i + 1) % V for i in some])  # a draft that fails leaves no trace
        grouped.rollback(at)
        assert np.array_equal(grouped.score(some), want[at - 6 : at - 6 + len(some)])


def test_padding_may_stand_beyond_learned_positions() -> None:
    scorer, tokens = model("gpt2").scorer(rows=8, capacity=CONTEXT + 8), ids(CONTEXT)
    scorer.feed(tokens[:-1])
    got = scorer.score(tokens[-1:])
    assert_same(got, oracle(model("gpt2").network, tokens)[-1:])
    with pytest.raises(ValueError, match="exceed the context"):
        scorer.score([1])


@pytest.mark.parametrize("kind", [*WINDOWS, "mamba2", "gpt-neo", "falcon, alibi"])
def test_one_shape_is_refused_where_it_would_change_the_logits(kind: str) -> None:
    assert not model(kind).rows_are_exact(8)
    with pytest.raises(ValueError, match="one fixed shape"):
        model(kind).scorer(rows=8, capacity=32)


@pytest.mark.parametrize("kind", sorted({*FULL} - {"gpt-neo", "falcon, alibi"}))
def test_one_shape_is_the_same_model(kind: str) -> None:
    scorer = model(kind).scorer(rows=4, capacity=40)
    tokens = ids(9)
    got = np.concatenate([scorer.score(tokens[i : i + 3]) for i in (0, 3, 6)])
    assert_same(got, oracle(model(kind).network, tokens))
    with pytest.raises(ValueError, match="4 rows cannot score 5"):
        scorer.score(ids(5))


@pytest.fixture
def folder(tmp_path: Path) -> Callable[[str], Path]:
    """A checkpoint of this architecture on disk."""

    def saved(kind: str) -> Path:
        model(kind).network.save_pretrained(tmp_path / kind)
        return tmp_path / kind

    return saved


def test_a_folder_is_loaded_in_the_precision_asked_for(folder: Callable) -> None:
    path = folder("gemma2")
    loaded = HFModel.load(path, dtype="fp32", device="cpu")
    assert (loaded.name, loaded.folder) == ("gemma2", path)
    assert_same(loaded.scorer().score(ids(12)), oracle(model("gemma2").network, ids(12)))
    assert HFModel.load(path, dtype="bf16", device="cpu").dtype == torch.bfloat16


def test_a_folder_that_lacks_a_weight_is_refused(folder: Callable) -> None:
    """The library would go on with random numbers in its place."""
    from safetensors.torch import load_file, save_file

    file = folder("gpt-neox") / "model.safetensors"
    state = load_file(file)
    del state["gpt_neox.layers.1.attention.dense.weight"]
    save_file(state, file, metadata={"format": "pt"})
    with pytest.raises(ValueError, match=r"no weight 'gpt_neox.layers.1.attention.dense.weight'"):
        HFModel.load(file.parent, device="cpu")


def test_pickled_weights_are_never_read(folder: Callable) -> None:
    file = folder("gpt2") / "model.safetensors"
    file.rename(file.with_name("pytorch_model.bin"))
    with pytest.raises(ValueError, match=r"lacks model.safetensors \(pickled weights"):
        HFModel.load(file.parent)


def test_a_quantised_checkpoint_is_refused() -> None:
    config = KNOWN["gpt2"]()
    config.quantization_config = {"quant_method": "gptq"}
    with pytest.raises(ValueError, match="quantised"):
        hf_checks.check(config)


@pytest.mark.cuda
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs an NVIDIA GPU")
@pytest.mark.parametrize("kind", ["gpt2", "gemma2", "lfm2", "mamba2"])
def test_on_a_gpu_a_cache_is_taken_back_as_well(kind: str, folder: Callable) -> None:
    fast = HFModel.load(folder(kind), dtype="fp32", device="cuda")
    drafter = scripted(V, greedy(kind)[::-1], len(PROMPT))
    for rows in (None, 8) if fast.fixes_shapes else (None,):
        scorer = fast.scorer(rows, 48)
        rounds = run_rounds(scorer, drafter, PROMPT, k=3, n=N)
        assert ids_of(rounds) == greedy(kind)
