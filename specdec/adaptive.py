"""How many tokens to draft next: k, as it follows what became of the drafts before.

A policy is a value with a `k`; `after(accepted, rejected)` is the policy for the next round. It
sees these two numbers and nothing else, so every k is lossless: the text's law would bend if k
looked at discarded tokens, for they come from the numbers with which their places are drafted anew.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from specdec import theory
from specdec.scores import check

MOST = 16  # no policy of ours asks for more, unless it is told to
KEEP = 0.9  # what a round that was judged leaves of the weight of those before it
MARGIN = 1.02  # another k must promise to be faster by this factor
REST = 8  # rounds without a draft before one token is tried again


class Policy(Protocol):
    """`most` bounds every `k` that it will ever ask for: caches are made for it."""

    most: int

    @property
    def k(self) -> int:
        """Tokens to ask of the drafter in the next round, 0 … most."""
        ...

    def after(self, accepted: int, rejected: int) -> Policy:
        """The policy after a round: drafted tokens accepted, and 1 if one was rejected."""
        ...


@dataclass(frozen=True)
class Constant:
    """The same k in every round."""

    k: int

    @property
    def most(self) -> int:
        """k."""
        return self.k

    def after(self, accepted: int, rejected: int) -> Constant:
        """Itself."""
        return self


@dataclass(frozen=True)
class Heuristic:
    """The schedule "heuristic" of transformers: 2 more if all were accepted, else 1 less, from 1.

    Where nothing was drafted nothing is learnt, and k stays.

    Example:
        >>> Heuristic(k=5).after(5, 0).k, Heuristic(k=5).after(2, 1).k, Heuristic(k=1).after(0, 1).k
        (7, 4, 1)
    """

    k: int = 5
    most: int = MOST

    def __post_init__(self) -> None:
        check("most", self.most, self.most >= 0 and self.most % 1 == 0, "a whole number, 0 or more")
        check("k", self.k, self.k >= 1 and self.k % 1 == 0, "a whole number, 1 or more")
        object.__setattr__(self, "k", int(min(self.k, self.most)))

    def __str__(self) -> str:
        return f"heuristic k={self.k}"

    def after(self, accepted: int, rejected: int) -> Heuristic:
        """2 more, 1 less, or the same."""
        if rejected:
            return replace(self, k=max(1, self.k - 1))
        return replace(self, k=min(self.k + 2, self.most)) if accepted else self


@dataclass(frozen=True)
class Ema:
    """The best k by the closed forms, for the α of the last rounds and the costs c and v.

    α = accepted ÷ judged, both counted with weights that fade (an exponential moving average of
    each). k moves only where the closed forms promise 2 % (hysteresis), and from 0 a single token
    is tried every few rounds, and on as long as it is accepted. The costs are given, not timed
    during the run: the same seed draws the same text. `measure.costs(pair)` has those of a pair.

    Example:
        >>> policy = Ema(c=0.1, v=0.05)
        >>> policy.k, policy.after(3, 0).k, policy.after(0, 1).after(0, 1).k
        (3, 5, 2)
    """

    c: float = 0.13  # about those of the bundled pair on a CPU
    v: float = 0.03
    most: int = MOST
    accepted: float = 3.5  # before the first round: α = 0.7, as if five tokens had been judged
    judged: float = 5.0
    held: int | None = None  # what it holds to be best; None: at this α
    idle: int = 0  # rounds since a token was judged

    def __post_init__(self) -> None:
        if self.held is None:
            object.__setattr__(self, "held", int(np.argmax(self.speedups())))

    def __str__(self) -> str:
        return f"ema c={self.c} v={self.v}"

    @property
    def alpha(self) -> float:
        """The moving α."""
        return self.accepted / self.judged

    @property
    def k(self) -> int:
        """The k that is held to be best; where that is 0, now and then 1."""
        return self.held or int(self.idle >= REST and self.most > 0)

    def after(self, accepted: int, rejected: int) -> Ema:
        """Count, and move k if that pays."""
        judged = accepted + rejected
        if not judged:
            return replace(self, idle=self.idle + 1)
        new = replace(
            self,
            accepted=KEEP * self.accepted + accepted,
            judged=KEEP * self.judged + judged,
            idle=0 if rejected else REST,
        )
        speedups = new.speedups()
        best = int(np.argmax(speedups))
        return replace(new, held=best) if speedups[best] > MARGIN * speedups[self.held] else new

    def speedups(self) -> np.ndarray:
        """What the closed forms promise [most + 1] at the moving α; their best is `best_k`."""
        return theory.speedup(self.alpha, np.arange(self.most + 1), self.c, self.v)


KINDS = {"ema": Ema, "heuristic": Heuristic}
TOLD = {"ema": ("c", "v"), "heuristic": ("k",)}  # what may stand behind a name


def policy_of(k: Any) -> Policy:
    """A policy, or a number as the constant one."""
    return k if hasattr(k, "after") else Constant(k)


def named(words: str, **known: float) -> Policy:
    """The policy that these words name; ValueError if there is none. `known`: its other fields.

    Example:
        >>> str(named("ema c=0.2", most=8)), named("heuristic k=3").k
        ('ema c=0.2 v=0.03', 3)
    """
    kind, *told = words.split() or [""]
    if kind not in KINDS:
        raise ValueError(f"There is no policy {kind!r} for k; there are {', '.join(KINDS)}.")
    for word in told:
        name, _, value = word.partition("=")
        try:
            number = float(value)
        except ValueError:
            number = None
        if name not in TOLD[kind] or number is None:
            such = " ".join(f"{name}=…" for name in TOLD[kind])
            raise ValueError(f"The policy {words!r} was not understood; say {kind} {such}.")
        known[name] = int(number) if name == "k" and number % 1 == 0 else number
    return KINDS[kind](**known)


def name_of(policy: Policy) -> str | None:
    """Words for the settings of a run: None for a constant k, else what `named` reads."""
    if isinstance(policy, Constant):
        return None
    return str(policy) if isinstance(policy, Ema | Heuristic) else type(policy).__name__
