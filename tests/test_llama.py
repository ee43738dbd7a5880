"""The forward pass against transformers', on small random checkpoints of every kind it knows."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from transformers import LlamaConfig, MistralConfig, Qwen2Config, Qwen3Config

from specdec.models import parts, scorer
from specdec.models.llama import Llama
from tests.tiny import CONTEXT, SIZES, V, one_thread, save

pytestmark = pytest.mark.long


@pytest.fixture(autouse=True)
def threads() -> Iterator[None]:
    """One."""
    with one_thread():
        yield


def scaled(kind: str, **more: Any) -> LlamaConfig:
    return LlamaConfig(
        **SIZES, rope_parameters={"rope_type": kind, "rope_theta": 1e4, "factor": 4.0, **more}
    )


CONFIGS = {
    "llama": lambda: LlamaConfig(**SIZES, attention_bias=True, mlp_bias=True),
    "llama, tied, one key head": lambda: LlamaConfig(
        **SIZES | {"num_key_value_heads": 1}, tie_word_embeddings=True
    ),
    "llama, as many keys as queries": lambda: LlamaConfig(**SIZES | {"num_key_value_heads": 6}),
    "llama3 scaling": lambda: scaled(
        "llama3",
        low_freq_factor=1.0,
        high_freq_factor=4.0,
        original_max_position_embeddings=32,
    ),
    "linear scaling": lambda: scaled("linear"),
    "dynamic scaling": lambda: scaled("dynamic"),
    "yarn scaling": lambda: scaled("yarn", original_max_position_embeddings=16),
    "mistral": lambda: MistralConfig(**SIZES, sliding_window=None, head_dim=12),
    "qwen2": lambda: Qwen2Config(**SIZES, tie_word_embeddings=True),
    "qwen3": lambda: Qwen3Config(**SIZES, head_dim=16),
}


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory: Any) -> Callable[[str], tuple[Path, Any]]:
    """Folder and transformers' model of a kind, made once."""
    made: dict[str, tuple[Path, Any]] = {}

    def get(kind: str) -> tuple[Path, Any]:
        if kind not in made:
            folder = tmp_path_factory.mktemp("checkpoint")
            made[kind] = folder, save(CONFIGS[kind](), folder)
        return made[kind]

    return get


@pytest.fixture
def model(checkpoint: Callable) -> Llama:
    """A small Llama in fp32."""
    return Llama.load(checkpoint("llama")[0], dtype="fp32", device="cpu")


def ids(n: int, seed: int = 1) -> list[int]:
    return np.random.default_rng(seed).integers(V, size=n).tolist()


def reference(theirs: Any, tokens: list[int]) -> np.ndarray:
    with torch.inference_mode():
        return theirs(torch.tensor([tokens])).logits[0].float().numpy()


def assert_same(ours: np.ndarray, theirs: np.ndarray) -> None:
    """Equal but for fp32's rounding, and the same choice wherever that cannot decide it."""
    bound = 2e-5 * np.abs(theirs).max()
    assert ours.dtype == np.float32
    assert ours.shape == theirs.shape
    assert np.abs(ours - theirs).max() <= bound
    first, second = np.sort(theirs)[:, -1], np.sort(theirs)[:, -2]
    clear = first - second > bound
    assert clear.any()
    assert (ours.argmax(1) == theirs.argmax(1))[clear].all()


@pytest.mark.parametrize("kind", CONFIGS)
def test_logits_equal_transformers(kind: str, checkpoint: Callable) -> None:
    folder, theirs = checkpoint(kind)
    tokens, other = ids(40), ids(9, seed=2)
    want = reference(theirs, tokens)
    s = Llama.load(folder, dtype="fp32", device="cpu").scorer()
    assert_same(s.score(tokens), want)  # at once
    s.rollback(0)
    s.feed(tokens[:7])
    steps = [s.score([token]) for token in tokens[7:]]  # one by one, after a prefill
    assert_same(np.concatenate(steps), want[7:])
    s.rollback(20)  # another continuation of the first 20
    assert_same(s.score(other), reference(theirs, tokens[:20] + other)[20:])
    assert s.length == 29


def test_without_packing_the_logits_are_the_same(
    checkpoint: Callable, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, theirs = checkpoint("llama")
    monkeypatch.setattr(parts, "packing_works", lambda dtype: False)
    model = Llama.load(folder, dtype="fp32", device="cpu")
    assert type(model.head) is parts.Linear
    assert_same(model.scorer().score(ids(30)), reference(theirs, ids(30)))


def test_a_sharded_checkpoint_is_the_same_model(checkpoint: Callable, tmp_path: Path) -> None:
    _, theirs = checkpoint("llama")
    theirs.save_pretrained(tmp_path, max_shard_size="100KB")
    assert len(list(tmp_path.glob("*.safetensors"))) > 1
    sharded = Llama.load(tmp_path, dtype="fp32", device="cpu")
    assert_same(sharded.scorer().score(ids(20)), reference(theirs, ids(20)))


def test_a_growing_cache_and_a_prefill_in_blocks_change_nothing(
    checkpoint: Callable, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scorer, "FIRST", 2)
    monkeypatch.setattr(scorer, "BLOCK", 5)
    folder, theirs = checkpoint("qwen3")
    s = Llama.load(folder, dtype="fp32", device="cpu").scorer()
    s.feed(ids(40)[:33])
    assert s.features.shape == (33, 48)
    assert_same(s.score(ids(40)[33:]), reference(theirs, ids(40))[33:])


# A root with two children, one of which has a child and a grandchild; a second root.
PARENTS = [-1, 0, 0, 1, 3, -1]
PATHS = [[0], [0, 1], [0, 2], [0, 1, 3], [0, 1, 3, 4], [5]]


@pytest.mark.parametrize("rows", [None, 8])
@pytest.mark.parametrize("kind", ["llama", "llama3 scaling", "qwen3"])
def test_tree_nodes_equal_their_paths_run_as_chains(
    kind: str, rows: int | None, checkpoint: Callable
) -> None:
    folder, theirs = checkpoint(kind)
    s = Llama.load(folder, dtype="fp32", device="cpu").scorer(rows, 32)
    prompt, tree = ids(11), ids(6, seed=3)
    s.feed(prompt)
    logits = s.score(tree, PARENTS)
    for node, path in enumerate(PATHS):
        chain = prompt + [tree[i] for i in path]
        assert_same(logits[node : node + 1], reference(theirs, chain)[-1:])


def test_keeping_a_path_equals_having_fed_only_it(checkpoint: Callable) -> None:
    folder, theirs = checkpoint("llama")
    s = Llama.load(folder, dtype="fp32", device="cpu").scorer()
    prompt, tree, after = ids(11), ids(6, seed=3), ids(4, seed=4)
    s.feed(prompt)
    s.score(tree, PARENTS)
    s.keep([0, 1, 3])
    assert s.length == 14
    want = reference(theirs, prompt + [tree[0], tree[1], tree[3]] + after)[14:]
    assert_same(s.score(after), want)


def test_a_tree_is_never_continued_without_choosing_a_path(model: Llama) -> None:
    s = model.scorer()
    s.feed(ids(5))
    s.score(ids(6), PARENTS)
    with pytest.raises(ValueError, match="branches"):
        s.score([1])
    with pytest.raises(ValueError, match="no path"):
        s.rollback(8)  # the root and both its children
    for wrong in ([1], [0, 3], [0, 1, 2], [6]):
        with pytest.raises(ValueError, match="no path"):
            s.keep(wrong)
    s.rollback(7)  # the root and its first child are a path
    s.score([1])
    assert s.length == 8


@pytest.mark.parametrize("dtype", ["fp32", "bf16"])
@pytest.mark.parametrize("rows", [4, 8])
def test_fixed_rows_give_the_same_bits_however_the_tokens_are_grouped(
    rows: int, dtype: str, checkpoint: Callable
) -> None:
    model = Llama.load(checkpoint("llama")[0], dtype=dtype, device="cpu")
    assert model.rows_are_exact(rows)
    tokens, plain = ids(30), model.scorer(rows, 50)
    plain.feed(tokens[:9])
    want = np.concatenate([plain.score([token]) for token in tokens[9:]])
    grouped = model.scorer(rows, 50)
    grouped.feed(tokens[:9])
    rng = np.random.default_rng(rows)
    while grouped.length < len(tokens):
        at = grouped.length
        some = tokens[at : at + int(rng.integers(1, rows + 1))]
        wrong = [(token + 1) % V for token in some]
        grouped.score(wrong)  # a draft that fails leaves no trace
        grouped.rollback(at)
        assert np.array_equal(grouped.score(some), want[at - 9 : at - 9 + len(some)])


def test_rows_that_differ_are_found(model: Llama, monkeypatch: pytest.MonkeyPatch) -> None:
    right = model.logits
    model.__dict__["logits"] = lambda hidden: right(hidden) + torch.arange(len(hidden))[:, None]
    assert not model.rows_are_exact(4)


def test_features_are_what_the_head_reads(model: Llama) -> None:
    s = model.scorer()
    logits = s.score(ids(7))
    with torch.inference_mode():
        again = model.logits(torch.from_numpy(s.features)).numpy()
    assert np.array_equal(again, logits)
    s.feed(ids(3))
    assert s.features.shape == (3, 48)


def test_two_runs_share_a_model_and_nothing_else(model: Llama) -> None:
    alone, a, b = model.scorer(), model.scorer(), model.scorer(capacity=20)
    want = alone.score(ids(10))
    a.feed(ids(5))
    b.feed(ids(8, seed=9))
    assert_same(a.score(ids(10)[5:]), want[5:])
    assert (a.length, b.length) == (10, 8)


def test_a_reduced_vocabulary_gives_these_columns_in_ascending_order(
    model: Llama, checkpoint: Callable
) -> None:
    _, theirs = checkpoint("llama")
    some = np.array([40, 3, 96, 17])
    state = dict(theirs.state_dict())
    state["lm_head.weight"] = state["lm_head.weight"][some]
    del state["model.embed_tokens.weight"]  # lent by the other model
    small = Llama(
        theirs.config, state, dtype="fp32", device="cpu", embedding=model.embedding, token_ids=some
    )
    s = small.scorer()
    assert s.token_ids.tolist() == [3, 17, 40, 96]
    assert s.vocab_size == V
    assert_same(s.score(ids(12)), model.scorer().score(ids(12))[:, [3, 17, 40, 96]])
    own = sum(weight.numel() for weight in state.values()) * 4
    assert small.parameters_bytes == own


@pytest.mark.parametrize("kind", CONFIGS)
@pytest.mark.parametrize("dtype", ["fp32", "bf16"])
def test_bytes_are_those_of_the_tensors(kind: str, dtype: str, checkpoint: Callable) -> None:
    folder, theirs = checkpoint(kind)
    model = Llama.load(folder, dtype=dtype, device="cpu")
    assert model.parameters_bytes == theirs.num_parameters() * model.dtype.itemsize
    cache = model.scorer(capacity=10)._cache
    assert model.cache_bytes_per_token * 10 == cache.nbytes


def test_the_norm_is_torchs_rms_norm() -> None:
    torch.manual_seed(0)
    x, weight = torch.randn(5, 3, 24), torch.rand(24)
    want = torch.nn.functional.rms_norm(x, (24,), weight, 1e-5)
    torch.testing.assert_close(parts.RMSNorm(weight, 1e-5)(x), want, rtol=1e-5, atol=1e-6)


def test_an_active_sliding_window_ends_the_context(tmp_path: Path) -> None:
    theirs = save(MistralConfig(**SIZES, sliding_window=16, head_dim=8), tmp_path)
    s = Llama.load(tmp_path, dtype="fp32", device="cpu").scorer()
    assert s.context == 16
    assert_same(s.score(ids(16)), reference(theirs, ids(16)))
    with pytest.raises(ValueError, match="context of 16"):
        s.score([1])


def test_longrope_ends_the_context_where_its_long_factors_begin(tmp_path: Path) -> None:
    config = scaled(
        "longrope",
        short_factor=[1.0, 1.5, 2.0, 2.5],
        long_factor=[4.0, 4.0, 4.0, 4.0],
        original_max_position_embeddings=24,
    )
    theirs = save(config, tmp_path)
    s = Llama.load(tmp_path, dtype="fp32", device="cpu").scorer()
    assert s.context == 24
    assert_same(s.score(ids(24)), reference(theirs, ids(24)))


def change(folder: Path, **config: Any) -> Path:
    file = folder / "config.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | config))
    return folder


@pytest.mark.parametrize(
    ("config", "words"),
    [
        ({"model_type": "gpt2"}, "architecture is 'gpt2'"),
        ({"hidden_act": "gelu"}, "activation is 'gelu'"),
        ({"quantization_config": {"quant_method": "gptq", "bits": 4}}, "quantised"),
        (
            {
                "rope_parameters": {
                    "rope_type": "default",
                    "rope_theta": 1e4,
                    "partial_rotary_factor": 0.5,
                }
            },
            "part of each head",
        ),
        ({"num_hidden_layers": 4}, r"no weight 'model\.layers\.3\."),
    ],
)
def test_what_the_pass_does_not_know_is_refused(
    config: dict[str, Any], words: str, tmp_path: Path
) -> None:
    save(CONFIGS["llama"](), tmp_path)
    with pytest.raises(ValueError, match=words):
        Llama.load(change(tmp_path, **config), device="cpu")


def test_folders_without_config_or_weights_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"no config\.json"):
        Llama.load(tmp_path)
    save(CONFIGS["llama"](), tmp_path)
    (tmp_path / "model.safetensors").unlink()
    with pytest.raises(ValueError, match=r"lacks model\.safetensors"):
        Llama.load(tmp_path)


def test_an_unknown_dtype_is_refused(checkpoint: Callable) -> None:
    with pytest.raises(ValueError, match="dtype is 'int4'"):
        Llama.load(checkpoint("llama")[0], dtype="int4")


@pytest.mark.parametrize(
    ("rows", "capacity", "words"),
    [
        (5, 50, "multiple of 4"),
        (0, 50, "multiple of 4"),
        (4, None, "capacity"),
        (None, 0, "or more"),
    ],
)
def test_impossible_shapes_are_refused(
    rows: int | None, capacity: int | None, words: str, model: Llama
) -> None:
    with pytest.raises(ValueError, match=words):
        model.scorer(rows, capacity)


def test_tokens_that_do_not_fit_are_refused_and_nothing_is_cached(model: Llama) -> None:
    s = model.scorer(capacity=10)
    s.feed(ids(8))
    refused: list[tuple[list[int], list[int] | None, str]] = [
        ([], None, "at least one"),
        ([V], None, r"id 97 is outside the vocabulary \[0, 97\)"),
        ([-1], None, "id -1"),
        ([1, 2, 3], None, "room for 10 tokens; this pass needs 11"),
        ([1, 2], [-1, 1], "parents"),
        ([1, 2], [-2, 0], "parents"),
    ]
    for tokens, parents, words in refused:
        with pytest.raises(ValueError, match=words):
            s.score(tokens, parents)
    with pytest.raises(ValueError, match="4 rows cannot score 5"):
        model.scorer(4, 20).score(ids(5))
    with pytest.raises(ValueError, match=f"context of {CONTEXT}"):
        model.scorer().feed(ids(CONTEXT + 1))
    assert s.length == 8


def test_the_last_tokens_of_the_context_can_be_scored_at_a_fixed_shape(model: Llama) -> None:
    s = model.scorer(rows=8, capacity=10 * CONTEXT)
    s.feed(ids(CONTEXT)[:-1])
    assert_same(s.score(ids(CONTEXT)[-1:]), model.scorer().score(ids(CONTEXT))[-1:])


def test_rollback_is_bounded_and_a_closed_scorer_is_refused(model: Llama) -> None:
    s = model.scorer()
    s.feed(ids(5))
    for wrong in (-1, 6):
        with pytest.raises(ValueError, match=r"in \[0, 5\]"):
            s.rollback(wrong)
    s.close()
    s.close()
    for use in (lambda: s.score([1]), lambda: s.feed([1]), lambda: s.rollback(0)):
        with pytest.raises(ValueError, match="closed"):
            use()
    open_one = model.scorer()
    model.close()
    with pytest.raises(ValueError, match="closed"):
        open_one.score([1])
