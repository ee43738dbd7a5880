"""Small models, drafters and a pair in NumPy: the engine without a neural network.

A logit depends on the whole prefix, through a state that the cache holds for every position, so a
cache that is a token too long, too short or stale gives other logits, as in a transformer.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from types import SimpleNamespace

import numpy as np

from specdec import tree
from specdec.decode import speculate
from specdec.drafters import FixedDrafter, ModelDrafter, PromptLookup
from specdec.law import Sampling
from specdec.text import Texts
from specdec.trace import Round, Settings, Source, Token, Trace
from specdec.tree import chain
from tests.tokenizers_np import ByteTokenizer

MASK = 2**64 - 1
GREEDY, SOFT = Sampling(), Sampling(temperature=1.0)
DRAFTERS = ["itself", "good", "bad", "reduced", "short", "swapping", "lookup", "fixed"]


def mixed(x: int) -> int:
    """The finaliser of splitmix64: 64 bits that look random."""
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9 & MASK
    x = (x ^ (x >> 27)) * 0x94D049BB133111EB & MASK
    return x ^ (x >> 31)


@lru_cache(1 << 15)
def noise(seed: int, state: int, n: int) -> np.ndarray:
    """n numbers in [-1, 1), a function of (seed, state), not to be written to."""
    x = np.arange(1, n + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    x ^= np.uint64(mixed(state ^ mixed(seed + 1)))
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        x = (x ^ (x >> np.uint64(shift))) * np.uint64(factor)
    numbers = (x >> np.uint64(11)) * 2.0**-52 - 1
    numbers.flags.writeable = False
    return numbers


class Model:
    """`logits(state, n)` [V] after n tokens whose hash is `state`; shared, like weights."""

    def __init__(
        self,
        vocab_size: int,
        logits: Callable[[int, int], np.ndarray],
        *,
        name: str = "toy",
        context: int | None = None,
        token_ids: Sequence[int] | None = None,
    ) -> None:
        self.vocab_size, self.logits, self.name, self.context = vocab_size, logits, name, context
        self.token_ids = None if token_ids is None else np.asarray(token_ids)
        self.scorers: list[Scorer] = []  # all that were ever made

    def scorer(self, rows: int | None = None, capacity: int | None = None) -> Scorer:
        """A new empty cache."""
        self.scorers.append(Scorer(self, capacity or 4096))
        self.scorers[-1].asked = (rows, capacity)
        return self.scorers[-1]

    def after(self, ids: Sequence[int]) -> np.ndarray:
        """The logits [V] after a prefix, without any cache: the oracle."""
        state = 0
        for token in ids:
            state = step(state, token)
        return self.logits(state, len(ids))


def step(state: int, token: int) -> int:
    """The hash of a prefix grown by a token."""
    return mixed(state * 31 + int(token) + 1 & MASK)


class Scorer:
    """The hashes of a prefix, one for each position; entries past `length` are stale, not gone."""

    def __init__(self, model: Model, capacity: int) -> None:
        self.model, self.vocab_size, self.context = model, model.vocab_size, model.context
        self.token_ids, self.length, self.closed = model.token_ids, 0, False
        self.fed: list[int] = []  # tokens of each pass
        self.trims: list[int] = []  # tokens that each rollback took away
        self._states = [0] * (capacity + 1)
        self._ids = [0] * capacity
        self._start, self._parents = 0, []  # of the last pass

    @property
    def cached(self) -> list[int]:
        """The tokens that the cache holds."""
        return self._ids[: self.length]

    def score(self, tokens: Sequence[int], parents: Sequence[int] | None = None) -> np.ndarray:
        """Logits [n, V], or [n, v] of a reduced vocabulary."""
        assert not self.closed, "a closed scorer was used"
        assert len(tokens), "a pass over no token"
        assert self._parents == chain(len(self._parents)), "a tree was continued without its path"
        if self.context and self.length + len(tokens) > self.context:
            raise ValueError("The context is exceeded.")
        rows, start = [], self.length
        self._start, self._parents = start, chain(len(tokens)) if parents is None else [*parents]
        depths = tree.depths(self._parents)
        for token, parent, depth in zip(tokens, self._parents, depths):
            at = self.length
            before = self._states[start + parent + 1]
            self._ids[at], self._states[at + 1] = int(token), step(before, token)
            self.length += 1
            row = self.model.logits(self._states[self.length], start + depth)
            rows.append(row if self.token_ids is None else row[self.token_ids])
        self.fed.append(len(tokens))
        return np.array(rows)

    def rollback(self, length: int) -> None:
        """Shorten; anything else is an error."""
        if not 0 <= length <= self.length:
            raise ValueError(f"Cannot roll back from {self.length} to {length}.")
        self.trims.append(self.length - length)
        self.length = length
        self._parents = self._parents[: max(0, length - self._start)]

    def keep(self, entries: Sequence[int]) -> None:
        """Of the last pass keep a path, from its root down."""
        path = [-1, *entries]
        assert all(self._parents[i] == parent for parent, i in zip(path, entries)), "no path"
        start = self._start
        self._ids[start : start + len(entries)] = [self._ids[start + i] for i in entries]
        kept = [self._states[start + i + 1] for i in entries]
        self._states[start + 1 : start + 1 + len(kept)] = kept
        self.length, self._parents = start + len(kept), chain(len(kept))

    def close(self) -> None:
        """Mark the cache as freed."""
        self.closed = True


def random_model(vocab_size: int = 7, seed: int = 0, sharpness: float = 3.0, **about) -> Model:
    """Another random law after every prefix."""
    return Model(vocab_size, lambda state, n: sharpness * noise(seed, state, vocab_size), **about)


def drafting(target: Model, seed: int = 1, error: float = 1.0, **about) -> Model:
    """A drafter whose logits are the target's, plus noise of this size."""

    def logits(state: int, n: int) -> np.ndarray:
        return target.logits(state, n) + error * noise(seed, state, target.vocab_size)

    return Model(target.vocab_size, logits, name="small", **about)


def scripted(vocab_size: int, script: Sequence[int], prompt: int, **about) -> Model:
    """Greedily writes `script` after a prompt of that many tokens, whatever stands there."""

    def logits(state: int, n: int) -> np.ndarray:
        row = 0.1 * noise(5, state, vocab_size)
        row[script[min(max(n - prompt, 0), len(script) - 1)]] += 50
        return row

    return Model(vocab_size, logits, **about)


@lru_cache(1 << 15)
def logarithms(laws: Callable[[tuple[int, ...]], Sequence[float]], ids: tuple[int, ...]) -> tuple:
    """The logits [V] after these ids."""
    with np.errstate(divide="ignore"):
        return tuple(np.log(np.array(laws(ids), dtype=float)))


class LawScorer:
    """A scorer given by its laws, prefix → probabilities; it caches the tokens themselves."""

    def __init__(self, laws: Callable[[tuple[int, ...]], Sequence[float]], vocab_size: int) -> None:
        self.laws, self.vocab_size, self.ids = laws, vocab_size, []

    @property
    def length(self) -> int:
        """Cached tokens."""
        return len(self.ids)

    def score(self, tokens: Sequence[int], parents: Sequence[int] | None = None) -> np.ndarray:
        """Logits [n, V]: the logarithms of the laws."""
        self.start, self.parents = len(self.ids), parents or chain(len(tokens))
        self.ids += map(int, tokens)
        return np.array([self._after(i) for i in range(len(tokens))])

    def _after(self, node: int) -> tuple:
        path = [self.ids[self.start + i] for i in tree.path(self.parents, node)]
        return logarithms(self.laws, (*self.ids[: self.start], *path))

    def rollback(self, length: int) -> None:
        """Keep the first `length` tokens."""
        del self.ids[length:]

    def keep(self, entries: Sequence[int]) -> None:
        """Of the last pass keep a path."""
        self.ids[self.start :] = [self.ids[self.start + i] for i in entries]


class Swapping:
    """Changes its drafter at every round: each has its own cache, both are rolled back."""

    def __init__(self, *drafters) -> None:
        self.drafters, self.rounds = drafters, 0

    @property
    def length(self) -> int:
        return max(getattr(d, "length", 0) for d in self.drafters)

    def rollback(self, length: int) -> None:
        for d in self.drafters:
            if getattr(d, "length", 0) > length:
                d.rollback(length)

    def propose(self, context, k, sampling, uniforms):
        self.rounds += 1
        return self.drafters[self.rounds % len(self.drafters)].propose(
            context, k, sampling, uniforms
        )


def plain_ids(target: Model, prompt: Sequence[int], n: int) -> list[int]:
    """n tokens of greedy decoding with no cache and no engine: the oracle."""
    ids = list(prompt)
    for _ in range(n):
        ids.append(int(np.argmax(target.after(ids))))
    return ids[len(prompt) :]


def run_rounds(
    target, drafter, prompt, *, k, n, sampling: Sampling | None = None, **options
) -> list[Round]:
    """All rounds of `speculate`; a model stands for a scorer of it, or for its drafter.

    No heads of laws are recorded unless `tops` asks for them: they cost most of a small run.
    """
    if isinstance(drafter, Model):
        drafter = ModelDrafter(drafter.scorer(), target.vocab_size)
    return list(
        speculate(
            target.scorer() if isinstance(target, Model) else target,
            drafter,
            prompt,
            k=k,
            sampling=sampling or Sampling(),
            max_new_tokens=n,
            **{"tops": 0} | options,
        )
    )


def ids_of(rounds: Sequence[Round]) -> list[int]:
    """The written ids of rounds."""
    return [token.id for r in rounds for token in r.written]


def trace_of(rounds: Sequence[Round], prompt: Sequence[int] = (0,)) -> Trace:
    """Rounds as a trace, for its rates."""
    settings = Settings(rounds[0].k if rounds else 0, "toy", Sampling(), 99, 0)
    source = Source("simulated", "toy", "toy")
    tokens = tuple(Token(i, "") for i in prompt)
    return Trace(
        tokens, tuple(rounds), settings, source, rounds[-1].stop_reason if rounds else None
    )


def still() -> float:
    """A clock that stands still, so that equal runs are equal in every field."""
    return 0.0


def make_drafter(name: str, target: Model, seed: int = 1):
    """A drafter by its name in DRAFTERS."""
    model = {
        "itself": target,
        "good": drafting(target, seed, 1.0),
        "bad": random_model(target.vocab_size, seed + 99),
        "reduced": Model(target.vocab_size, drafting(target, seed).logits, token_ids=[0, 2]),
        "short": Model(target.vocab_size, drafting(target, seed).logits, context=9),
    }
    if name in model:
        return ModelDrafter(model[name].scorer(), target.vocab_size)
    if name == "swapping":
        return Swapping(*(make_drafter(n, target, seed) for n in ("good", "lookup", "bad")))
    return {"lookup": PromptLookup(), "fixed": FixedDrafter([1, 0, 2, 1])}[name]


def distinct_target() -> tuple[Model, list[int]]:
    """A target whose first 20 greedy tokens are all different, and these tokens."""
    script = list(range(10, 30))
    return scripted(64, script, prompt=2), script


@dataclass
class Pair:
    """What a run needs of two models and their tokenizer."""

    target: Model
    draft: Model | None
    tokenizer: ByteTokenizer = field(default_factory=ByteTokenizer)
    stop_ids: tuple[int, ...] = (1,)
    hardware: tuple[str, str, str] = ("float64", "cpu", "a test")

    def __post_init__(self) -> None:
        self.texts = Texts(self.tokenizer)

    @property
    def scorers(self) -> list[Scorer]:
        """All caches that were ever made."""
        return [*self.target.scorers, *(self.draft.scorers if self.draft else [])]


def random_pair(tokenizer: ByteTokenizer | None = None, **about) -> Pair:
    """A pair of random laws over the byte tokenizer's vocabulary, without an end token."""
    target = random_model(len(ByteTokenizer()), seed=1, sharpness=6, name="big")
    about = {"stop_ids": ()} | about
    return Pair(target, drafting(target, error=0.5), tokenizer or ByteTokenizer(), **about)


def closed(pair: Pair) -> bool:
    """Whether every cache of the pair's models was freed."""
    return all(scorer.closed for scorer in pair.scorers)


def text_pair(
    text: str | Sequence[int],
    prompt: str = "the sky",
    *,
    error_at: Sequence[int] = (),
    tokenizer: ByteTokenizer | None = None,
    in_bytes: bool = False,
    **about,
) -> SimpleNamespace:
    """A pair whose target writes this text (or these ids) and then <eos>, without end.

    The drafter writes the same but for the tokens at `error_at`. `.script` holds the ids.
    """
    tokenizer = tokenizer or ByteTokenizer()
    ids = text
    if isinstance(text, str):
        ids = tokenizer.bytes_of(text) if in_bytes else tokenizer.encode(text)
    script = [*ids, tokenizer.eos_token_id]
    wrong = [tokenizer.ids[b"#"] if i in error_at else x for i, x in enumerate(script)]
    start = len(tokenizer(prompt)["input_ids"])
    pair = Pair(
        scripted(len(tokenizer), script, start, name="target"),
        scripted(len(tokenizer), wrong, start, name="small"),
        tokenizer,
        **about,
    )
    return SimpleNamespace(pair=pair, script=script, prompt=prompt, tokenizer=tokenizer)
