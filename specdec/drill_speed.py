"""Exercises on speed: α, k, c and v in, tokens per pass, speed-up and k out, all in Fractions."""

from __future__ import annotations

import random
from fractions import Fraction
from functools import cache
from math import ceil

from specdec.drill_exercise import EXACT, HUNDREDTH, Exercise, about, exercise, tex

COSTS = tuple(Fraction(n, 100) for n in (2, 5, 10, 20, 25, 30, 50))  # c
POSITIONS = tuple(Fraction(n, 100) for n in (0, 0, 1, 2, 5))  # v
# Where the sum of powers of α, over k, has few digits.
NEAT = {1: range(2, 10), 2: range(2, 10), 3: (3, 4, 6, 7, 9)}
MOST_K = 6


def per_pass(alpha: Fraction, k: int) -> Fraction:
    """Tokens per target pass, 1 + α + … + α^k, exactly.

    Example:
        >>> per_pass(Fraction(1, 2), 2)
        Fraction(7, 4)
    """
    return sum((alpha**i for i in range(k + 1)), Fraction(0))


def gain(alpha: Fraction, k: int, each: Fraction) -> Fraction:
    """Speed-up where one more drafted token costs `each` = c + v target passes."""
    return per_pass(alpha, k) / (1 + k * each)


def best(alpha: Fraction, each: Fraction) -> int:
    """The k with the largest speed-up, the smaller of equals; needs α < 1 and `each` > 0."""
    k = 0
    while gain(alpha, k + 1, each) > gain(alpha, k, each):
        k += 1
    return k


def tokens(rng: random.Random) -> Exercise:
    """α and k in, tokens per pass out."""
    alpha, k = _alpha(rng), rng.randint(2, MOST_K)
    result = per_pass(alpha, k)
    return exercise(
        *("tokens", {"alpha": alpha, "k": k}, result, HUNDREDTH),
        (_sum_steps(alpha, k),),
        no_own=result - 1,
        one_power=per_pass(alpha, k - 1),
        all_judged=1 + k * alpha,
    )


def speedup(rng: random.Random) -> Exercise:
    """α, k, c and v in, the speed-up out."""
    alpha, k = _alpha(rng), rng.randint(2, MOST_K)
    c, v = rng.choice(COSTS), rng.choice(POSITIONS)
    result, cost = gain(alpha, k, c + v), 1 + k * (c + v)
    steps = (
        _sum_steps(alpha, k),
        rf"1 + k\,(c + v) = 1 + {k}\,({tex(c)} + {tex(v)}) = {tex(cost)}",
        rf"\frac{{{_short(per_pass(alpha, k))}}}{{{tex(cost)}}} {about(result)}",
    )
    return exercise(
        *("speedup", {"alpha": alpha, "k": k, "c": c, "v": v}, result, HUNDREDTH, steps),
        no_own=(per_pass(alpha, k) - 1) / cost,
        free=per_pass(alpha, k),
        one_draft=per_pass(alpha, k) / (1 + c + v),
        no_target=per_pass(alpha, k) / (k * (c + v)),
    )


def best_k(rng: random.Random) -> Exercise:
    """α and c in, the best k out: a small whole number, sometimes 0."""
    alpha, c = rng.choice(_drafts_pay_shortly())
    k = best(alpha, c)
    ks = range(max(k - 1, 0), k + 2)
    steps = tuple(rf"k = {n}: \quad S {about(gain(alpha, n, c))}" for n in ks)
    return exercise("best_k", {"alpha": alpha, "c": c}, k, EXACT, steps, one_more=k + 1)


def break_even(rng: random.Random) -> Exercise:
    """k and c in, the α out at which nothing is gained or lost."""
    alpha, k = _neat(rng)
    extra = per_pass(alpha, k) - 1
    c = extra / k
    steps = (
        rf"S = 1 \iff {_powers(k)} = k\,c = {tex(extra)}",
        rf"\alpha = {tex(alpha)}",
    )
    return exercise("break_even", {"k": k, "c": c}, alpha, HUNDREDTH, steps, first=c, all_of=k * c)


def alpha_back(rng: random.Random) -> Exercise:
    """k and tokens per pass in, α out."""
    alpha, k = _neat(rng)
    found = per_pass(alpha, k)
    steps = (rf"{_powers(k)} = {tex(found)} - 1 = {tex(found - 1)}", rf"\alpha = {tex(alpha)}")
    slips = {"yielded": (found - 1) / k, "per_place": found / (k + 1)}
    return exercise("alpha_back", {"k": k, "tokens": found}, alpha, HUNDREDTH, steps, **slips)


def draft_yield(rng: random.Random) -> Exercise:
    """α and k in, accepted ÷ drafted out."""
    alpha, k = _alpha(rng), rng.randint(2, MOST_K)
    kept = per_pass(alpha, k) - 1
    steps = (
        rf"{_powers(k, alpha)} {about(kept)}",
        rf"\frac{{{_short(kept)}}}{{{k}}} {about(kept / k)}",
    )
    given, slips = {"alpha": alpha, "k": k}, {"same": alpha, "own": (kept + 1) / (k + 1)}
    return exercise("draft_yield", given, kept / k, HUNDREDTH, steps, **slips)


def log_alpha(rng: random.Random) -> Exercise:
    """Counts of a log in, α out."""
    given, kept, lost, rounds, k = _log(rng)
    alpha = Fraction(kept, kept + lost)
    steps = (rf"\alpha = \frac{{{kept}}}{{{kept} + {lost}}} {about(alpha)}",)
    slips = {"yielded": Fraction(kept, k * rounds), "own": Fraction(kept + rounds, k * rounds)}
    return exercise("log_alpha", given, alpha, HUNDREDTH, steps, **slips)


def log_yield(rng: random.Random) -> Exercise:
    """Counts of a log in, the draft yield out."""
    given, kept, lost, rounds, k = _log(rng)
    found = Fraction(kept, k * rounds)
    steps = (rf"\frac{{{kept}}}{{{rounds} \cdot {k}}} {about(found)}",)
    slips = {"alpha": Fraction(kept, kept + lost), "own": Fraction(kept + rounds, k * rounds)}
    return exercise("log_yield", given, found, HUNDREDTH, steps, **slips)


def log_tokens(rng: random.Random) -> Exercise:
    """Counts of a log in, tokens per target pass out."""
    given, kept, lost, rounds, _ = _log(rng)
    found = Fraction(kept + rounds, rounds)
    steps = (rf"\frac{{{kept} + {rounds}}}{{{rounds}}} {about(found)}",)
    slips = {"no_own": Fraction(kept, rounds), "no_bonus": Fraction(kept + lost, rounds)}
    return exercise("log_tokens", given, found, HUNDREDTH, steps, **slips)


def passes(rng: random.Random) -> Exercise:
    """The fewest target passes for so many tokens: every draft is accepted."""
    n, k = rng.randint(20, 200), rng.randint(2, 8)
    fewest = ceil(Fraction(n, k + 1))
    steps = (rf"\left\lceil \frac{{{n}}}{{{k} + 1}} \right\rceil = {fewest}",)
    slips = {"no_own": ceil(Fraction(n, k)), "parts": Fraction(n, k + 1), "down": n // (k + 1)}
    return exercise("passes", {"n": n, "k": k}, fewest, EXACT, steps, **slips)


def operations(rng: random.Random) -> Exercise:
    """α, k and the drafter's share of the work in, arithmetic relative to plain decoding out."""
    alpha, k, c = _alpha(rng), rng.randint(2, MOST_K), rng.choice(COSTS)
    work, result = k * c + k + 1, per_pass(alpha, k)
    steps = (
        rf"k\,\hat c + k + 1 = {k} \cdot {tex(c)} + {k} + 1 = {tex(work)}",
        _sum_steps(alpha, k),
        rf"\frac{{{tex(work)}}}{{{_short(result)}}} {about(work / result)}",
    )
    slips = {"as_time": (1 + k * c) / result, "no_drafter": (k + 1) / result, "whole": work}
    given = {"alpha": alpha, "k": k, "c": c}
    return exercise("operations", given, work / result, HUNDREDTH, steps, **slips)


def _alphas() -> list[Fraction]:
    return [Fraction(n, 10) for n in range(2, 10)]


@cache
def _drafts_pay_shortly() -> list[tuple[Fraction, Fraction]]:
    """(α, c) whose best k is small."""
    return [(alpha, c) for alpha in _alphas() for c in COSTS if best(alpha, c) <= MOST_K]


def _alpha(rng: random.Random) -> Fraction:
    return rng.choice(_alphas())


def _neat(rng: random.Random) -> tuple[Fraction, int]:
    k = rng.choice(list(NEAT))
    return Fraction(rng.choice(list(NEAT[k])), 10), k


def _log(rng: random.Random) -> tuple[dict[str, int], int, int, int, int]:
    """A log of rounds that were really played: what it says, accepted, rejected, rounds, k."""
    k, rounds, alpha = rng.randint(3, 6), rng.randint(8, 40), rng.uniform(0.3, 0.9)
    counts = [_kept(rng, alpha, k) for _ in range(rounds)]
    kept, lost = max(sum(counts), 1), sum(count < k for count in counts)
    return {"rounds": rounds, "k": k, "kept": kept, "lost": lost}, kept, lost, rounds, k


def _kept(rng: random.Random, alpha: float, k: int) -> int:
    return next((i for i in range(k) if rng.random() >= alpha), k)


def _powers(k: int, alpha: Fraction | None = None) -> str:
    base = r"\alpha" if alpha is None else tex(alpha)
    terms = [base, *(f"{base}^{{{i}}}" for i in range(2, k + 1))]
    return " + ".join(terms)


def _sum_steps(alpha: Fraction, k: int) -> str:
    closed = rf"\frac{{1 - {tex(alpha)}^{{{k + 1}}}}}{{1 - {tex(alpha)}}}"
    return rf"\frac{{1-\alpha^{{k+1}}}}{{1-\alpha}} = {closed} {about(per_pass(alpha, k))}"


def _short(x: Fraction) -> str:
    return f"{float(x):.6g}" if about(x).startswith("=") else f"{float(x):.4f}"
