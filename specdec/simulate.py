"""Rounds without models: every drafted token is accepted with the same chance, on its own.

It is what the closed forms of `theory` assume, played out; the pages draw it around their curves.
"""

from __future__ import annotations

import operator

import numpy as np

from specdec.law import Sampling
from specdec.measure import Costs
from specdec.theory import in_range, whole
from specdec.trace import Drafted, Lengths, Round, Seconds, Settings, Source, Token, Trace, Written

BLANK = 0, "·"  # id and text of every simulated token: there is none


def rounds(alpha: float, k: int, n: int, seed: int) -> np.ndarray:
    """Drafted tokens accepted in each of n rounds of k, int [n].

    The numbers come from the seed alone: another α meets the same uniforms, and a longer draft
    goes on where the shorter one ended. ValueError for α outside [0, 1], k or n below 0.

    Example:
        >>> rounds(1.0, 4, 3, seed=0).tolist()
        [4, 4, 4]
        >>> bool(abs(rounds(0.8, 4, 40_000, seed=0).mean() + 1 - 3.3616) < 0.05)
        True
    """
    alpha, k, n = in_range("alpha", alpha, 0.0, 1.0), int(whole("k", k)), int(whole("n", n))
    return _accepted(alpha, _uniforms(k, n, seed))


def trace(alpha: float, k: int, n_tokens: int, seed: int, costs: Costs) -> Trace:
    """What if α were …: n_tokens of speculative decoding at a pair's measured costs.

    Rounds accept as in `rounds`. Each takes k draft passes and a verify pass of
    target · (1 + k·v) seconds, the straight line through the two passes that `costs` measured.
    Tokens have no text, and q = 1, p = α stand for their tests only. k = 0 is plain decoding.
    ValueError as for `rounds`, for fewer than 1 token, or for costs that are no times.

    Example:
        >>> run = trace(1.0, 3, 8, seed=0, costs=Costs(3, target=1.0, verify=1.5, draft=0.1))
        >>> run.target_passes, round(run.seconds.total, 9)
        (2, 3.6)
    """
    alpha, k = float(in_range("alpha", alpha, 0.0, 1.0)), int(whole("k", k))
    n, seconds = int(whole("n_tokens", n_tokens, low=1)), _seconds(k, costs)
    numbers, made = _uniforms(k, n, seed), []
    lengths, room = Lengths((0, 0), (0, 0)), n  # cached: a prompt of one token, which goes on top
    for accepted, tests in zip(_accepted(alpha, numbers), numbers.T):
        if room:
            made.append(_round(len(made), lengths, int(accepted), tests, alpha, room, seconds))
            lengths, room = made[-1].lengths, room - len(made[-1].written)
    settings = Settings(k, "simulated" if k else "none", Sampling(temperature=1.0), n, seed)
    source = Source("simulated", "a pair's measured costs", f"chance α = {alpha:g}" if k else "")
    return Trace((Token(*BLANK),), tuple(made), settings, source, "length")


def plain(n_tokens: int, costs: Costs) -> Trace:
    """Plain decoding at the same costs: a target pass a token."""
    return trace(0.0, 0, n_tokens, 0, costs)


def _uniforms(k: int, n: int, seed: int) -> np.ndarray:
    """The numbers of the tests, [k, n]: a row a position, so that a longer draft only adds rows."""
    return np.random.default_rng(operator.index(seed)).random((k, n))


def _accepted(alpha: float, numbers: np.ndarray) -> np.ndarray:
    return np.logical_and.accumulate(numbers < alpha, axis=0).sum(axis=0)


def _seconds(k: int, costs: Costs) -> Seconds:
    """What a round of k takes."""
    for name in ("target", "verify", "draft"):
        in_range(f"costs.{name}", getattr(costs, name), 0.0, np.inf)
    if not costs.target:
        raise ValueError("costs.target is 0; it must be more: a pass takes time.")
    return Seconds(draft=k * costs.draft, verify=costs.target * (1 + k * costs.v))


def _round(
    index: int,
    before: Lengths,
    accepted: int,
    tests: np.ndarray,
    alpha: float,
    room: int,
    seconds: Seconds,
) -> Round:
    """A round as the loop would record it, cut where the text is full."""
    k, kept, start = len(tests), min(accepted + 1, room), before.target[1] + 1
    end = start + kept - 1  # the target owes one token; a drafter has not read its last guess
    drafted = _drafted(accepted, kept, tests, alpha)
    cached = (before.drafter[1], min(start + k - 1, end)) if k else None
    return Round(
        index,
        start,
        k,
        "pq",
        drafted,
        _written(accepted, kept, drafted, alpha),
        seconds,
        Lengths((start - 1, end), cached),
        k,
        "length" if accepted + 1 >= room else None,
    )


def _drafted(accepted: int, kept: int, tests: np.ndarray, alpha: float) -> tuple[Drafted, ...]:
    verdicts = ["accepted"] * min(accepted, kept) + ["rejected"] * (accepted < kept)
    verdicts += ["discarded"] * len(tests)
    return tuple(
        Drafted(
            *BLANK,
            q=1.0,
            p=alpha,
            u=None if verdict == "discarded" else float(u),
            threshold=alpha,
            verdict=verdict,
            parent=i - 1,
        )
        for i, (u, verdict) in enumerate(zip(tests, verdicts))
    )


def _written(
    accepted: int, kept: int, drafted: tuple[Drafted, ...], alpha: float
) -> tuple[Written, ...]:
    written = tuple(Written(*BLANK, token.p, token.u, "accepted") for token in drafted[:accepted])
    full = accepted == len(drafted)  # else the target's other tokens have 1 − α together
    own = Written(*BLANK, *((1.0, None, "bonus") if full else (1 - alpha, None, "corrected")))
    return (*written, own)[:kept]
