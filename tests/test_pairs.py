"""Pairs: the real default one (marked `model`), and pairs of local folders."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from transformers import AutoModelForCausalLM, LlamaConfig, LlamaForCausalLM

from specdec.models import pairs
from specdec.models.llama import Llama
from specdec.models.pairs import load_pair, small_model
from tests.tiny import SIZES, V, one_thread, save, save_tokenizer

pytestmark = pytest.mark.long

TEXTS = (
    "The sky is blue because of a process called Rayleigh scattering, in which sunlight meets",
    "def fibonacci(n):\n    a, b = 0, 1\n    while a < n:\n        print(a)\n",
    "Zwei Dinge erfüllen das Gemüt: 星空 and 🙂 — 3.14159 × 2",
)


@pytest.fixture
def threads() -> Iterator[None]:
    """One, where a test asks nothing about threads."""
    with one_thread():
        yield


def assert_same(ours: np.ndarray, theirs: np.ndarray) -> None:
    bound = 2e-5 * np.abs(theirs).max()
    assert np.abs(ours - theirs).max() <= bound
    first, second = np.sort(theirs)[:, -1], np.sort(theirs)[:, -2]
    clear = first - second > bound
    assert clear.mean() > 0.9
    assert (ours.argmax(1) == theirs.argmax(1))[clear].all()


@pytest.fixture(scope="module")
def exact(default_pair: Any) -> Any:
    """The default target and drafter in fp32."""
    return load_pair(dtype="fp32", device="cpu")


@pytest.fixture(scope="module")
def low(default_pair: Any) -> Any:
    """The default pair in bf16 on the CPU, whatever this machine would choose."""
    own = default_pair.target
    usual = own.dtype == torch.bfloat16 and own.device.type == "cpu"
    return default_pair if usual else load_pair(dtype="bf16", device="cpu")


@pytest.mark.model
def test_the_default_pair_says_what_it_is(default_pair: Any) -> None:
    pair = default_pair
    assert pair.name == "default"
    assert "4-bit" in pair.description
    assert "bf16" in pair.description
    assert pair.target.folder.is_dir()
    assert pair.target.vocab_size == pair.draft.vocab_size == 49152 == len(pair.tokenizer)
    assert pair.target.context == 8192
    assert pair.stop_ids == (2,)
    assert pair.texts.decode(pair.tokenizer("Hello world")["input_ids"]) == "Hello world"
    dtype, device, machine = pair.hardware
    assert (dtype, device) == (str(pair.target.dtype)[6:], str(pair.target.device))
    assert machine
    weights = 134_515_008  # SmolLM2-135M's
    assert pair.target.parameters_bytes == weights * pair.target.dtype.itemsize


@pytest.fixture(scope="module")
def theirs(exact: Any) -> Any:
    """transformers' model of the default target in fp32."""
    return AutoModelForCausalLM.from_pretrained(exact.target.folder, dtype=torch.float32)


@pytest.mark.model
@pytest.mark.usefixtures("threads")
@pytest.mark.parametrize("text", TEXTS, ids=["prose", "code", "bytes"])
def test_the_targets_logits_equal_transformers(text: str, exact: Any, theirs: Any) -> None:
    ids = exact.tokenizer(text)["input_ids"]
    with torch.inference_mode():
        want = theirs(torch.tensor([ids])).logits[0].numpy()
    scorer = exact.target.scorer()
    assert_same(scorer.score(ids), want)
    scorer.rollback(0)
    scorer.feed(ids[:4])
    steps = [scorer.score([i]) for i in ids[4:]]
    assert_same(np.concatenate(steps), want[4:])


@pytest.mark.model
@pytest.mark.usefixtures("threads")
def test_the_small_models_logits_equal_transformers(exact: Any) -> None:
    from safetensors.torch import load_file

    state = {k: v.float() for k, v in load_file(pairs.SMALL).items()}
    columns = state.pop("draft_ids").long().numpy()
    state["model.embed_tokens.weight"] = exact.target.embedding
    config = LlamaConfig(**exact.target.config.to_dict() | {"num_hidden_layers": 3})
    config.tie_word_embeddings = False
    theirs = LlamaForCausalLM(config).float()
    theirs.lm_head = torch.nn.Linear(576, len(columns), bias=False)
    theirs.load_state_dict(state)
    ids = exact.tokenizer(TEXTS[0])["input_ids"]
    with torch.inference_mode():
        want = theirs(torch.tensor([ids])).logits[0].numpy()
    scorer = exact.draft.scorer()
    assert scorer.token_ids.tolist() == sorted(columns.tolist())
    assert_same(scorer.score(ids), want[:, np.argsort(columns)])


@pytest.mark.model
def test_the_small_model_borrows_the_embedding_and_does_not_count_it(default_pair: Any) -> None:
    target, draft = default_pair.target, default_pair.draft
    assert draft.embedding is target.embedding
    rows = 8192 * 576
    layers = 3 * (576 * (576 + 2 * 192) + 576 * 576 + 3 * 576 * 1536 + 2 * 576)
    assert draft.parameters_bytes == (rows + layers + 576) * draft.dtype.itemsize
    assert len(draft.token_ids) == 8192
    assert (np.diff(draft.token_ids) > 0).all()
    assert draft.scorer().score([1, 2, 3]).shape == (3, 8192)


@pytest.mark.model
@pytest.mark.parametrize("rows", [4, 8])
def test_fixed_rows_are_exact_in_bf16(rows: int, low: Any) -> None:
    model = low.target
    assert model.rows_are_exact(rows)
    ids = low.tokenizer(TEXTS[0])["input_ids"]
    room = len(ids) + rows
    plain, grouped = model.scorer(rows, room), model.scorer(rows, room)
    for scorer in (plain, grouped):
        scorer.feed(ids[:6])
    want = np.concatenate([plain.score([i]) for i in ids[6:]])
    sizes = iter(np.random.default_rng(rows).integers(1, rows + 1, size=len(ids)).tolist())
    while (at := grouped.length) < len(ids):
        some = ids[at : at + next(sizes)]
        grouped.score([i + 1 for i in some])  # a draft that fails leaves no trace
        grouped.rollback(at)
        assert np.array_equal(grouped.score(some), want[at - 6 : at - 6 + len(some)])


@pytest.fixture
def folders(tmp_path: Path) -> tuple[Path, Path]:
    """A target and a shallower drafter, small, with one tokenizer."""
    target, draft = tmp_path / "target", tmp_path / "draft"
    save(LlamaConfig(**SIZES), target)
    save(LlamaConfig(**SIZES | {"num_hidden_layers": 1}), draft)
    for folder in (target, draft):
        save_tokenizer(folder)
    return target, draft


def change(folder: Path, name: str, **config: Any) -> None:
    file = folder / name
    file.write_text(json.dumps(json.loads(file.read_text()) | config))


def test_two_folders_make_a_pair(folders: tuple[Path, Path]) -> None:
    target, draft = folders
    change(target, "generation_config.json", eos_token_id=[5, 4])
    change(target, "config.json", eos_token_id=None)
    pair = load_pair(f"{target} + {draft}", dtype="fp32", device="cpu")
    assert (pair.target.name, pair.draft.name) == ("target", "draft")
    assert pair.stop_ids == (2, 4, 5)  # 2 is the tokenizer's
    assert pair.hardware[:2] == ("float32", "cpu")
    ids = pair.tokenizer("w3 w4 w5")["input_ids"]
    assert pair.target.scorer().score(ids).shape == (3, V)
    assert pair.draft.scorer().score(ids).shape == (3, V)


def test_a_pair_says_what_it_weighs(folders: tuple[Path, Path]) -> None:
    pair = load_pair("+".join(map(str, folders)), dtype="fp32", device="cpu")
    kept = [SIZES["num_hidden_layers"], 1]  # layers of the two
    heads, width = (
        SIZES["num_key_value_heads"],
        SIZES["hidden_size"] // SIZES["num_attention_heads"],
    )
    assert [pair.memory.target_token, pair.memory.drafter_token] == [
        layers * 2 * heads * width * 4 for layers in kept
    ]
    assert pair.memory.target_weights == pair.target.parameters_bytes
    assert pair.memory.drafter_weights == pair.draft.parameters_bytes


def test_the_fixed_shape_is_probed_at_load(
    folders: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch, recwarn: pytest.WarningsRecorder
) -> None:
    name, said = "+".join(map(str, folders)), []
    assert load_pair(
        name, device="cpu", progress=lambda _, words: said.append(words)
    ).rows_are_exact
    assert not recwarn.list and any("fixed shape" in words for words in said)
    monkeypatch.setattr(type(load_pair(name).target), "rows_are_exact", lambda self, rows: False)
    with pytest.warns(RuntimeWarning, match="depends on its place in it"):
        assert not load_pair(name, device="cpu").rows_are_exact


def test_a_drafter_without_a_tokenizer_uses_the_targets(folders: tuple[Path, Path]) -> None:
    target, draft = folders
    for file in draft.glob("tokenizer*"):
        file.unlink()
    assert load_pair(f"{target}+{draft}", device="cpu").draft.vocab_size == V


def test_a_target_without_a_tokenizer_is_refused(folders: tuple[Path, Path]) -> None:
    target, draft = folders
    for file in target.glob("tokenizer*"):
        file.unlink()
    with pytest.raises(ValueError, match="no tokenizer that can be read"):
        load_pair(f"{target}+{draft}")


@pytest.mark.parametrize("name", ["", "tiny", "a+b+c"])
def test_an_unknown_pair_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match=r"no pair .*'default', 'folder\+folder'"):
        load_pair(name)


def test_a_folder_that_is_no_checkpoint_is_named(folders: tuple[Path, Path]) -> None:
    with pytest.raises(ValueError, match=r"nowhere is no checkpoint folder"):
        load_pair(f"{folders[0]}+/nowhere")


def test_closing_a_pair_frees_both_models(folders: tuple[Path, Path]) -> None:
    pair = load_pair("+".join(map(str, folders)), device="cpu")
    scorer = pair.target.scorer()
    pair.close()
    with pytest.raises(ValueError, match="closed"):
        scorer.score([1])


def test_a_small_model_is_as_deep_as_its_file_says(
    folders: tuple[Path, Path], tmp_path: Path
) -> None:
    from safetensors.torch import save_file

    target = Llama.load(folders[0], dtype="fp32", device="cpu")
    theirs = AutoModelForCausalLM.from_pretrained(folders[0], dtype=torch.float32)
    state = {k: v.clone() for k, v in theirs.state_dict().items() if ".layers.2." not in k}
    del state["model.embed_tokens.weight"]
    some = torch.tensor([90, 5, 60], dtype=torch.int32)
    state |= {"lm_head.weight": state["lm_head.weight"][some], "draft_ids": some}
    save_file(state, tmp_path / "small.safetensors")
    small = small_model(target, tmp_path / "small.safetensors")
    assert len(small.layers) == 2
    assert len(target.layers) == target.config.num_hidden_layers == 3
    assert small.token_ids.tolist() == [5, 60, 90]
    theirs.model.layers = theirs.model.layers[:2]
    with torch.inference_mode():
        want = theirs(torch.tensor([[7, 8, 9]])).logits[0, :, [5, 60, 90]].numpy()
    assert_same(small.scorer().score([7, 8, 9]), want)
