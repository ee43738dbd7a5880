"""What happened in a run, round by round: the one contract between engine, recordings and screen.

Every class is frozen and goes to JSON and back without loss. The words are those of the screen:
a drafted token ends accepted, rejected or discarded; a written one is accepted, corrected or bonus.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal

import numpy as np

from specdec import sense, tree_rounds
from specdec.law import Sampling
from specdec.schema import build, parse

SCHEMA = 1  # raised whenever an old file would be read wrongly
Verdict = Literal["accepted", "rejected", "discarded"]
Kind = Literal["accepted", "corrected", "bonus"]
StopReason = Literal["eos", "stop", "length", "context", "cancelled"]
Origin = Literal["live", "recorded", "toy", "simulated"]


@dataclass(frozen=True)
class Top:
    """The head of a law: at most ten (id, text, probability), descending; the mass of the rest."""

    entries: tuple[tuple[int, str, float], ...]
    rest: float


@dataclass(frozen=True)
class Token:
    """One token; the texts of a sequence, joined, are its decoded text."""

    id: int
    text: str


@dataclass(frozen=True)
class Mended:
    """A discarded token's place once more, after the token that replaced the rejected one.

    `p` is the target's law there at the discarded token and `p_top` the law's head; `kept` says
    whether the test of the run's rule would have kept the token, with its own q and u.
    """

    p: float
    u: float | None  # None: greedy
    threshold: float
    kept: bool
    p_top: Top | None = None


@dataclass(frozen=True)
class Drafted(Token):
    """A drafted token and the test it met, passed with the chance `threshold`.

    In a tree p is what the siblings before it have left of the target's law, and so is p_top.
    Under "pq" it is accepted iff u < threshold = min(1, p / q) and all before it were; under
    "match" iff the target's own draw with u is this very token; under "block" iff it or a later
    token of its round has u < threshold.
    """

    q: float  # the drafter's law at this token
    p: float  # the target's law at this token, after the draft's own prefix
    u: float | None  # None where nothing was drawn: greedy, or never judged
    threshold: float
    verdict: Verdict
    parent: int = -1  # index in the draft of the token it follows; -1: the text. A chain: i - 1
    p_top: Top | None = None
    q_top: Top | None = None
    residual_top: Top | None = None
    mended: Mended | None = None  # of a discarded token, where it was asked for


@dataclass(frozen=True)
class Written(Token):
    """A token of the output: an accepted draft, a correction, or the target's bonus."""

    p: float
    u: float | None  # the uniform that decided it: of its test if accepted, of its draw if not
    kind: Kind
    p_top: Top | None = None


@dataclass(frozen=True)
class Seconds:
    """Wall-clock seconds by phase; `prefill` is zero after the first round."""

    draft: float = 0.0
    verify: float = 0.0
    accept: float = 0.0
    prefill: float = 0.0

    @property
    def total(self) -> float:
        """Everything but the prefill: what the rounds took."""
        return self.draft + self.verify + self.accept

    def __add__(self, other: Seconds) -> Seconds:
        return Seconds(
            self.draft + other.draft,
            self.verify + other.verify,
            self.accept + other.accept,
            self.prefill + other.prefill,
        )


@dataclass(frozen=True)
class Lengths:
    """Cached tokens (before, after) a round; the drafter's is None if it keeps no cache."""

    target: tuple[int, int]
    drafter: tuple[int, int] | None = None


@dataclass(frozen=True)
class Round:
    """One draft, one verify pass, one walk of acceptance."""

    index: int
    start: int  # tokens in the sequence, prompt included, before this round
    k: int  # tokens asked of the drafter; it may give fewer
    rule: str
    drafted: tuple[Drafted, ...]
    written: tuple[Written, ...]
    seconds: Seconds
    lengths: Lengths
    draft_passes: int = 0  # forward passes of a drafting model
    stop_reason: StopReason | None = None  # why the run ended with this round

    @property
    def accepted(self) -> int:
        """Drafted tokens that were kept and written."""
        return sum(token.verdict == "accepted" for token in self.drafted)

    @property
    def rejected(self) -> int:
        """1 if a drafted token failed its test, else 0; of a tree several may."""
        return sum(token.verdict == "rejected" for token in self.drafted)

    @property
    def counted(self) -> int:
        """Drafted tokens without those that an end of the text cut away: they leave every rate."""
        return len(self.drafted) - len(tree_rounds.cut(self))


@dataclass(frozen=True)
class Settings:
    """What was asked for: together with the models it determines every token."""

    k: int  # the most of a round where `adaptive` names a policy for it
    drafter: str
    sampling: Sampling
    max_new_tokens: int
    seed: int
    rule: str = "pq"
    stop: tuple[str, ...] = ()
    chat: bool = False
    rows: int | None = None
    adaptive: str | None = None  # what `adaptive.named` reads; None: k in every round
    confidence: float = 0.0  # a draft ends below it

    def options(self) -> dict[str, Any]:
        """These settings as keywords of `specdec.rounds`."""
        return dict(vars(self))


@dataclass(frozen=True)
class Memory:
    """Bytes of a pair: the weights of both models, and a cached token of each."""

    target_weights: int
    drafter_weights: int
    target_token: int
    drafter_token: int


@dataclass(frozen=True)
class Source:
    """Where a trace comes from; the screen repeats it."""

    kind: Origin
    target: str
    drafter: str
    dtype: str = ""
    device: str = ""
    machine: str = ""
    when: str = ""  # ISO 8601, recorded traces
    memory: Memory | None = None  # None: no model of ours
    missing: float | None = None  # most mass of a row, before any setting, that no server told


def recorded(result: Any, when: str) -> Any:
    """A trace, or anything with a `source`, marked as recorded on this day (ISO 8601)."""
    return replace(result, source=replace(result.source, kind="recorded", when=when))


@dataclass(frozen=True)
class Trace:
    """A whole run: prompt, rounds, settings, source. All rates are taken after cuts."""

    prompt: tuple[Token, ...]
    rounds: tuple[Round, ...]
    settings: Settings
    source: Source
    stop_reason: StopReason | None = None  # None while the run goes on
    schema: int = field(default=SCHEMA)

    @property
    def written(self) -> tuple[Written, ...]:
        """All written tokens in order."""
        return tuple(token for r in self.rounds for token in r.written)

    @property
    def token_ids(self) -> tuple[int, ...]:
        """Ids of the written tokens, an end-of-text token included."""
        return tuple(token.id for token in self.written)

    @property
    def text(self) -> str:
        """The written text: without an end-of-text token, cut before a stop string."""
        tokens = self.written[:-1] if self.stop_reason == "eos" else self.written
        text = "".join(token.text for token in tokens)
        if self.stop_reason != "stop":
            return text
        ends = [at for s in self.settings.stop if (at := text.find(s)) >= 0]
        return text[: min(ends, default=len(text))]

    @property
    def seconds(self) -> Seconds:
        """Sums over the rounds."""
        return sum((r.seconds for r in self.rounds), Seconds())

    @property
    def target_passes(self) -> int:
        """Verify passes; the prefill is not counted."""
        return len(self.rounds)

    @property
    def draft_passes(self) -> int:
        """Forward passes of the drafting model."""
        return sum(r.draft_passes for r in self.rounds)

    @property
    def alpha(self) -> float | None:
        """accepted ÷ (accepted + rejected): the α of every formula; None if nothing was judged."""
        accepted = sum(r.accepted for r in self.rounds)
        return _ratio(accepted, accepted + sum(r.rejected for r in self.rounds))

    @property
    def draft_yield(self) -> float | None:
        """accepted ÷ drafted, what engines log as "acceptance rate"; it falls with k."""
        return _ratio(sum(r.accepted for r in self.rounds), sum(r.counted for r in self.rounds))

    @property
    def per_position(self) -> tuple[float | None, ...]:
        """Share of rounds that accepted an i-th token, of those whose draft reached so far."""
        counts = [(r.accepted, tree_rounds.depth(r)) for r in self.rounds]
        deepest = max((depth for _, depth in counts), default=0)
        return tuple(
            _ratio(sum(a > i for a, _ in counts), sum(depth > i for _, depth in counts))
            for i in range(deepest)
        )

    @property
    def tokens_per_pass(self) -> float | None:
        """written ÷ target passes, corrections and bonus tokens included."""
        return _ratio(len(self.written), self.target_passes)

    @property
    def accepted_histogram(self) -> tuple[int, ...]:
        """At index a: the number of rounds that accepted exactly a drafted tokens."""
        counts = [r.accepted for r in self.rounds]
        return tuple(counts.count(a) for a in range(max(counts, default=-1) + 1))

    def to_json(self) -> str:
        """The trace as JSON text; `from_json` gives back an equal trace."""
        plain = {"ensure_ascii": False, "separators": (",", ":"), "default": np.generic.item}
        return json.dumps(asdict(self), **plain)  # a number of NumPy is a number

    @classmethod
    def from_json(cls, text: str | bytes) -> Trace:
        """Read and check a trace; ValueError says which field is wrong and why."""
        data = parse(text)
        if not isinstance(data, dict) or data.get("schema") != SCHEMA:
            raise ValueError(f"This is not a trace of schema {SCHEMA}.")
        trace = build(cls, data, "trace")
        sense.check(trace)
        return trace


def _ratio(part: int, whole: int) -> float | None:
    return part / whole if whole else None
