"""Station 2: a long draft by a drafter that is seldom right."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from specdec import arms, theory, wasted
from specdec.arms import Arms
from specdec.machine import Step
from specdec.presets import presets
from specdec.ui import query
from specdec.ui.shown import source
from specdec.ui.stations.long_charts import MOST_K, ROUNDS, Shown, areas, map_of
from specdec.ui.stations.parts import part, question
from specdec.ui.watch import unfolded

ASKED, ASKED_K = 0.2, 16  # of the question
ARTICLE = 0.2, 4, 0.05  # α, k, c of the article's weak drafter
SEED = 0
WHENCE = {
    "recorded": "A recorded run of the small model",
    "own": "Simulated, with numbers of yours",
}
LIMITS = {
    "open": query.Choice("recorded", tuple(WHENCE)),
    "k": query.Number(16, 1, MOST_K, whole=True),
    "alpha": query.Number(0.2, 0.0, 1.0),
    "c": query.Number(0.05, 0.0, 1.0),
}


def draw(link: Mapping[str, Any]) -> dict[str, Any]:
    """Draw the station; returns its state for a link."""
    few = wasted.expected(ASKED, ASKED_K)
    question(
        "long",
        f"A drafter is right once in five times (α = {ASKED:g}) and drafts {ASKED_K} tokens a "
        "round. Of its draft passes, how many come to nothing?",
        ("About 4 in 5", "About 9 in 10", "Nearly all of them"),
        "Nearly all of them",
        f"{few.wasted / ASKED_K:.1%}: {few.accepted:.2f} of {ASKED_K} are kept on average. One "
        "wrong guess in front takes all that follow with it.",
    )
    part("do", "Draft far with a drafter that is seldom right, then shorten the draft.")
    shown, state = _controls(link)
    ends = wasted.counted(shown.steps)

    part("symptom", _symptom(shown, ends))
    alt = f"Map of {ends.accepted} accepted, {ends.rejected} rejected, {ends.discarded} discarded."
    st.plotly_chart(map_of(shown), key="long map", alt=alt, config={"displayModeBar": False})
    st.caption(f"✓ accepted · ✗ rejected · – discarded; the first {ROUNDS} rounds, place 1 on top.")
    unfolded("The rounds in numbers", "long rounds", lambda: st.table(_rounds(shown.steps)))

    part(
        "cause",
        "Guess i is written only if it *and all before it* are right: chance α·α·… = αⁱ. What a "
        "longer draft adds shrinks geometrically; what it costs, c a guess, does not. The areas: "
        f"where the draft passes of a round go at α = {shown.alpha:.2f}, by the closed form.",
    )
    alt = "Areas of accepted, rejected and discarded draft passes against k; the table has them."
    st.plotly_chart(areas(shown), key="long areas", alt=alt, config={"displayModeBar": False})

    part("cure", _cure(shown))
    st.table(_by_k(shown))
    alpha, k, c = ARTICLE
    best = theory.best_k(alpha, c)
    st.markdown(
        f"**The article's weak drafter:** α = {alpha:g}, k = {k}, c = {c:g} gives "
        f"{theory.speedup(alpha, k, c):.2f}×; the best k there is {best}, with "
        f"{theory.speedup(alpha, best, c):.2f}×. No k makes a weak drafter good."
    )
    return state


def recorded() -> Arms:
    """The small model on one text, at several k."""
    return arms.load("long")


def _controls(link: Mapping[str, Any]) -> tuple[Shown, dict[str, Any]]:
    found = recorded()
    whence = st.radio(
        "Rounds",
        list(WHENCE),
        list(WHENCE).index(link["open"]),
        key="long whence",
        format_func=WHENCE.get,
        horizontal=True,
    )
    ks = [arm.asked.k for arm in found.arms]
    if whence == "recorded":
        near = min(ks, key=lambda k: abs(k - link["k"]))
        k = st.select_slider("k, drafted tokens a round", ks, near, key="long recorded k")
        arm = found.arms[ks.index(k)]
        [title] = [preset.title for preset in presets() if preset.name == found.prompt]
        st.caption(f"{source(found)} Prompt “{title}”, {found.tokens} tokens, greedy.")
        shown = Shown(arm.steps, k, arm.alpha, arm.costs.c, arm.costs.v, arm.speedup)
        return shown, {"open": whence, "k": k}
    left, middle, right = st.columns(3)
    k = left.slider("k, drafted tokens a round", 1, MOST_K, link["k"], key="long k")
    alpha = middle.slider("α", 0.0, 1.0, link["alpha"], 0.01, key="long alpha")
    c = right.slider("c", 0.0, 1.0, link["c"], 0.01, key="long c")
    st.caption(f"**Simulated:** {ROUNDS} rounds, every guess right with chance α on its own.")
    shown = Shown(wasted.simulated(alpha, k, ROUNDS, SEED), k, alpha, c)
    return shown, {"open": whence, "k": k, "alpha": alpha, "c": c}


def _symptom(shown: Shown, ends: wasted.Ends) -> str:
    drafted = ends.accepted + ends.wasted
    time = wasted.share_of_time(ends, len(shown.steps), shown.c, shown.v)
    speed = f"**{_speed(shown):.2f}×** by the formula"
    if shown.measured is not None:
        speed = f"**{shown.measured:.2f}×** by the clock"
    return (
        f"**{ends.wasted} of {drafted}** draft passes came to nothing: {ends.rejected} rejected, "
        f"{ends.discarded} discarded behind them. That is **{time:.0%}** of the run's time, and "
        f"the speed-up is {speed}. The text is right: nothing but the clock shows it."
    )


def _speed(shown: Shown, k: int | None = None) -> float:
    return theory.speedup(shown.alpha, shown.k if k is None else k, shown.c, shown.v)


def _cure(shown: Shown) -> str:
    each = shown.c + shown.v
    best = theory.best_k(shown.alpha, shown.c, shown.v, k_max=MOST_K)
    known = f"α = {shown.alpha:.2f}, c = {shown.c:.3f}, v = {shown.v:.3f}"
    if not best:
        return (
            f"**Don't speculate with this drafter:** {known}. A guess costs c + v = {each:.3f} "
            "target passes and brings less than α: no k pays. Another drafter, or none."
        )
    return (
        f"**Draft k = {best}.** {known}: there the formula gives {_speed(shown, best):.2f}×, at "
        f"k = {shown.k} {_speed(shown):.2f}×. Stop where αᵏ no longer pays for one more guess, or "
        "let k follow what was accepted lately."
    )


def _by_k(shown: Shown) -> list[dict[str, str]]:
    """At each k: what is wasted and the speed-up at this α and c, and what was measured."""
    clock = {arm.asked.k: arm for arm in recorded().arms} if shown.measured is not None else {}
    best = theory.best_k(shown.alpha, shown.c, shown.v, k_max=MOST_K)
    rows = []
    for k in sorted({1, 2, 4, 8, 16, shown.k, best} - {0}):
        ends = wasted.expected(shown.alpha, k)
        row = {
            "k": f"{k}, the best" if k == best else str(k),
            "kept a round": f"{ends.accepted:.2f}",
            "rejected": f"{ends.rejected:.2f}",
            "discarded": f"{ends.discarded:.2f}",
            "speed-up, formula": f"{_speed(shown, k):.2f}×",
        }
        if clock:
            row["measured"] = f"{clock[k].speedup:.2f}×" if k in clock else "not run"
        rows.append(row)
    return rows


def _rounds(steps: Sequence[Step]) -> list[dict[str, str]]:
    return [
        {
            "round": str(i),
            "drafted": str(step.drafted),
            "accepted": str(step.accepted),
            "rejected": str(step.rejected),
            "discarded": str(step.drafted - step.judged),
        }
        for i, step in enumerate(steps, 1)
    ]
