"""The same text under two real tokenizers: the default target's, and one trained here.

A drafter speaks in ids. Where the two vocabularies differ, an id is another word to the target.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import accumulate
from types import SimpleNamespace
from typing import Any

from specdec.drafters import ModelDrafter
from specdec.models import vocabulary
from specdec.presets import ASSETS
from specdec.text import UNFINISHED, Texts

FILE = ASSETS / "tokenizers" / "smollm2.json.gz"
LICENCE = ASSETS.parent / "LICENSE"
SIZE = 1024  # of the vocabulary trained here


class Tokens:
    """A tokenizer of the `tokenizers` package, called like those of transformers."""

    def __init__(self, own: Any, name: str) -> None:
        self.own, self.name = own, name
        self.texts = Texts(self)

    def __len__(self) -> int:
        return self.own.get_vocab_size()

    def encode(self, text: str, add_special_tokens: bool = False) -> list[int]:
        """Ids of a text."""
        return self.own.encode(text, add_special_tokens=add_special_tokens).ids

    def decode(self, ids: Sequence[int], skip_special_tokens: bool = False, **_: Any) -> str:
        """The text of ids; one that is no token is left out."""
        return self.own.decode(list(ids), skip_special_tokens=skip_special_tokens)

    def get_vocab(self) -> dict[str, int]:
        """Token → id."""
        return self.own.get_vocab()

    def get_added_vocab(self) -> dict[str, int]:
        """The tokens that are no text, such as <|im_end|>."""
        return {t.content: i for i, t in self.own.get_added_tokens_decoder().items()}


@cache
def target() -> Tokens:
    """The default target's tokenizer, from the small copy in assets/."""
    from tokenizers import Tokenizer

    text = gzip.decompress(FILE.read_bytes()).decode("utf-8")
    return Tokens(Tokenizer.from_str(unpacked(text)), "SmolLM2's")


@cache
def trained() -> Tokens:
    """One trained now, on the eleven kilobytes of this project's licence."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

    own = Tokenizer(models.BPE())
    own.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    own.decoder = decoders.ByteLevel()
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    trainer = trainers.BpeTrainer(
        vocab_size=SIZE,
        special_tokens=["<|endoftext|>"],
        initial_alphabet=alphabet,
        show_progress=False,
    )
    own.train_from_iterator([LICENCE.read_text(encoding="utf-8")], trainer)
    return Tokens(own, "the licence's")


def packed(text: str) -> str:
    """A byte-pair tokenizer.json in an eighth of its size: what merging makes is left out.

    ValueError where its later tokens are not just its merges, in order.
    """
    whole = json.loads(text)
    model = whole["model"]
    words = sorted(model["vocab"], key=model["vocab"].get)
    first = len(words) - len(model["merges"])
    merges = [m.split(" ") if isinstance(m, str) else m for m in model["merges"]]
    if words[first:] != [a + b for a, b in merges]:
        raise ValueError("The vocabulary is not its first tokens and its merges, in order.")
    small = model | {"vocab": words[:first], "merges": [f"{a} {b}" for a, b in merges]}
    return json.dumps(whole | {"model": small}, ensure_ascii=False, separators=(",", ":"))


def unpacked(text: str) -> str:
    """The tokenizer.json of what `packed` made."""
    whole = json.loads(text)
    model = whole["model"]
    model["merges"] = [m.split(" ") for m in model["merges"]]
    words = model["vocab"] + ["".join(m) for m in model["merges"]]
    model["vocab"] = {word: i for i, word in enumerate(words)}
    return json.dumps(whole)


@dataclass(frozen=True)
class Split:
    """A text cut into tokens; a character's text stands on its first token."""

    ids: tuple[int, ...]
    texts: tuple[str, ...]

    @property
    def ends(self) -> frozenset[int]:
        """Where tokens end, counted in characters."""
        return frozenset(accumulate(map(len, self.texts)))


def split(tokens: Tokens, text: str) -> Split:
    """The text under a tokenizer."""
    ids = tokens.encode(text)
    return Split(tuple(ids), tuple(tokens.texts.of(ids, 0)[0]))


def spelled(text: str, tokenizers: Sequence[Tokens]) -> str:
    """The text without the characters that one of the tokenizers has no tokens for.

    SmolLM2's lacks a few bytes: it drops them without a word.
    """

    def knows(letter: str) -> bool:
        return all(t.decode(t.encode(letter)) == letter for t in tokenizers)

    return text if knows(text) else "".join(letter for letter in text if knows(letter))


def shared(one: Split, other: Split) -> tuple[int, int]:
    """Ends of tokens that both have, and that at least one has; the text's own end apart."""
    last = max(one.ends | other.ends, default=0)
    return len(one.ends & other.ends - {last}), len((one.ends | other.ends) - {last})


def aligned(text: str, splits: Sequence[Split], width: int) -> list[list[str]]:
    """Blocks of lines, one line for each split, whose characters stand below each other.

    ║ ends a token in all of them, │ in this one; a blank fills the others' columns.
    """
    cells, everywhere = [], frozenset.intersection(*(s.ends for s in splits))
    for i, letter in enumerate(text, 1):
        letter = {"\n": "⏎", "\t": "⇥", "\r": "⏎"}.get(letter, letter)
        some = any(i in s.ends for s in splits)
        bar = "║" if i in everywhere else "│"
        cells.append([letter + (bar if i in s.ends else " ") * some for s in splits])
    blocks, begin, size = [], 0, 0
    for i, cell in enumerate(cells):
        size += len(cell[0])
        if size >= width or i + 1 == len(cells):
            blocks.append(["".join(column) for column in zip(*cells[begin : i + 1])])
            begin, size = i + 1, 0
    return blocks


def garbled(ids: Sequence[int], reader: Tokens) -> tuple[str, int]:
    """What these ids say to another tokenizer, and how many of them are no token to it."""
    known = [i for i in ids if i < len(reader)]
    return reader.decode(known), len(ids) - len(known)


def verdict(ours: Any, theirs: Any) -> str:
    """What the check of a pair says about two tokenizers; "" if they make a pair."""
    try:
        vocabulary.compare(ours, theirs)
    except ValueError as error:
        return str(error)
    return ""


def verdict_by_size(ours: int, theirs: int) -> str:
    """What a drafter says whose logits have another number of columns; "" if it is the same."""
    try:
        ModelDrafter(SimpleNamespace(vocab_size=theirs, length=0), ours)
    except ValueError as error:
        return str(error)
    return ""


class Swapped:
    """A tokenizer with two ids exchanged: as large as before, and another one."""

    def __init__(self, own: Tokens, a: int, b: int) -> None:
        self.own, self.other = own, {a: b, b: a}

    def get_vocab(self) -> dict[str, int]:
        """Token → id."""
        return {token: self.other.get(i, i) for token, i in self.own.get_vocab().items()}

    def get_added_vocab(self) -> dict[str, int]:
        """The tokens that are no text."""
        return self.own.get_added_vocab()


@dataclass(frozen=True)
class Bridge:
    """A foreign drafter kept up to date with a text that grows by the target's tokens."""

    tokens: int  # of the target
    own: int  # of the drafter, for the same text
    fed: int  # that its cache had to read, one target token after another
    dropped: int  # of these, taken back because the next characters changed the split


def bridge(text: str, ours: Tokens, theirs: Tokens) -> Bridge:
    """Re-encode after every token of ours, as a bridge between two vocabularies has to."""
    ids, cached, fed, dropped = ours.encode(text), [], 0, 0
    for end in range(1, len(ids) + 1):
        so_far = ours.decode(ids[:end])
        if so_far.endswith(UNFINISHED):
            continue  # half a character is no text that could be encoded
        now = theirs.encode(so_far)
        pairs = enumerate(zip(cached, now))
        same = next((i for i, (a, b) in pairs if a != b), min(len(cached), len(now)))
        fed, dropped = fed + len(now) - same, dropped + len(cached) - same
        cached = now
    return Bridge(len(ids), len(cached), fed, dropped)
