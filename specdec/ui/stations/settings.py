"""Station 4: temperature and top-p in one place of the loop, and forgotten in another."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import plotly.graph_objects as go
import streamlit as st

from specdec.lab import forgotten, forgotten_pair
from specdec.lab.forgotten import PLACES, Laws, Place
from specdec.lab.forgotten_pair import Forgotten, Head, Way
from specdec.law import Sampling
from specdec.presets import presets
from specdec.ui import engine, query
from specdec.ui.job import Job
from specdec.ui.literal import literal
from specdec.ui.live_rates import number
from specdec.ui.shown import source
from specdec.ui.stations.marked import around, parting, shown
from specdec.ui.stations.parts import part, question
from specdec.ui.watch import watched

TITLES = {place.name: place.title for place in PLACES}
LIMITS = {
    "open": query.Choice("under", tuple(TITLES)),
    "T": query.Number(0.6, 0.1, 2.0),
    "top_p": query.Number(0.9, 0.05, 1.0),
    "step": query.Number(0, 0, forgotten_pair.HEADS - 1, whole=True),
}
TINY = 1e-12  # total variation below which two laws of floats are the same
CAUSES = {
    "nowhere": "One function makes every law, and the array that a token was drawn from is the "
    "array in its ratio: drafts, tests, residual and bonus cannot disagree.",
    "draw": "The draft comes from the raw q, the ratio divides by q with the settings. Tokens that "
    "the settings cut have q = 0 there, and those that they favour are drawn too seldom for it.",
    "under": "The draft comes from q with the settings, the ratio divides by the raw q. The "
    "settings made the likely tokens likelier; the ratio does not know, and keeps them too "
    "readily.",
    "over": "The test asks whether the target *without* settings wants the token. What top-p "
    "would have cut is kept, and at low temperature the likely is rejected too often.",
    "residual": "The test is right, what replaces a lost token is not: max(0, p − q) of the raw "
    "laws is another law, and reaches tokens that the settings cut.",
    "bonus": "Every judged token is right. Only the token after a full acceptance is drawn from "
    "the raw p: the better the drafter, the more of the text is wrong.",
    "drafter": "Nothing is wrong. q may be any law, as long as the draft, the ratio and the "
    "residual all mean the same one. It only lies further from p, so more is rejected.",
    "target": "The rule keeps its promise: it writes exactly the law that it was given as p. That "
    "was the raw one, so the settings have no effect at all.",
}


def place_of(head: Head) -> str:
    """The text before a position, and a mark where the position is."""
    before = literal(head.before[-90:]) or "The first token of the answer:"
    return f"{'… ' * (len(head.before) > 90)}{before} **⟦?⟧**"


def draw(link: Mapping[str, Any]) -> dict[str, Any]:
    """Draw the station; returns its state for a link."""
    recorded = forgotten_pair.recorded()
    _question(recorded)
    part(
        "do",
        "Set temperature and top-p, and choose where the loop forgets them: that step takes the "
        "raw law, the others the law with the settings. Below is one position of a real text, cut "
        f"to its {forgotten_pair.WIDE} likeliest tokens; all of it is added up, nothing drawn.",
    )
    place, sampling, step = _controls(link, recorded.heads)
    head = recorded.heads[step]
    laws = head.laws(sampling)
    st.markdown(place_of(head))

    part("symptom", symptom(place, laws))
    st.plotly_chart(
        _bars(head, place, laws),
        key="settings bars",
        alt="Bars of p and of what is written, by token; the table has the numbers.",
        config={"displayModeBar": False},
    )
    st.table(_tokens(head, place, laws))
    part("cause", CAUSES[place.name])
    st.markdown("**The text that it changes.** The same prompt and seed, on the real pair:")
    watched(
        "settings job",
        "Decode with these settings on this machine",
        lambda job: _measure(job, sampling),
        lambda found: _texts(found or recorded, place),
        engine.progress,
    )
    part(
        "cure",
        "Apply the settings in **one** function, at one place, to the logits of both models, and "
        "hand on the array itself: the law that a token was drawn from *is* the law in its ratio "
        "and in the residual. Test it by adding up all drafts at one position: what is written "
        "must be p, not nearly p.",
    )
    return {"open": place.name, "T": sampling.temperature, "top_p": sampling.top_p, "step": step}


def _question(found: Forgotten) -> None:
    ways = {way.place: way for way in found.ways}
    right, forgot = (_alpha(ways[name]) for name in ("nowhere", "drafter"))
    question(
        "settings",
        "Nobody told the *drafter* about temperature and top-p: it draws from its raw q, and the "
        "ratio and the residual use that same raw q. The target has the settings. What is written?",
        ("A text with a bias", "Exactly p", "An error"),
        "Exactly p",
        "Any q is lossless if it is the one that the token was drawn from. What changes is how "
        f"often it is kept: in the recorded run α is {number(forgot)} instead of {number(right)}.",
    )


def _controls(link: Mapping[str, Any], heads: tuple[Head, ...]) -> tuple[Place, Sampling, int]:
    names = list(TITLES)
    left, right = st.columns(2)
    name = left.radio(
        "Forgotten in",
        names,
        names.index(link["open"]),
        key="settings place",
        format_func=TITLES.get,
    )
    temperature = right.slider("Temperature", 0.1, 2.0, link["T"], 0.05, key="settings T")
    top_p = right.slider("Top-p", 0.05, 1.0, link["top_p"], 0.05, key="settings top-p")
    step = right.select_slider(
        "Position of the text",
        range(len(heads)),
        min(link["step"], len(heads) - 1),
        key="settings position",
        format_func=lambda i: _after(heads[i]),
    )
    return forgotten.by_name(name), Sampling(temperature=temperature, top_p=top_p), step


def _after(head: Head) -> str:
    words = head.before.split()[-3:]
    return f"after “{' '.join(words)}”" if words else "the first token"


def symptom(place: Place, laws: Laws) -> str:
    """How far from p the law of a written token is, and how often drafts are kept."""
    judged, bonus = map(float, forgotten.bias(place, laws))
    kept = (forgotten.alpha(one, laws) for one in (place, PLACES[0]))
    rate = "α is {:.2f}, with the settings everywhere {:.2f}.".format(*map(float, kept))
    if max(judged, bonus) < TINY:
        return f"**✓ What is written is exactly p.** {rate}"
    parts = [
        f"{words} is **{x:.3f}** from p"
        for words, x in (("a judged token", judged), ("a bonus token", bonus))
        if x >= TINY
    ]
    return (
        f"**✗ A bias.** In total variation {' and '.join(parts)}: up to so much is the chance of "
        f"some event wrong, at every position like this. {rate} The text still reads well."
    )


def _bars(head: Head, place: Place, laws: Laws) -> go.Figure:
    names = [f"{i + 1} {token.text.strip() or '⏎'}" for i, token in enumerate(head.tokens)]
    series = (
        ("p, with the settings", laws.p, "#767676", ""),
        ("a judged token", forgotten.judged_law(place, laws), "#D55E00", "/"),
        ("a bonus token", place.bonus(laws), "#0072B2", "x"),
    )
    figure = go.Figure()
    for name, law, colour, pattern in series:
        marker = {"color": colour, "pattern": {"shape": pattern, "fillmode": "overlay"}}
        figure.add_bar(name=name, x=names, y=law.astype(float), marker=marker)
    return figure.update_layout(
        barmode="group",
        height=320,
        margin={"t": 30, "b": 10, "l": 10, "r": 10},
        yaxis={"title": "chance", "rangemode": "tozero"},
        legend={"orientation": "h", "y": 1.15},
    )


def _tokens(head: Head, place: Place, laws: Laws) -> list[dict[str, str]]:
    judged, bonus = forgotten.judged_law(place, laws), place.bonus(laws)
    return [
        {
            "token": f"“{shown(token.text)}”",
            "raw p": f"{laws.raw_p[i]:.3f}",
            "raw q": f"{laws.raw_q[i]:.3f}",
            "p": f"{laws.p[i]:.3f}",
            "q": f"{laws.q[i]:.3f}",
            "a judged token": f"{judged[i]:.3f}",
            "a bonus token": f"{bonus[i]:.3f}",
        }
        for i, token in enumerate(head.tokens)
    ]


def _measure(job: Job, sampling: Sampling) -> Forgotten | None:
    pair = engine.load()
    [story] = [p for p in presets() if p.name == "story"]
    turn = lambda: engine.GATE.turn(job)  # noqa: E731
    for share, found in forgotten_pair.measure(pair, story, sampling=sampling, turn=turn):
        job.say(share, "Decoding, and adding up the laws of every position")
        job.result = found
        if job.cancelled:
            break
    return job.result


def _texts(found: Forgotten, place: Place) -> None:
    s = found.sampling
    st.caption(
        f"{source(found)} Prompt “{found.preset}”, seed {found.seed}, k = {found.k}, temperature "
        f"{s.temperature:g}, top-p {s.top_p:g}; these settings are the run's own."
    )
    ways = {way.place: way for way in found.ways}
    if place.name not in ways:
        st.info("This place was not reached before the run was cancelled.")
        return
    right, way = ways["nowhere"].tokens, ways[place.name].tokens
    at = parting(right, way)
    if at is None:
        st.markdown(f"**Both:** {literal(''.join(t.text for t in way))}")
    else:
        st.markdown(f"**The engine:** {around(right, at, 400, 400)}")
        st.markdown(f"**{place.title}:** {around(way, at, 400, 400)}")
        until = "until there every decision came out the same" if at else "at once"
        st.markdown(f"They part at token {at + 1}: {until}.")
    if place.name == "drafter" and at is not None:
        st.markdown("Another text, by the same law: the drafts differ, p does not.")
    st.markdown("Every place in numbers, over the positions of that text and the whole vocabulary:")
    st.table([_row(way) for way in found.ways])


def _row(way: Way) -> dict[str, str]:
    lossless = max(way.most, way.bonus) < TINY
    return {
        "forgotten in": TITLES[way.place],
        "": "✓ lossless" if lossless else "✗ biased",
        "bias where judged: mean": f"{way.judged:.3f}",
        "the largest": f"{way.most:.3f}",
        "of a bonus: mean": f"{way.bonus:.3f}",
        "α of the run": number(_alpha(way)),
    }


def _alpha(way: Way) -> float | None:
    judged = way.accepted + way.rejected
    return way.accepted / judged if judged else None
