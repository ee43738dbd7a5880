"""Texts of tokens: joined they are the decoded text, whatever bytes each token carries."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from specdec import tree, tree_rounds
from specdec.trace import Round, Token, Top

ANCHOR = 4  # tokens decoded before the ones in question: some tokenizers drop a leading space
UNFINISHED = "\ufffd"  # what a decoder writes for bytes that are no character yet


class Texts:
    """Token texts by any tokenizer with `decode(ids)`."""

    def __init__(self, tokenizer) -> None:
        self._tokenizer, self._pieces = tokenizer, {}
        self._anchor = list(tokenizer.encode("a", add_special_tokens=False))[-1:]

    def decode(self, ids: Sequence[int]) -> str:
        """The text of a sequence, special tokens as they are written."""
        return self._tokenizer.decode(
            list(ids), skip_special_tokens=False, clean_up_tokenization_spaces=False
        )

    def of(self, ids: Sequence[int], start: int, *, final: bool = True) -> tuple[list[str], int]:
        """Texts of ids[start:], and the index up to which they are settled.

        A character's text stands on its first token, "" on its others. One still unfinished at
        the end has no text yet, unless `final`.
        """
        texts, at, half = [""] * (len(ids) - start), start, ""
        for end in range(start + 1, len(ids) + 1):
            text = self._between(ids, at, end)
            if text.endswith(UNFINISHED) and not (final and end == len(ids)):
                half = text
                continue
            if half and text.startswith(half):  # no character came of it: the rest is another
                texts[end - 1 - start] = text[len(half) :]
                text = half
            texts[at - start] = text
            at, half = end, ""
        return texts, at

    def piece(self, token: int) -> str:
        """The text of one id by itself, for lists of alternatives."""
        if token not in self._pieces:
            self._pieces[token] = self._between([*self._anchor, token], len(self._anchor), None)
        return self._pieces[token]

    def _between(self, ids: Sequence[int], at: int, end: int | None) -> str:
        first = max(0, at - ANCHOR)
        before = self.decode(ids[first:at])
        while first > max(0, at - 2 * ANCHOR) and before.startswith(UNFINISHED):
            first -= 1  # it was inside a character
            before = self.decode(ids[first:at])
        return self.decode(ids[first:end])[len(before) :]


class Typist:
    """Gives texts to the rounds of one run as they come, and to the whole run at its end."""

    def __init__(self, texts: Texts, prompt_ids: Sequence[int]) -> None:
        self.texts = texts
        self.prompt = tuple(map(Token, prompt_ids, texts.of(prompt_ids, 0)[0]))
        self._ids, self._settled = list(prompt_ids), len(prompt_ids)

    def type(self, r: Round) -> Round:
        """A round for a stream: a character that ends in it stands on its first token *here*."""
        self._ids += [token.id for token in r.written]
        texts, settled = self.texts.of(self._ids, self._settled, final=r.stop_reason is not None)
        waiting = r.start - self._settled  # tokens of earlier rounds whose character was open
        here = texts[waiting:]
        here[0] = "".join(texts[:waiting]) + here[0]
        self._settled = settled
        return self._dress(r, self._ids, here)

    def retype(self, rounds: Sequence[Round], *, final: bool) -> tuple[Round, ...]:
        """All rounds so far, every character on its first token, in whichever round that is."""
        first = len(self.prompt)
        ids = [t.id for t in self.prompt] + [t.id for r in rounds for t in r.written]
        texts, _ = self.texts.of(ids, first, final=final)
        return tuple(
            self._dress(r, ids, texts[r.start - first : r.start - first + len(r.written)])
            for r in rounds
        )

    def _dress(self, r: Round, ids: Sequence[int], written: Sequence[str]) -> Round:
        return dress(r, self._drafted(r, ids[: r.start]), written, self.texts.piece)

    def _drafted(self, r: Round, before: Sequence[int]) -> list[str]:
        """Texts of the drafted tokens; in a tree each as the last of its own path."""
        drafted, parents = [t.id for t in r.drafted], tree_rounds.parents(r)
        if not tree_rounds.branches(r):
            return self.texts.of([*before, *drafted], r.start)[0]
        paths = ([drafted[j] for j in tree.path(parents, i)] for i in range(len(drafted)))
        return [self.texts.of([*before, *path], r.start)[0][-1] for path in paths]


def dress(
    r: Round, drafted: Sequence[str], written: Sequence[str], piece: Callable[[int], str]
) -> Round:
    """The round with these texts on its tokens, and `piece(id)` in the heads of its laws."""

    def head(top: Top | None) -> Top | None:
        return top and Top(tuple((i, piece(i), p) for i, _, p in top.entries), top.rest)

    return replace(
        r,
        drafted=tuple(
            replace(
                token,
                text=text,
                p_top=head(token.p_top),
                q_top=head(token.q_top),
                residual_top=head(token.residual_top),
                mended=token.mended and replace(token.mended, p_top=head(token.mended.p_top)),
            )
            for token, text in zip(r.drafted, drafted)
        ),
        written=tuple(
            replace(token, text=text, p_top=head(token.p_top))
            for token, text in zip(r.written, written)
        ),
    )
