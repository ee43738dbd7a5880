"""Station 8: the drafter too weak and the drafter too slow, and all that lies between."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from specdec import arms
from specdec.arms import Arm, Arms
from specdec.between import Drafter
from specdec.presets import presets
from specdec.ui import query, scenes
from specdec.ui.shown import source
from specdec.ui.stage import stage
from specdec.ui.stations.endings_charts import MOST_K, Way, along, key_of, plane
from specdec.ui.stations.parts import part, question

PLOT = {"config": {"displayModeBar": False}}
ENDINGS = ("weak", "perfect")  # scenes of the kiln
GUESSES = ("Up to a third of them", "About half", "Nearly all", "None of these pays")
NAMES = {"model": "the small model", "lookup": "prompt lookup", "target": "the target itself"}
LIMITS = {
    "open": query.Text("", 40),
    "k": query.Number(4, 1, MOST_K, whole=True),
    "step": query.Number(50, 0, 100, whole=True),
}


def draw(link: Mapping[str, Any]) -> dict[str, Any]:
    """Draw the station; returns its state for a link."""
    found = arms.load("endings")
    _question(found)
    part(
        "do",
        "Walk from one real drafter to another. Each end was run on the default target; between "
        "them α, c and v are drawn as straight lines, which no drafter has to follow.",
    )
    way = _controls(found, link)
    [title] = [preset.title for preset in presets() if preset.name == found.prompt]
    st.caption(
        f"{source(found)} Prompt “{title}”, {found.tokens} tokens, greedy, every drafter once: "
        "other work on that machine moved its times, by up to some forty percent."
    )

    part("symptom", _symptom(way))
    alt = "The speed-up along the way, at the chosen k and at the best k of each point."
    st.plotly_chart(along(way), key="endings along", alt=alt, **PLOT)
    st.markdown("**The article's two endings**, on its toy tables:")
    name = st.radio(
        "Ending",
        ENDINGS,
        key="endings scene",
        format_func=lambda name: _scene(name).title,
        horizontal=True,
        label_visibility="collapsed",
    )
    _toy(_scene(name), way.k)

    part(
        "cause",
        "α and c pull against each other: what makes a drafter right, more layers and more "
        "weights, makes it slow. A draft of k pays above the break-even line alone; it starts at "
        "0 and reaches α = 1 where c + v = 1.",
    )
    alt = "Recorded drafters by c and α, with the break-even line; the table below has them."
    st.plotly_chart(plane(found, way), key="endings plane", alt=alt, **PLOT)

    part("cure", _cure(found))
    st.table([_row(found, arm) for arm in found.arms])
    ends = f"{key_of(way.one)}~{key_of(way.other)}"
    return {"open": ends, "k": way.k, "step": round(100 * way.share)}


def _words(found: Arms, arm: Arm) -> str:
    asked = arm.asked
    if asked.name == "early-exit":
        return f"the target's first {asked.layers} of {found.layers} layers"
    return NAMES[asked.name]


def _question(found: Arms) -> None:
    exits = [arm for arm in found.arms if arm.asked.name == "early-exit"]
    best = max(exits, key=lambda arm: arm.speedup)
    part_of = best.asked.layers / found.layers
    right = GUESSES[
        3 if best.speedup <= 1 else 0 if part_of <= 1 / 3 else 1 if part_of < 2 / 3 else 2
    ]
    few, many = exits[0], exits[-1]
    question(
        "endings",
        f"The first layers of the target itself can draft: {few.asked.layers} of {found.layers} "
        f"are cheap, {many.asked.layers} are nearly the target. How many layers should it be?",
        GUESSES,
        right,
        f"With {few.asked.layers} layers α = {few.alpha:.2f} at c = {few.costs.c:.2f}: "
        f"{few.speedup:.2f}×. With {many.asked.layers}: α = {many.alpha:.2f}, "
        f"c = {many.costs.c:.2f}, {many.speedup:.2f}×. The best of those measured, "
        f"{best.asked.layers} layers, gave {best.speedup:.2f}×: this target was never trained to "
        "say early what it thinks.",
    )


def _controls(found: Arms, link: Mapping[str, Any]) -> Way:
    by_key = {key_of(arm): arm for arm in found.arms}
    keys = list(by_key)
    asked = [key for key in link["open"].split("~") if key in by_key]
    one, other = asked if len(asked) == 2 else (keys[2], keys[-1])
    ends = []
    for column, at, label, key in zip(
        st.columns(2), (one, other), ("From", "To"), ("endings from", "endings to")
    ):
        chosen = column.selectbox(
            label, keys, keys.index(at), key=key, format_func=lambda k: _words(found, by_key[k])
        )
        ends.append(by_key[chosen])
    left, right = st.columns(2)
    share = left.slider("Along the way, %", 0, 100, link["step"], 5, key="endings share")
    k = right.slider("k, drafted tokens a round", 1, MOST_K, link["k"], key="endings k")
    return Way(*ends, share / 100, k)


def _symptom(way: Way) -> str:
    at, k = way.drafter, way.k
    best, top = at.best(MOST_K)
    even = at.break_even(k)
    line = "no α pays at this cost" if even is None else f"it pays from α = {even:.2f} on"
    advice = f"the best k is {best}, with {top:.2f}×" if best else "no k pays: the best k is 0"
    slow = "▼ Slower than no drafter at all; the text is right all the same."
    return (
        f"**α = {at.alpha:.2f}, c = {at.c:.2f}, v = {at.v:.3f}:** at k = {k} the speed-up is "
        f"**{at.speedup(k):.2f}×**; {line}; {advice}. {'▲ It pays.' if at.speedup(k) > 1 else slow}"
    )


def _scene(name: str) -> scenes.Scene:
    return next(scene for scene in scenes.SCENES if scene.name == name)


def _toy(scene: scenes.Scene, k: int) -> None:
    show = scenes.opening(scene, k)
    stage(show.trace, key=f"endings {scene.name} {k}", plain=show.plain, costs=show.costs)
    tokens, passes, drafts = (
        len(show.trace.token_ids),
        show.trace.target_passes,
        show.trace.draft_passes,
    )
    units = passes + drafts * scene.c
    st.markdown(
        f"{tokens} words: {passes} target passes and {drafts} draft passes of {scene.c:g} each are "
        f"{units:.1f} units of time; plain decoding takes {show.plain.target_passes}: "
        f"**{show.plain.target_passes / units:.2f}×**."
    )


def _cure(found: Arms) -> str:
    tops = {arm: Drafter.of(arm).best(MOST_K) for arm in found.arms}
    best = max(tops, key=lambda arm: tops[arm][1])
    k, speed = tops[best]
    return (
        "Judge a drafter by α *and* c: compare speed-ups at each one's own best k, never α alone. "
        f"Of these, {_words(found, best)} wins on this text, k = {k}, {speed:.2f}× by the formula. "
        "A cheap drafter trained to agree with its target beats a piece of the target."
    )


def _row(found: Arms, arm: Arm) -> dict[str, str]:
    at, asked = Drafter.of(arm), arm.asked
    k, top = at.best(MOST_K)
    even = at.break_even(asked.k)
    return {
        "drafter": f"{_words(found, arm)} ({key_of(arm)})",
        "α": f"{at.alpha:.2f}",
        "c": f"{at.c:.2f}",
        f"break-even α, k = {asked.k}": "none" if even is None else f"{even:.2f}",
        f"formula, k = {asked.k}": f"{at.speedup(asked.k):.2f}×",
        "measured": f"{arm.speedup:.2f}×",
        "best k": f"{k}: {top:.2f}×" if k else "0: don't",
    }
