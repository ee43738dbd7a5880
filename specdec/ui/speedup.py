"""What page 4 says about its curve: the question before it, the verdict, the formula worked out."""

from __future__ import annotations

import math
from dataclasses import dataclass

from specdec import theory
from specdec.ui.live_curve import K_MAX, Point

PRESETS = {
    "Weak drafter": Point(4, 0.2, 0.05),
    "Good and cheap": Point(4, 0.8, 0.05),
    "Accurate but slow": Point(4, 0.95, 0.5),
}
FEW, MANY = 4, 16
ASKED, ANSWER = Point(FEW, 0.8, 0.05), Point(MANY, 0.8, 0.05)  # the question before the curve
GUESSES = ("Much faster: four times the tokens", "A little faster", "Slower than before")


@dataclass(frozen=True)
class Figure:
    """A number with its name and what it means."""

    label: str
    value: str
    meaning: str


def verdict(at: Point) -> str:
    """Should one speculate, and with which k? A sentence or two that start with the answer."""
    each, now = at.c + at.v, theory.speedup(at.alpha, at.k, at.c, at.v)
    best = theory.best_k(at.alpha, at.c, at.v, K_MAX)
    peak = theory.speedup(at.alpha, best, at.c, at.v)
    if best == 0:
        return (
            f"**▼ Do not speculate:** α ≤ c + v ({at.alpha:g} ≤ {each:g}). Even the first drafted "
            "token brings no more than it costs, and later ones bring less."
        )
    if at.k == 0:
        return f"**= Plain decoding:** nothing is drafted. {_best_words(best, peak, at)}"
    if now < 1:
        return (
            f"**▼ Not with this k:** at k = {at.k} the discarded drafts cost more than the "
            f"accepted ones save ({now:.2f}×). {_best_words(best, peak, at)}"
        )
    if not theory.has_finite_best_k(at.alpha, at.c, at.v):
        return f"**▲ Speculate:** {now:.2f}×. {_limit_words(at)}"
    if at.k == best:
        return f"**▲ Speculate, with this k:** {now:.2f}×, and no other k does better."
    if f"{now:.2f}" == f"{peak:.2f}":
        return f"**▲ Speculate:** {now:.2f}×. k = {best} is best, but not by a hundredth."
    return f"**▲ Speculate:** {now:.2f}×. {_best_words(best, peak, at)}"


def _best_words(best: int, peak: float, at: Point) -> str:
    if not theory.has_finite_best_k(at.alpha, at.c, at.v):
        return _limit_words(at)
    return f"The best is k = {best}, with {peak:.2f}×."


def _limit_words(at: Point) -> str:
    """Where no k is best: what the speed-up tends to as k grows."""
    free = at.c + at.v == 0
    if free and at.alpha == 1:
        return "Every draft is free and accepted: the formula grows with k without end."
    why = "Drafting costs nothing here" if free else "Every drafted token is accepted here"
    limit = 1 / (1 - at.alpha) if free else 1 / (at.c + at.v)
    formula = "1 / (1 − α)" if free else "1 / (c + v)"
    return (
        f"{why}, so each further token still gains and no k is best; "
        f"the speed-up tends to {formula} = {limit:.2f}×, never beyond."
    )


def worked(at: Point) -> tuple[Figure, ...]:
    """The formula with the numbers put in, a step each; `value` is LaTeX."""
    each, tokens = at.c + at.v, theory.tokens_per_pass(at.alpha, at.k)
    cost, following = 1 + at.k * each, at.alpha ** (at.k + 1)
    yields = rf"k + 1 = {at.k + 1}"  # α = 1: all of them
    if at.alpha < 1:
        ends = rf"\frac{{1-{at.alpha:g}^{{{at.k + 1}}}}}{{1-{at.alpha:g}}}"
        yields = rf"\frac{{1-\alpha^{{k+1}}}}{{1-\alpha}} = {ends} = {tokens:.4g}"
    gain, price = following / tokens, each / cost
    pays = theory.best_k(at.alpha, at.c, at.v, at.k + 1) > at.k
    sign = ">" if pays else "=" if math.isclose(gain, price) else "<"
    return (
        Figure("Tokens per target pass", yields, "the target's own, and the accepted ones"),
        Figure(
            "Cost of a round, in target passes",
            rf"\begin{{aligned}}1 + k\,(c + v) &= 1 + {at.k}\,({at.c:g} + {at.v:g})"
            rf"\\&= {cost:.4g}\end{{aligned}}",
            "one target pass, k drafter passes, k more positions",
        ),
        Figure(
            "Speed-up",
            rf"\frac{{{tokens:.4g}}}{{{cost:.4g}}} = \mathbf{{{tokens / cost:.2f}}}",
            "tokens for the time of one plain pass each",
        ),
        Figure(
            "One drafted token more?",
            rf"\frac{{\alpha^{{k+1}}}}{{{tokens:.4g}}} = {gain:.1%}"
            rf" \;{sign}\; "
            rf"\frac{{c+v}}{{{cost:.4g}}} = {price:.1%}".replace("%", r"\,\%"),
            "it pays while tokens grow by more than the cost does",
        ),
    )


def notices(at: Point) -> tuple[str, ...]:
    """What to look for, with the numbers where the sliders stand."""
    last, paid = at.alpha**at.k, at.c + at.v
    yields = (theory.tokens_per_pass(at.alpha, at.k) - 1) / at.k if at.k else None
    weak, slow = PRESETS["Weak drafter"], PRESETS["Accurate but slow"]
    weak_best = theory.best_k(weak.alpha, weak.c)
    return (
        "**Why it bends.** The last of k drafted tokens counts only if all k are accepted: "
        f"$\\alpha^k$ = {last:.3g}. Its price, c + v = {paid:g}, is paid in every round.",
        f"**A weak drafter wants a short draft.** At α = {weak.alpha:g} the best k is {weak_best}; "
        f"drafting {weak.k} brings {_times(weak)} and most drafts are for nothing.",
        f"**Often right is not enough.** At α = {slow.alpha:g} a pass writes "
        f"{theory.tokens_per_pass(slow.alpha, slow.k):.2f} tokens, but with c = {slow.c:g} "
        f"that is only {_times(slow)}.",
        _flat_words(PRESETS["Good and cheap"]),
        "**α is not what engines log.** They divide accepted by *drafted*, which falls with k: "
        + (f"here {yields:.2f} for α = {at.alpha:g}." if at.k else "set k above 0 to see it."),
    )


def _flat_words(at: Point) -> str:
    """How little the neighbours of the best k lose, and how much half and twice as many do."""
    best = theory.best_k(at.alpha, at.c, at.v)
    beside, far = (
        1
        - min(theory.speedup(at.alpha, ks, at.c, at.v)) / theory.speedup(at.alpha, best, at.c, at.v)
        for ks in ([best - 1, best + 1], [best // 2, 2 * best])
    )
    return (
        f"**The peak is flat.** At α = {at.alpha:g}, c = {at.c:g} the best k is {best}: one more "
        f"or fewer loses {beside:.1%} at most, half or twice as many {far:.0%}."
    )


def question() -> str:
    """The guess to make before the curve."""
    return (
        f"**Guess first.** Of ten judged tokens {10 * ASKED.alpha:g} are accepted, and a drafter "
        f"pass takes {ASKED.c:g} of a target pass. Drafting {FEW} tokens a round "
        f"makes decoding {_times(ASKED)} as fast. And {MANY} tokens a round?"
    )


def answer(guess: str) -> tuple[bool, str]:
    """Whether the guess was right, and what is."""
    few, many = (theory.speedup(ASKED.alpha, k, ASKED.c) for k in (FEW, MANY))
    right = GUESSES[2 if many < few else 1 if many < 2 * few else 0]
    best = theory.best_k(ASKED.alpha, ASKED.c)
    return guess == right, (
        f"With {MANY} it is {many:.2f}×, with {FEW} {few:.2f}×, and the best is k = {best} with "
        f"{theory.speedup(ASKED.alpha, best, ASKED.c):.2f}×. The {MANY}th token is accepted in "
        f"{ASKED.alpha**MANY:.1%} of the rounds and drafted in all of them."
    )


def _times(at: Point) -> str:
    return f"{theory.speedup(at.alpha, at.k, at.c, at.v):.2f}×"
