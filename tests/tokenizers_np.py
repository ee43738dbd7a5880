"""Tokenizers over bytes, called like those of transformers."""

from __future__ import annotations

from collections.abc import Sequence

PIECES = ("the", " kiln", " held", " its", " heat", " sky", " is", "ab", "ba", " a", "xab", "abc")
EMOJI, CJK, ACCENT = "😀", "字", "é"
PARTS = (EMOJI.encode()[:2], EMOJI.encode()[2:], CJK.encode()[:2], b" " + EMOJI.encode()[:3])


class ByteTokenizer:
    """Byte-level, like GPT-2's: every byte is a token, some strings too, and parts of characters.

    Called like a tokenizer of transformers. Ids: 0 <bos>, 1 <eos>, then the pieces.
    """

    bos_token_id, eos_token_id, chat_template = 0, 1, None
    parts = PARTS

    def __init__(self, adds_bos: bool = False) -> None:
        self.adds_bos = adds_bos
        self.pieces = [b"<bos>", b"<eos>", *(bytes([b]) for b in range(256))]
        self.pieces += [*(piece.encode() for piece in PIECES), *self.parts]
        self.ids = {piece: i for i, piece in enumerate(self.pieces) if i > 1}
        self.longest = max(map(len, self.ids))

    def __len__(self) -> int:
        return len(self.pieces)

    def __call__(self, text: str) -> dict[str, list[int]]:
        return {"input_ids": [self.bos_token_id] * self.adds_bos + self.encode(text)}

    def encode(self, text: str, add_special_tokens: bool = False) -> list[int]:
        """Longest match first."""
        assert not add_special_tokens, "the engine asks for the special tokens by calling"
        data, ids = text.encode(), []
        while data:
            n = next(n for n in range(self.longest, 0, -1) if data[:n] in self.ids)
            ids.append(self.ids[data[:n]])
            data = data[n:]
        return ids

    def decode(
        self,
        ids: Sequence[int],
        skip_special_tokens: bool = False,
        clean_up_tokenization_spaces: bool = False,
    ) -> str:
        """Bytes that are no character become U+FFFD."""
        kept = [i for i in ids if not (skip_special_tokens and i < 2)]
        return b"".join(self.pieces[i] for i in kept).decode("utf-8", errors="replace")

    def bytes_of(self, text: str) -> list[int]:
        """The text one byte a token: every other character in as many tokens as it has bytes."""
        return [self.ids[bytes([b])] for b in text.encode()]


class FallbackTokenizer(ByteTokenizer):
    """SentencePiece-like: a run of byte tokens is text only if the whole run is UTF-8, and the
    first word of a text loses its space. ASCII is never written in bytes."""

    parts = ()

    def decode(
        self,
        ids: Sequence[int],
        skip_special_tokens: bool = False,
        clean_up_tokenization_spaces: bool = False,
    ) -> str:
        """Every byte of a run that is not UTF-8 becomes U+FFFD."""
        text, run = "", b""
        for i in [*ids, None]:
            piece = b"" if i is None else self.pieces[i]
            if len(piece) == 1 and piece[0] >= 128:
                run += piece
                continue
            try:
                text += run.decode()
            except UnicodeDecodeError:
                text += "\ufffd" * len(run)
            run = b""
            text += piece.decode()
        return text.removeprefix(" ")


class ChatTokenizer(ByteTokenizer):
    """One with a template: <bos>, the message, a line break."""

    chat_template = "{{ messages }}"

    def apply_chat_template(self, messages, add_generation_prompt: bool, return_dict: bool):
        assert add_generation_prompt and return_dict
        [message] = messages
        assert message["role"] == "user"
        return {"input_ids": [self.bos_token_id, *self.encode(message["content"] + "\n")]}
