"""How much faster: the closed forms of speculative decoding, one line of mathematics each.

α is the chance that a judged token is accepted, k the drafted tokens a round, c one drafter pass
and v one more verified position, both ÷ one target pass. Each drafted token is accepted
independently of the others. Leviathan, Kalman, Matias 2023: "Fast Inference from Transformers via
Speculative Decoding". Arguments broadcast; numbers in give a number out. A value outside its
range raises ValueError.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

_ROUNDING = 16 * np.finfo(float).eps  # gains below it are ties: no digit of them is real
_HALVINGS = 80  # of a bracket at most k wide in ratio: to the last bit, up to k = 2^27


def tokens_per_pass(alpha: ArrayLike, k: ArrayLike) -> float | np.ndarray:
    """Mean tokens written per target pass: 1 + α + … + α^k = (1 − α^(k+1)) / (1 − α) (Eq. 1).

    Example:
        >>> round(tokens_per_pass(0.8, 4), 2)
        3.36
        >>> tokens_per_pass([0.0, 1.0], 4).tolist()
        [1.0, 5.0]
    """
    return _plain(_tokens(_unit("alpha", alpha), whole("k", k)))


def speedup(alpha: ArrayLike, k: ArrayLike, c: ArrayLike, v: ArrayLike = 0.0) -> float | np.ndarray:
    """Plain decoding's time ÷ speculation's: tokens a round over its cost (Theorem 3.8, with v).

    A round costs one target pass, k drafter passes and k more positions to verify.

    Example:
        >>> [round(speedup(alpha, 4, c), 2) for alpha, c in [(0.2, 0.05), (0.8, 0.05), (0.95, 0.5)]]
        [1.04, 2.8, 1.51]
    """
    k = whole("k", k)
    return _plain(_tokens(_unit("alpha", alpha), k) / (1 + k * _each(c, v)))


def best_k(
    alpha: ArrayLike, c: ArrayLike, v: ArrayLike = 0.0, k_max: ArrayLike = 64
) -> int | np.ndarray:
    """The k ≤ k_max with the largest speed-up; the smaller of two equals.

    0 if α ≤ c + v (Corollary 3.9: then no draft pays), k_max where no finite optimum exists.
    What one more token gains only falls as k grows, so the last k that gains is found by halving.

    Example:
        >>> best_k(0.8, 0.05), best_k(0.2, 0.3), best_k(0.8, 0.0, k_max=16)
        (8, 0, 16)
    """
    alpha, each = _unit("alpha", alpha), _each(c, v)
    alpha, each, k_max = np.broadcast_arrays(alpha, each, whole("k_max", k_max))
    gains, stops = np.zeros(alpha.shape), k_max + 1.0
    while np.any(stops - gains > 1):
        middle = np.floor((gains + stops) / 2)
        pays = _one_more_pays(alpha, middle, each)
        gains, stops = np.where(pays, middle, gains), np.where(pays, stops, middle)
    best = np.where(_has_finite_best_k(alpha, each), gains, k_max)
    return _plain(best.astype(int))


def has_finite_best_k(alpha: ArrayLike, c: ArrayLike, v: ArrayLike = 0.0) -> bool | np.ndarray:
    """Whether some k is best: not if drafting is free (and α > 0), nor at α = 1 with c + v < 1.

    Example:
        >>> has_finite_best_k(0.8, 0.05), has_finite_best_k(0.8, 0.0), has_finite_best_k(1.0, 0.5)
        (True, False, False)
    """
    return _plain(_has_finite_best_k(_unit("alpha", alpha), _each(c, v)))


def break_even_alpha(k: ArrayLike, c: ArrayLike, v: ArrayLike = 0.0) -> float | np.ndarray | None:
    """The smallest α with speedup ≥ 1; None (in an array NaN) if even α = 1 is too slow.

    Example:
        >>> break_even_alpha(1, 0.25), break_even_alpha(4, 1.5)
        (0.25, None)
    """
    k, each = np.broadcast_arrays(whole("k", k), _each(c, v))
    never = (k > 0) & _exceeds(each, 1.0)
    alpha = np.where(never, np.nan, _alpha_for(np.where(never, 0.0, k * each), k))
    return None if alpha.ndim == 0 and never else _plain(alpha)


def break_even_v(alpha: ArrayLike, k: ArrayLike, c: ArrayLike) -> float | np.ndarray:
    """The v at which k ≥ 1 drafts are as fast as none; below 0 they are slower even at v = 0.

    Example:
        >>> round(break_even_v(0.8, 4, 0.05), 4)
        0.5404
    """
    k = whole("k", k, low=1)
    free = in_range("c", c, 0.0, math.inf)
    return _plain((_tokens(_unit("alpha", alpha), k) - 1) / k - free)


def operations_factor(alpha: ArrayLike, k: ArrayLike, c_ops: ArrayLike) -> float | np.ndarray:
    """Arithmetic relative to plain decoding (Theorem 3.11); it grows while the time shrinks.

    c_ops is the drafter's operations per token ÷ the target's.

    Example:
        >>> round(operations_factor(0.8, 5, 0.0), 2)
        1.63
    """
    k = whole("k", k)
    operations = k * in_range("c_ops", c_ops, 0.0, math.inf) + k + 1
    return _plain(operations / _tokens(_unit("alpha", alpha), k))


def alpha_from_tokens_per_pass(tokens: ArrayLike, k: ArrayLike) -> float | np.ndarray:
    """The α at which a pass writes this many tokens on average: the inverse of Eq. 1.

    Example:
        >>> round(alpha_from_tokens_per_pass(3.3616, 4), 12)
        0.8
    """
    tokens = in_range("tokens", tokens, 1.0, math.inf)
    tokens, k = np.broadcast_arrays(tokens, whole("k", k, low=1))
    for most, wrong in zip(k[tokens > k + 1] + 1, tokens[tokens > k + 1]):
        raise ValueError(f"tokens must be in [1, k + 1] = [1, {most:g}], but it is {wrong}.")
    return _plain(_alpha_for(tokens - 1, k))


def in_range(name: str, value: ArrayLike, low: float, high: float) -> np.ndarray:
    """The value as a float array, or ValueError with the first one outside [low, high]."""
    allowed = f"≥ {low:g}" if high == math.inf else f"in [{low:g}, {high:g}]"
    try:
        array = np.asarray(value, dtype=float)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"{name} must be {allowed}, but it is {value!r}.") from None
    for wrong in array[~((array >= low) & (array <= high) & np.isfinite(array))]:  # NaN, too
        raise ValueError(f"{name} must be {allowed}, but it is {wrong}.")
    return array


def whole(name: str, value: ArrayLike, low: int = 0) -> np.ndarray:
    """As `in_range` without an upper end, for whole numbers: 4.0 is one, 4.5 is not."""
    array = in_range(name, value, low, math.inf)
    for wrong in array[array != np.floor(array)]:
        raise ValueError(f"{name} must be a whole number ≥ {low}, but it is {wrong}.")
    return array


def _unit(name: str, value: ArrayLike) -> np.ndarray:
    return in_range(name, value, 0.0, 1.0)


def _each(c: ArrayLike, v: ArrayLike) -> np.ndarray:
    """What one more drafted token costs a round, in target passes: c + v."""
    return in_range("c", c, 0.0, math.inf) + in_range("v", v, 0.0, math.inf)


def _tokens(alpha: np.ndarray, k: np.ndarray) -> np.ndarray:
    """Eq. 1 by expm1 and log1p: 1 − α^(k+1) loses its digits near α = 1, they don't."""
    missing = 1 - alpha
    with np.errstate(divide="ignore", invalid="ignore"):  # α = 0: log 0; α = 1: 0 / 0
        closed = -np.expm1((k + 1) * np.log1p(-missing)) / missing
    return np.where(missing == 0, k + 1, np.where(k == 0, 1.0, closed))


def _has_finite_best_k(alpha: np.ndarray, each: np.ndarray) -> np.ndarray:
    return ~((each == 0) & (alpha > 0) | (alpha == 1) & _exceeds(1.0, each))


def _one_more_pays(alpha: np.ndarray, k: np.ndarray, each: np.ndarray) -> np.ndarray:
    """Whether k is faster than k − 1: α^k (1 + (k−1)(c+v)) > (c+v) (1 + … + α^(k−1)).

    Left minus right changes by −α^k (1 − α)(1 + k(c+v)) ≤ 0 from k to k + 1: once false, for good.
    """
    return _exceeds(alpha**k * (1 + (k - 1) * each), each * _tokens(alpha, k - 1))


def _exceeds(a: ArrayLike, b: ArrayLike) -> np.ndarray:
    return np.asarray(a) > np.asarray(b) * (1 + _ROUNDING)


def _alpha_for(extra: np.ndarray, k: np.ndarray) -> np.ndarray:
    """The α with α + … + α^k = extra, which lies between extra / k and extra: by halving."""
    low, high = extra / np.maximum(k, 1), np.minimum(extra, 1.0)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        enough = middle * _tokens(middle, k - 1) >= extra
        low, high = np.where(enough, low, middle), np.where(enough, middle, high)
    return high


def _plain(result: np.ndarray) -> Any:
    return result.item() if np.ndim(result) == 0 else result
