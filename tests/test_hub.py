"""Pairs from the hub: its cache, a hub of our own to fetch from, and the list of what may come."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import specdec
from specdec.models import hub, pairs, sources
from specdec.models.pairs import load_pair, needed
from tests import hub_server
from tests.tiny import one_thread, save_tokenizer
from tests.zoo import V, saved

pytestmark = pytest.mark.long

EXACT = {"dtype": "fp32", "device": "cpu"}
TARGET, DRAFT = "HuggingFaceTB/SmolLM2-360M-Instruct", "HuggingFaceTB/SmolLM2-135M-Instruct"
SMOL = f"{TARGET}+{DRAFT}"


@pytest.fixture(autouse=True)
def threads() -> Iterator[None]:
    """One."""
    with one_thread():
        yield


@pytest.fixture
def folder(tmp_path: Path) -> Callable[..., Path]:
    """A small checkpoint with a tokenizer."""
    return lambda kind, place="": saved(tmp_path / (place or kind), kind, seed=len(place))


def assert_lossless(pair: object) -> None:
    options = {"chat": False, "max_new_tokens": 12, "tops": 0}
    fast = specdec.generate(pair, "w5 w41 w7 w88", k=3, **options)
    assert fast.token_ids == specdec.plain(pair, "w5 w41 w7 w88", **options).token_ids


@pytest.fixture
def offline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache of the hub, as with HF_HOME set and HF_HUB_OFFLINE=1."""
    from huggingface_hub import constants

    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    return tmp_path / "hub"


@pytest.fixture
def online(offline: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[hub_server.Hub]:
    """The same with a hub of this test's."""
    from huggingface_hub import constants

    with hub_server.serving() as server:
        monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
        monkeypatch.setattr(constants, "ENDPOINT", server.address)
        monkeypatch.setattr(
            constants,
            "HUGGINGFACE_CO_URL_TEMPLATE",
            server.address + "/{repo_id}/resolve/{revision}/{filename}",
        )
        yield server


def keep(cache: Path, name: str, folder: Path) -> Path:
    """Put a folder into the hub's cache under this name."""
    repo = cache / f"models--{name.replace('/', '--')}"
    shutil.copytree(folder, repo / "snapshots" / hub_server.COMMIT)
    (repo / "refs").mkdir()
    (repo / "refs" / "main").write_text(hub_server.COMMIT)
    return repo / "snapshots" / hub_server.COMMIT


def test_a_pair_in_the_hubs_cache_is_loaded_without_a_network(
    offline: Path, folder: Callable
) -> None:
    keep(offline, TARGET, folder("llama"))
    keep(offline, DRAFT, folder("gpt2"))
    said = []
    pair = load_pair(SMOL, **EXACT, progress=lambda _, words: said.append(words))
    assert (pair.name, pair.target.name, pair.draft.name) == (
        SMOL,
        "SmolLM2-360M-Instruct",
        "SmolLM2-135M-Instruct",
    )
    assert pair.description.endswith("from the Hugging Face hub")
    assert_lossless(pair)
    assert needed(SMOL, **EXACT) < 10**6  # by the files, not by the list
    assert not any(words.startswith("Fetching") for words in said)


def test_what_is_not_here_and_cannot_be_fetched_is_said(offline: Path, folder: Callable) -> None:
    keep(offline, DRAFT, folder("gpt2"))
    with pytest.raises(ValueError, match=f"{TARGET} is not here and could not be fetched"):
        load_pair(SMOL)
    small = needed(f"{folder('gpt2', 'again')}+{folder('gpt2', 'more')}", **EXACT) // 2
    assert needed(SMOL, **EXACT) == 4 * 361_821_120 + small


def test_a_snapshot_without_its_weights_is_not_taken_for_the_model(
    offline: Path, folder: Callable
) -> None:
    snapshot = keep(offline, TARGET, folder("llama"))
    keep(offline, DRAFT, folder("gpt2"))
    (snapshot / "model.safetensors").rename(snapshot / "pytorch_model.bin")
    with pytest.raises(ValueError, match=f"{TARGET} lacks safetensors files"):
        load_pair(SMOL, **EXACT)


def test_a_listed_pair_is_fetched_without_anything_that_could_run(
    online: hub_server.Hub, folder: Callable
) -> None:
    online.repos = {TARGET: folder("llama"), DRAFT: folder("gpt2")}
    for path in online.repos.values():
        (path / "modeling.py").write_text("raise SystemExit")
        (path / "pytorch_model.bin").write_bytes(b"pickled")
        (path / "onnx").mkdir()
        (path / "onnx" / "model.onnx").write_bytes(b"graph")
    said = []
    pair = load_pair(SMOL, **EXACT, progress=lambda _, words: said.append(words))
    assert_lossless(pair)
    endings = {Path(name).suffix for name in online.sent}
    assert endings == {".json", ".safetensors"}
    assert f"Fetching {TARGET}: 0.72 GB" in said
    first = [Path(name).suffix for name in online.sent].index(".safetensors")
    assert {Path(name).parent.name for name in online.sent[:first]} == {
        Path(TARGET).name,
        Path(DRAFT).name,
    }  # the settings of both before the weights of one
    online.repos = {}
    assert load_pair(SMOL, **EXACT).target.vocab_size == V  # from the cache


def test_tokenizers_are_compared_before_weights_are_fetched(
    online: hub_server.Hub, folder: Callable
) -> None:
    online.repos = {TARGET: folder("llama"), DRAFT: folder("gpt2")}
    save_tokenizer(online.repos[DRAFT], first="other")
    with pytest.raises(ValueError, match="tokenizers differ"):
        load_pair(SMOL, **EXACT)
    assert not any(name.endswith("safetensors") for name in online.sent)


def test_too_little_memory_is_said_before_weights_are_fetched(
    online: hub_server.Hub, folder: Callable, monkeypatch: pytest.MonkeyPatch
) -> None:
    online.repos = {TARGET: folder("llama"), DRAFT: folder("gpt2")}
    monkeypatch.setattr(sources, "free_bytes", lambda device: 10**9)
    with pytest.raises(ValueError, match=r"need 1.99 GB of memory; 1.00 GB are free"):
        load_pair(SMOL, **EXACT)
    assert not any(name.endswith("safetensors") for name in online.sent)


def test_a_licence_to_accept_is_said(online: hub_server.Hub, folder: Callable) -> None:
    online.repos = {TARGET: folder("llama"), DRAFT: folder("gpt2")}
    online.gated = {TARGET}
    with pytest.raises(ValueError, match=f"{TARGET} is given out after you accept its licence"):
        load_pair(SMOL)


@pytest.mark.parametrize(
    "name",
    [
        "Qwen/Qwen2.5-7B-Instruct+HuggingFaceTB/SmolLM2-135M-Instruct",
        "some/target+some/drafter",
        f"{DRAFT}+{TARGET}",
    ],
)
def test_a_pair_that_is_not_listed_needs_folders(name: str, offline: Path) -> None:
    for ask in (load_pair, needed):
        with pytest.raises(ValueError, match="not on the list .*Any other needs two local folders"):
            ask(name)


def test_one_from_the_hub_and_one_from_a_folder_are_refused(
    offline: Path, folder: Callable
) -> None:
    with pytest.raises(ValueError, match="Any other needs two local folders"):
        load_pair(f"{TARGET}+{folder('gpt2')}")


def test_a_folder_of_that_name_comes_before_the_hub(
    folder: Callable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, offline: Path
) -> None:
    shutil.copytree(folder("llama"), tmp_path / TARGET)
    shutil.copytree(folder("gpt2"), tmp_path / DRAFT)
    monkeypatch.chdir(tmp_path)
    assert "local folders" in load_pair(SMOL, **EXACT).description


def test_every_listed_model_has_its_size() -> None:
    for target, draft in hub.PAIRS:
        big, small = hub.CHECKPOINTS[target], hub.CHECKPOINTS[draft]
        assert big.parameters > 2 * small.parameters
        assert all(x.file_bytes >= 2 * x.parameters for x in (big, small))
    assert {name for pair in hub.PAIRS for name in pair} == set(hub.CHECKPOINTS)
    assert hub.CHECKPOINTS[pairs.BASE].parameters == 134_515_008
