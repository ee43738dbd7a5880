"""A pair by its name "http://host:port+drafter": a server, and small checkpoints here."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import specdec
from specdec.models import sources
from specdec.models.pairs import load_pair, needed
from specdec.models.vocabulary import read_tokenizer
from specdec.models.wire import RemoteError
from specdec.trace import Trace
from tests.completions_server import FORMS, Served, log_probs, serving
from tests.pairs_np import Model, noise
from tests.tiny import one_thread, save_tokenizer
from tests.zoo import V, saved

pytestmark = pytest.mark.long

EXACT = {"dtype": "fp32", "device": "cpu"}
TARGET = Model(V, lambda state, n: log_probs(9 * noise(2, state, V)), name="words", context=96)


@pytest.fixture(autouse=True)
def threads() -> Iterator[None]:
    """One."""
    with one_thread():
        yield


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A small model with its tokenizer."""
    return saved(tmp_path / "small", "llama")


@pytest.fixture(params=FORMS)
def served(request: pytest.FixtureRequest, folder: Path) -> Iterator[Served]:
    """A server with the same tokenizer."""
    with serving(TARGET, read_tokenizer(folder), request.param) as server:
        yield server


def written(pair: object, **options: object) -> Trace:
    asked = {"chat": False, "max_new_tokens": 16} | options
    return specdec.generate(pair, "w5 w41 w7 w88", **asked)


def plain() -> tuple[int, ...]:
    """Greedy decoding with no engine."""
    ids = [5, 41, 7, 88]
    while len(ids) < 20 and ids[-1] != 2:
        ids.append(int(TARGET.after(ids).argmax()))
    return tuple(ids[4:])


def test_a_folder_drafts_for_a_server(served: Served, folder: Path) -> None:
    pair = load_pair(f"{served.address}+{folder}", **EXACT)
    trace = written(pair, k=3)
    assert trace.token_ids == plain() and trace.draft_passes > 0
    place = served.address.removeprefix("http://")
    assert pair.description == f"toy at {place} with small"
    assert (trace.source.target, trace.source.machine) == ("toy", place)
    assert trace.source.drafter == "small"


def test_a_tokenizer_alone_is_enough_for_lookup(served: Served, folder: Path) -> None:
    (folder / "model.safetensors").unlink()
    pair = load_pair(f"{served.address} + {folder}", **EXACT)
    assert written(pair, drafter="lookup").token_ids == plain()
    with pytest.raises(ValueError, match="draft with 'lookup'"):
        written(pair)


def test_a_law_may_be_cut_when_it_is_said(served: Served, folder: Path) -> None:
    pair = load_pair(f"{served.address}+{folder}", **EXACT, partial=15)
    assert 0 < written(pair, temperature=1.0).source.missing < 1
    with pytest.raises(ValueError, match="partial is for a target on a server"):
        load_pair(f"{folder}+{folder}", **EXACT, partial=15)


def test_another_tokenizer_is_refused(served: Served, folder: Path, tmp_path: Path) -> None:
    other = saved(tmp_path / "other", "llama")
    save_tokenizer(other, V + 5)
    pattern = f"knows {V} tokens, and the tokenizer here {V + 5}"
    if served.form != "llama.cpp":  # which alone tells how many it knows
        pattern = "another tokenizer|no token here"
        save_tokenizer(other, first="A")
    with pytest.raises(RemoteError, match=pattern):
        load_pair(f"{served.address}+{other}", **EXACT)


def test_memory_is_told_before_the_drafter_is_loaded(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving(TARGET, read_tokenizer(folder)) as server:
        name = f"{server.address}+{folder}"
        assert 0 < needed(name, **EXACT) == needed(f"{folder}+{folder}", **EXACT) // 2
        monkeypatch.setattr(sources, "free_bytes", lambda device: 100)
        with pytest.raises(ValueError, match=r"0\.00 GB are free"):
            load_pair(name, **EXACT)
    assert server.asked == []
