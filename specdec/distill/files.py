"""Files that are there whole, or not at all."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

HEAD = 1 << 16  # bytes


@contextmanager
def whole(path: Path) -> Iterator[Path]:
    """A path to write to, which takes the name `path` on leaving; on an error nothing is left."""
    path.parent.mkdir(parents=True, exist_ok=True)
    making = path.with_name(f"{path.name}.making")
    try:
        yield making
        os.replace(making, path)
    finally:
        making.unlink(missing_ok=True)


def fingerprint(folder: Path) -> str:
    """Tells checkpoints apart: a hash of the config, and of size and head of each weights file."""
    digest = hashlib.sha256((folder / "config.json").read_bytes())
    for file in sorted(folder.glob("*.safetensors")):
        if file.name.startswith("model"):  # heads may lie beside the target's own
            digest.update(str(file.stat().st_size).encode())
            with file.open("rb") as opened:
                digest.update(opened.read(HEAD))
    return digest.hexdigest()[:16]


def sha256(path: Path) -> str:
    """The SHA-256 of a file."""
    with path.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()
