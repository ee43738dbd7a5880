"""Texts that a target wrote, with the heads of its laws: .npz files of many texts each."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from specdec.distill.files import whole

TOPS = 8  # ids kept of each law


@dataclass(frozen=True, eq=False)
class Text:
    """A prompt and what the target wrote after it; `top` and `p` are of its law at temperature 1.

    The law is the full softmax, in descending order, for every written token. A text that ended by
    itself ends with the id that ended it.
    """

    prompt: np.ndarray  # [m] ids
    written: np.ndarray  # [n] ids
    top: np.ndarray  # [n, 8] ids
    p: np.ndarray  # [n, 8] float16
    temperature: float  # that it was drawn at; 0: greedy
    file: str = ""  # where it was read from, and its place there
    row: int = 0

    @property
    def ids(self) -> np.ndarray:
        """Prompt and text [m + n]."""
        return np.concatenate([self.prompt, self.written]).astype(np.int64)

    def __len__(self) -> int:
        return len(self.prompt) + len(self.written)


def save(path: Path, texts: Sequence[Text], vocab_size: int) -> None:
    """Write these texts as one file.

    `pl`, `ol`: lengths of prompts and texts; `p`, `o`: their ids, one after another; `k`, `q`: ids
    and probabilities of the laws' heads; `t`: temperatures.
    """
    ids = np.uint16 if vocab_size <= 1 << 16 else np.uint32
    join = lambda parts, kind: np.concatenate([np.asarray(x).astype(kind) for x in parts])  # noqa: E731
    with whole(path) as making, making.open("wb") as opened:
        np.savez_compressed(
            opened,
            pl=np.array([len(x.prompt) for x in texts], np.uint32),
            ol=np.array([len(x.written) for x in texts], np.uint32),
            p=join([x.prompt for x in texts], ids),
            o=join([x.written for x in texts], ids),
            k=join([x.top for x in texts], ids),
            q=join([x.p for x in texts], np.float16),
            t=np.array([x.temperature for x in texts], np.float32),
        )


def read(folders: Iterable[Path]) -> list[Text]:
    """All texts of these folders, in the order of their files' names. ValueError if none."""
    folders = list(folders)
    files = [file for folder in folders for file in sorted(folder.glob("*.npz"))]
    texts = [text for file in files for text in read_file(file)]
    if not texts:
        where = ", ".join(map(str, folders))
        raise ValueError(f"There are no texts in {where}; `distill write` writes some.")
    if len({file.stem for file in files}) < len(files):
        raise ValueError("Two files of texts have the same name; give each its own.")
    return texts


def read_file(file: Path) -> list[Text]:
    """The texts of one file. ValueError in a sentence if it is damaged or another kind of file."""
    try:
        with np.load(file) as data:
            p, o, k, q, t = (data[name] for name in "pokqt")
            prompts, texts = (_places(data[name]) for name in ("pl", "ol"))
    except Exception as error:  # zipfile, numpy and the names each have their own
        raise ValueError(f"{file} is no file of texts, or is damaged: {error}") from error
    return [
        Text(p[a], o[b], k[b], q[b], float(t[i]), file.stem, i)
        for i, (a, b) in enumerate(zip(prompts, texts))
    ]


def count(file: Path) -> int:
    """Written tokens of a file, by its lengths alone."""
    with np.load(file) as data:
        return int(data["ol"].sum(dtype=np.int64))


def written_tokens(texts: Iterable[Text]) -> int:
    """Written tokens of these texts."""
    return sum(len(text.written) for text in texts)


def _places(lengths: np.ndarray) -> list[slice]:
    ends = lengths.astype(np.int64).cumsum()
    return [slice(int(end - n), int(end)) for end, n in zip(ends, lengths.astype(np.int64))]
