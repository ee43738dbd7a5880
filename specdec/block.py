"""Block verification: a drafted block is judged as one, so a lucky later token may save an earlier.

Sun et al. 2024, "Block Verification Accelerates Speculative Decoding" (arXiv 2403.10444,
Algorithm 2). It writes the target's law like the walk of `rule`, and on average keeps no fewer.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from specdec.arithmetic import Law, at, cut_ratio, divide, excess, normalised


def block_tests(
    p_rows: Sequence[Law], q_rows: Sequence[Law], draft: Sequence[Any]
) -> tuple[list[Any], Callable[[int], Law]]:
    """Chance to pass each test [n], and: tokens kept → law of the next token.

    Every test has its own uniform, and the *last* one passed decides: drafted tokens up to it are
    kept, whether they passed their own test or not; none passed: none is kept.
    p_rows has n + 1 laws, q_rows n; mappings or arrays, exact numbers stay exact.

    Example:
        >>> p, q = {"a": 1 / 3, "b": 2 / 3}, {"a": 2 / 3, "b": 1 / 3}
        >>> block_tests([p, p, p], [q, q], ["a", "b"])[0]  # "b" makes up for "a"
        [0.0, 1]
    """
    n, joint = len(draft), [1]  # joint[i]: p ÷ q of the first i tokens together, cut at 1 each step
    for p, q, x in zip(p_rows, q_rows, draft):
        joint.append(cut_ratio(joint[-1] * at(p, x), at(q, x)))

    def threshold(i: int) -> Any:
        """Of all that may still be missing here, what the residual fills; at the end the ratio."""
        if i == n:
            return joint[n]
        _, left = excess(p_rows[i], q_rows[i], joint[i])
        missing = left + (1 - joint[i])
        return divide(left, missing) if missing > 0 else 1  # 0/0: p = q, a later test passes

    def next_law(kept: int) -> Law:
        if kept == n:
            return p_rows[n]
        left, total = excess(p_rows[kept], q_rows[kept], joint[kept])
        return normalised(left, total) if total > 0 else p_rows[kept]

    return [threshold(i) for i in range(1, n + 1)], next_law


def last_pass(thresholds: Sequence[Any]) -> list[Any]:
    """Chances [n + 1] that the last test passed is none, the 1st, … the n-th."""
    chances, failed = [], 1
    for h in reversed(thresholds):
        chances.insert(0, failed * h)
        failed = failed * (1 - h)
    return [failed, *chances]
