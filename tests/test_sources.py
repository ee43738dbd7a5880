"""Pairs of folders of any architecture, checked before a weight is read."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

import specdec
from specdec.compare import check
from specdec.models import hardware, sources
from specdec.models.hf import HFModel
from specdec.models.llama import Llama
from specdec.models.pairs import load_pair, needed
from specdec.models.plan import loader
from specdec.models.vocabulary import Fitted
from tests.tiny import build, one_thread, save_tokenizer
from tests.zoo import KNOWN, V, saved

pytestmark = pytest.mark.long

EXACT = {"dtype": "fp32", "device": "cpu"}
SHORT = {"chat": False, "max_new_tokens": 20, "tops": 0}


@pytest.fixture(autouse=True)
def threads() -> Iterator[None]:
    """One."""
    with one_thread():
        yield


@pytest.fixture
def folder(tmp_path: Path) -> Callable[..., Path]:
    """A small checkpoint with a tokenizer of V words: folder("gpt2", n_positions=20)."""

    return lambda kind, place="", **how: saved(
        tmp_path / (place or kind), kind, seed=len(place), **how
    )


def change(folder: Path, **config: Any) -> None:
    file = folder / "config.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | config))


def written(pair: Any, **options: Any) -> tuple[Any, Any]:
    """A speculative run and plain decoding of the same prompt."""
    fast = specdec.generate(pair, "w5 w41 w7 w88", **SHORT | {"k": 3} | options)
    return fast, specdec.plain(pair, "w5 w41 w7 w88", **SHORT)


# ---- which forward pass ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "changed", "expected"),
    [
        ("llama", {}, Llama),
        ("qwen2", {}, Llama),
        ("qwen3", {}, Llama),
        ("llama", {"hidden_act": "gelu"}, HFModel),
        ("mistral", {"sliding_window": None}, Llama),
        ("mistral", {}, HFModel),
        ("gpt2", {}, HFModel),
        ("gemma3", {}, HFModel),
        ("mamba2", {}, HFModel),
    ],
)
def test_the_fast_pass_serves_where_it_is_the_checkpoints(
    kind: str, changed: dict, expected: type
) -> None:
    config = KNOWN[kind]()
    config.update(changed)
    assert loader(config) is expected


@pytest.mark.parametrize(
    ("target", "draft"), [("gpt2", "llama"), ("llama", "opt"), ("gemma2", "gpt2")]
)
@pytest.mark.filterwarnings("ignore:This architecture cannot run every pass")
def test_two_architectures_make_a_pair(target: str, draft: str, folder: Callable) -> None:
    pair = load_pair(f"{folder(target)}+{folder(draft)}", **EXACT)
    assert (pair.target.name, pair.draft.name) == (target, draft)
    assert "from local folders" in pair.description
    fast, slow = written(pair)
    assert fast.token_ids == slow.token_ids
    assert len(slow.token_ids) == 20
    assert (fast.source.target, fast.source.drafter) == (target, draft)
    assert fast.source.memory.target_weights == pair.target.parameters_bytes
    pair.close()
    with pytest.raises(ValueError, match="closed"):
        pair.target.scorer().score([1])


def test_a_windowed_target_says_that_its_shape_cannot_be_fixed(folder: Callable) -> None:
    name = f"{folder('gemma2')}+{folder('gpt2')}"
    with pytest.warns(RuntimeWarning, match="cannot run every pass at one fixed shape"):
        pair = load_pair(name, **EXACT)
    assert not pair.rows_are_exact
    with pytest.raises(ValueError, match="one fixed shape"):
        specdec.generate(pair, "w5", k=3, rows=8)


@pytest.mark.parametrize(("target", "fixes"), [("gemma2", False), ("gpt2", True)])
@pytest.mark.filterwarnings("ignore:This architecture cannot run every pass")
def test_texts_that_part_are_compared_at_one_shape_where_the_target_can(
    target: str, fixes: bool, folder: Callable
) -> None:
    pair = load_pair(f"{folder(target)}+{folder('opt')}", **EXACT)
    run, other = (specdec.generate(pair, "w5", **SHORT, temperature=t) for t in (0.0, 2.0))
    found = check(pair, "w5", run, other)
    assert not found.natural.equal
    assert found.tie.gap > 0
    assert (found.fixed is not None) == fixes
    assert not fixes or found.fixed.equal


# ---- padded tables, contexts -----------------------------------------------------------------


@pytest.mark.parametrize(("rows", "draft_rows"), [(V + 7, V + 3), (V + 3, V + 7), (V, V + 7)])
@pytest.mark.parametrize("draft", ["llama", "gpt2"])
def test_tables_that_are_padded_differently_make_a_pair(
    draft: str, rows: int, draft_rows: int, folder: Callable
) -> None:
    target = folder("llama", "target", vocab_size=rows)
    small = folder(draft, "small", vocab_size=draft_rows)
    pair = load_pair(f"{target}+{small}", **EXACT)
    assert (pair.target.vocab_size, pair.draft.vocab_size) == (rows, rows)
    assert isinstance(pair.draft, Fitted)
    fast, slow = written(pair)
    assert fast.token_ids == slow.token_ids
    sampled = specdec.generate(pair, [1, 2, rows - 1], **SHORT, k=3, temperature=1.0, seed=1)
    assert {x.id < min(rows, draft_rows) for r in sampled.rounds for x in r.drafted} == {True}
    assert pair.texts.of([1, V + 2], 0)[0] == ["w1", ""]  # an id without a token has no text
    law = {"repetition_penalty": 1.4, "logit_bias": {rows - 1: 4.0, 3: -2.0}}
    fast, _ = written(pair, **law)
    assert fast.token_ids == specdec.plain(pair, "w5 w41 w7 w88", **SHORT, **law).token_ids


def test_a_drafter_whose_context_ends_falls_silent_and_the_text_goes_on(folder: Callable) -> None:
    pair = load_pair(f"{folder('llama')}+{folder('gpt2', n_positions=14)}", **EXACT)
    fast, slow = written(pair)
    assert fast.token_ids == slow.token_ids
    silent = [r for r in fast.rounds if r.start > 14]
    assert silent and all((r.k, r.drafted, len(r.written)) == (3, (), 1) for r in silent)
    assert any(r.drafted for r in fast.rounds)
    assert max(r.lengths.drafter[1] for r in fast.rounds) <= 14


# ---- checked before any weight is read -------------------------------------------------------


def without_weights(*folders: Path) -> str:
    """The pair's name, once no weight can be read any more."""
    for path in folders:
        (path / "model.safetensors").unlink()
    return "+".join(map(str, folders))


def test_different_tokenizers_are_refused_before_any_weight_is_read(folder: Callable) -> None:
    target, draft = folder("llama"), folder("gpt2")
    save_tokenizer(draft, first="other")
    name = without_weights(target, draft)
    with pytest.raises(ValueError, match="id 0 is 'w0' to the target, 'other' to the drafter"):
        load_pair(name)


def test_tokenizers_of_different_size_are_refused_before_any_weight_is_read(
    folder: Callable,
) -> None:
    name = without_weights(folder("llama"), folder("gpt2", words=V - 20))
    with pytest.raises(ValueError, match=r"has 97 tokens, the drafter's 77.*id 77 is 'w77' to"):
        load_pair(name)


def test_a_drafter_without_a_tokenizer_must_have_the_targets_size(folder: Callable) -> None:
    target, draft = folder("llama"), folder("gpt2", vocab_size=V + 3)
    for file in draft.glob("tokenizer*"):
        file.unlink()
    with pytest.raises(ValueError, match="no tokenizer, and 100 tokens where the target has 97"):
        load_pair(without_weights(target, draft))


@pytest.mark.parametrize(
    ("config", "words"),
    [
        ({"model_type": "mamba"}, "keeps a running state"),
        ({"model_type": "t5"}, "no causal language model"),
        ({"model_type": "nobody"}, "config of .* cannot be read"),
        ({"quantization_config": {"quant_method": "gptq"}}, "quantised"),
    ],
)
def test_an_architecture_that_cannot_serve_is_refused_before_any_weight_is_read(
    config: dict, words: str, folder: Callable
) -> None:
    target, draft = folder("llama"), folder("gpt2")
    change(draft, **config)
    with pytest.raises(ValueError, match=words):
        load_pair(without_weights(target, draft))


def test_no_code_of_a_folder_is_run(folder: Callable, tmp_path: Path) -> None:
    target, draft = folder("llama"), folder("gpt2")
    marker = tmp_path / "was run"
    (draft / "evil.py").write_text(f"open({str(marker)!r}, 'w').close()\n")
    change(draft, model_type="evil", auto_map={"AutoConfig": "evil.EvilConfig"})
    with pytest.raises(ValueError, match="cannot be read"):
        load_pair(f"{target}+{draft}")
    assert not marker.exists()


# ---- memory ----------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["llama", "gpt2"])
def test_the_memory_a_pair_needs_is_told_from_headers(kind: str, folder: Callable) -> None:
    name = f"{folder(kind, 'target', tie_word_embeddings=False)}+{folder('opt')}"
    numbers = needed(name, **EXACT) // 4
    assert needed(name, dtype="bf16", device="cpu") == 2 * numbers
    pair = load_pair(name, **EXACT)
    assert 4 * numbers == pair.memory.target_weights + pair.memory.drafter_weights


def test_a_tied_head_is_counted_twice_where_it_is_packed(folder: Callable) -> None:
    tied = folder("qwen2", "tied", tie_word_embeddings=True)
    own = sum(x.numel() for x in build(KNOWN["qwen2"]()).parameters()) - V * 32
    packed = V * 32 * specdec.models.parts.packing_works(torch.float32)
    assert sources.needed(str(tied), torch.float32, torch.device("cpu")) == 4 * (own + packed)


def test_the_default_pair_tells_its_memory_fetched_or_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SPECDEC_HOME", str(tmp_path))
    low, high = needed(dtype="bf16", device="cpu"), needed(**EXACT)
    assert 2 * low == high
    assert 134_515_008 * 2 < low < 170_000_000 * 2


def test_more_than_is_free_is_refused_before_any_weight_is_read(
    folder: Callable, monkeypatch: pytest.MonkeyPatch
) -> None:
    target, draft = folder("llama"), folder("gpt2")
    for path in (target, draft):
        file = path / "model.safetensors"
        data = file.read_bytes()
        file.write_bytes(data[: 8 + int.from_bytes(data[:8], "little")])  # the header alone
    name = f"{target}+{draft}"
    monkeypatch.setattr(sources, "free_bytes", lambda device: needed(name, **EXACT) - 1)
    with pytest.raises(ValueError, match=r"weights of .* need 0.00 GB of memory; 0.00 GB are free"):
        load_pair(name, **EXACT)


def test_memory_is_said_before_loading(folder: Callable) -> None:
    said = []
    load_pair(
        f"{folder('llama')}+{folder('gpt2')}",
        **EXACT,
        progress=lambda fraction, words: said.append(words),
    )
    assert "GB of memory" in said[0] and "GB are free" in said[0]


def test_a_damaged_file_is_named(folder: Callable) -> None:
    target = folder("llama")
    (target / "model.safetensors").write_bytes(b"x" * 100)
    with pytest.raises(ValueError, match=r"model.safetensors is no safetensors file"):
        load_pair(f"{target}+{folder('gpt2')}")


def test_free_memory_is_the_smaller_of_the_machines_and_the_containers(tmp_path: Path) -> None:
    import psutil

    free = hardware.free_bytes(torch.device("cpu"))
    assert 0 <= free <= psutil.virtual_memory().total
    files = {"max": "1000", "current": "700", "stat": "anon 600\ninactive_file 100"}
    for name, text in files.items():
        (tmp_path / f"memory.{name}").write_text(text + "\n")
    assert hardware._container_bytes(tmp_path) == 400
    (tmp_path / "memory.max").write_text("max\n")
    assert hardware._container_bytes(tmp_path) is None
    assert hardware._container_bytes(tmp_path / "nowhere") is None
