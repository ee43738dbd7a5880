"""Traces for the tests of the stage, all made by the engine itself: toy, sampled, long, cut."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import cache

import numpy as np

from specdec import tail, toy
from specdec.decode import speculate
from specdec.drafters import FixedDrafter, ModelDrafter
from specdec.law import Sampling
from specdec.text import dress
from specdec.trace import Memory, Round, Settings, Source, Token, Trace
from tests.pairs_np import SOFT, Model, drafting, random_model, run_rounds

WORDS = (
    *(" the", " kiln", " occurs", " Rayleigh", " because", " <b>bold</b>"),
    *("<script>alert(1)</script>", " 天空", "是", "蓝色", " 🙂", "", " שלום", " العربية"),
    *("\n", "\t", "  ", " of", " light", " scattering", "\u202eabc", " &amp;", " a", ",", "."),
    *(" extraordinarily", " in", " which", " blue", " sky"),
)
TARGET = {"": "the", "the": "kiln", "the kiln": "held", "the kiln held": "its"} | {
    "the kiln held its": "heat",
    "the kiln held its heat": "overnight",
}
DRAFT = {"": "the", "the": "kiln", "the kiln": "cooled", "the kiln cooled": "slowly"} | {
    "the kiln held": "its",
    "the kiln held its": "heat",
    "the kiln held its heat": "all",
    "the kiln held its heat all": "night",
}


class Bigram:
    """A scorer whose logits [V] depend on the last token only: row `id` of a table [V, V]."""

    def __init__(self, table: np.ndarray) -> None:
        self.table, self.vocab_size, self.length = table, len(table), 0

    def score(self, tokens, parents=None) -> np.ndarray:
        self.length += len(tokens)
        return self.table[list(tokens)]

    def rollback(self, length: int) -> None:
        self.length = length


@cache
def kiln(k: int = 4) -> Trace:
    """The round "the kiln held its heat overnight"; k = 0 is plain decoding."""
    if k:
        return toy.speculative_greedy(toy.table(TARGET), toy.table(DRAFT), 6, k)
    return toy.speculative_greedy(toy.table(TARGET), toy.table(TARGET), 6, 0)


@cache
def sampled(
    n: int = 24, k: int = 4, *, seed: int = 3, prompt: int = 40, stop_ids=(), copied: bool = False
) -> Trace:
    """A sampled run over awkward tokens, with seconds as if a target pass took 50 ms."""
    rng = np.random.default_rng(seed)
    logits = rng.normal(0, 2.2, (len(WORDS), len(WORDS)))
    noisy = logits + rng.normal(0, 1.0, logits.shape)
    ids = [int(i) for i in rng.integers(0, len(WORDS), prompt)]
    sampling = Sampling(temperature=1.0)
    drafter = FixedDrafter(ids[:k]) if copied else ModelDrafter(Bigram(noisy)) if k else None
    rounds = speculate(
        Bigram(logits), drafter, ids, k=k, sampling=sampling, max_new_tokens=n, stop_ids=stop_ids,
        rng=seed, clock=Ticks(),
    )  # fmt: skip
    settings = Settings(k, "model" if k else "none", sampling, n, seed)
    return told(rounds, ids, settings, Source("live", "bigram", "noisy bigram", "float64", "cpu"))


@cache
def ruled(
    rule: str, n: int = 40, k: int = 4, *, seed: int = 1, sampling: Sampling = SOFT, stop_ids=()
) -> Trace:
    """A run under one of the lossless rules: a random pair of models over awkward tokens."""
    target, ids = random_target(seed), [0, 1, 18, 28]
    rounds = run_rounds(
        target, drafting(target), ids, k=k, n=n, sampling=sampling, rule=rule, rng=seed,
        stop_ids=stop_ids, tops=10, clock=Ticks(),
    )  # fmt: skip
    settings = Settings(k, "model", sampling, n, seed, rule)
    return told(rounds, ids, settings, Source("live", "random", "noisy", "float64", "cpu"))


def mended(rule: str = "pq", *, sampling: Sampling = SOFT, seed: int = 1, k: int = 5) -> Trace:
    """The same with the target's law after the right token on every discarded token."""
    trace = ruled(rule, k=k, seed=seed, sampling=sampling)
    looked = tail.mend(random_target(seed).scorer(), trace)
    texts = WORDS.__getitem__
    return replace(
        looked,
        rounds=tuple(
            dress(r, [t.text for t in r.drafted], [t.text for t in r.written], texts)
            for r in looked.rounds
        ),
    )


def priced() -> Trace:
    """`sampled` with what a cached token takes: 23 040 and 3 072 bytes."""
    trace = sampled()
    memory = Memory(270_000_000, 30_000_000, 23_040, 3_072)
    return replace(trace, source=replace(trace.source, memory=memory))


def random_target(seed: int) -> Model:
    """The target of `ruled`."""
    return random_model(len(WORDS), seed=seed, sharpness=4.0)


def told(rounds: Iterable[Round], ids: list[int], settings: Settings, source: Source) -> Trace:
    """Rounds of the engine, which knows no texts, as a trace with the texts of WORDS."""
    text = WORDS.__getitem__
    dressed = tuple(
        dress(r, [text(t.id) for t in r.drafted], [text(t.id) for t in r.written], text)
        for r in rounds
    )
    prompt = tuple(Token(i, text(i)) for i in ids)
    return Trace(prompt, dressed, settings, source, dressed[-1].stop_reason)


class Ticks:
    """A clock for the loop: 20 ms of drafting, 50 of verifying, 1 of accepting."""

    def __init__(self) -> None:
        self.now, self.calls = 0.0, -2  # the prefill reads it twice

    def __call__(self) -> float:
        self.now += (0.0, 0.02, 0.05, 0.001)[self.calls % 4] if self.calls >= 0 else 0.0
        self.calls += 1
        return self.now


def first(trace: Trace, rounds: int, stop_reason: str | None = None) -> Trace:
    """The trace when it had so many rounds."""
    return replace(trace, rounds=trace.rounds[:rounds], stop_reason=stop_reason)
