"""A loop that looks for the end of the text only at the last token of a round, beside the engine.

Both get the same target and drafter. The target says again what it wrote when it was recorded;
drafting, testing and cutting are the engine's own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Any

import numpy as np

from specdec.decode import speculate
from specdec.drafters import Oracle, PromptLookup
from specdec.law import Sampling
from specdec.text import dress
from specdec.trace import Round, Seconds, Settings, Trace

DRAFTERS = ("lookup", "oracle")
Over = Callable[[Sequence[int]], bool]  # written ids → whether the loop ends there


class Again:
    """A scorer that says a known text again, whatever was drafted behind it.

    Its rows after a wrong token are not what the model would say there; no rule looks at those.
    """

    def __init__(self, text: Sequence[int], vocab_size: int) -> None:
        self.text, self.vocab_size, self.length = list(text), vocab_size, 0

    def score(self, tokens: Sequence[int], parents: None = None) -> np.ndarray:
        """Logits [n, V]: 0 at the text's next token, -inf elsewhere; at its end its last token."""
        rows = np.full((len(tokens), self.vocab_size), -np.inf)
        for row in rows:
            self.length += 1
            row[self.text[min(self.length, len(self.text) - 1)]] = 0.0
        return rows

    def rollback(self, length: int) -> None:
        """Forget all but the first tokens."""
        self.length = length


@dataclass(frozen=True)
class Ends:
    """What ends a text: a token, a string, a number of tokens (always)."""

    n: int
    token: int | None = None
    string: str = ""


@dataclass(frozen=True)
class Case:
    """The engine's run and the naive loop's, and where in the text the end really is."""

    ours: Trace
    naive: Trace

    @property
    def surplus(self) -> tuple[Any, ...]:
        """Tokens that the naive loop wrote past the end."""
        return self.naive.written[len(self.ours.written) :]

    @property
    def before(self) -> Trace:
        """The engine's rounds with the last one as it was before the cut: for its counts only."""
        *first, last = self.ours.rounds
        return replace(self.ours, rounds=(*first, self.naive.rounds[last.index]))


def naive(rounds: Iterable[Round], over: Over) -> Iterator[Round]:
    """Rounds until one *ends* with the end: what a round wrote before its last token goes unseen.

    This is the fault that the lab shows; the engine looks at every token of a round.
    """
    written: list[int] = []
    for r in rounds:
        yield r
        written += [token.id for token in r.written]
        if over(written):
            return


def run(plain: Trace, ends: Ends, *, k: int, drafter: str = "lookup") -> Case:
    """Both loops over a recorded greedy text that goes on past its end.

    ValueError for another drafter than "lookup" and "oracle", for k < 1, or where the recording
    has fewer than n + k tokens: then nobody knows how the text goes on.
    """
    if drafter not in DRAFTERS:
        raise ValueError(f"There is no drafter {drafter!r} here; there are {', '.join(DRAFTERS)}.")
    if not 1 <= ends.n <= len(plain.token_ids) - k or k < 1:
        raise ValueError(f"n + k must be 2 to {len(plain.token_ids)}: it is {ends.n} + {k}.")
    told = _Told(plain)
    stops = () if ends.token is None else (told.short[ends.token],)
    options = {"max_new_tokens": ends.n, "stop_ids": stops, "ends_at": told.ends_at(ends.string)}
    most = {"max_new_tokens": len(plain.token_ids)}
    ours = tuple(told.rounds(k, drafter, **options))
    loose = tuple(naive(told.rounds(k, drafter, **most), told.over(ends, stops)))
    settings = Settings(k, drafter, Sampling(), ends.n, 0, stop=(ends.string,) * bool(ends.string))
    made = [
        Trace(plain.prompt, told.dressed(rounds), settings, _named(plain, drafter), reason)
        for rounds, reason in ((ours, ours[-1].stop_reason), (loose, None))
    ]
    return Case(*made)


class _Told:
    """A recorded text with small ids, so that a law is short."""

    def __init__(self, plain: Trace) -> None:
        tokens = [*plain.prompt, *plain.written]
        known = dict.fromkeys(token.id for token in tokens)
        self.long, self.short = list(known), {token: i for i, token in enumerate(known)}
        self.text = [self.short[token.id] for token in tokens]
        self.words = [token.text for token in tokens]
        self.pieces = dict(zip(self.text, self.words))
        self.start = len(plain.prompt)
        self.starts = [0, *accumulate(len(word) for word in self.words[self.start :])]

    def rounds(self, k: int, drafter: str, **options: Any) -> Iterator[Round]:
        """The engine's rounds."""
        scorer = Again(self.text, len(self.long))
        small = PromptLookup() if drafter == "lookup" else Oracle(self.text)
        prompt, law = self.text[: self.start], Sampling()
        return speculate(scorer, small, prompt, k=k, sampling=law, tops=0, **options)

    def ends_at(self, string: str) -> Callable[[Sequence[int]], int | None] | None:
        """As the engine asks: how many tokens to keep once the string is complete."""
        if not string:
            return None

        def ends_at(written: Sequence[int]) -> int | None:
            at = self._said(len(written)).find(string)
            return None if at < 0 else int(np.searchsorted(self.starts, at + len(string)))

        return ends_at

    def over(self, ends: Ends, stops: Sequence[int]) -> Over:
        """What the naive loop looks at: the last token, the end of the text, the count."""
        return lambda written: (
            len(written) >= ends.n
            or written[-1] in stops
            or (bool(ends.string) and self._said(len(written)).endswith(ends.string))
        )

    def _said(self, n: int) -> str:
        return "".join(self.words[self.start : self.start + n])

    def dressed(self, rounds: Sequence[Round]) -> tuple[Round, ...]:
        """The rounds with their texts and the model's own ids."""
        return tuple(self._own(dress(r, *self._texts(r), self.pieces.get)) for r in rounds)

    def _texts(self, r: Round) -> tuple[list[str], list[str]]:
        written = self.words[r.start : r.start + len(r.written)]
        return [self.pieces[token.id] for token in r.drafted], written

    def _own(self, r: Round) -> Round:
        def own(tokens: Sequence[Any]) -> tuple[Any, ...]:
            return tuple(replace(t, id=self.long[t.id]) for t in tokens)

        # The passes were a table's: their seconds would pose as the model's.
        return replace(r, drafted=own(r.drafted), written=own(r.written), seconds=Seconds())


def _named(plain: Trace, drafter: str) -> Any:
    words = {"lookup": "prompt lookup", "oracle": "an oracle that was told the text"}
    return replace(plain.source, drafter=words[drafter], memory=None)
