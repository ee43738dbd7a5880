"""The lab with two real models: whole sequences in four ways, against their exact law."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go
import streamlit as st

from specdec.lab import sequences, stored
from specdec.lab.band import band
from specdec.lab.sequences import Sequences, Way
from specdec.ui import engine
from specdec.ui.job import Job
from specdec.ui.lab_charts import mark_law, room
from specdec.ui.shown import source
from specdec.ui.watch import unfolded, watched

TITLES = {
    "plain": "The target alone",
    "pq": "min(1, p/q)",
    "match": "Sampler-match",
    "block": "Block verification",
}
STYLES = {  # as in the lab above: a colour and a pattern each
    "plain": ("#767676", ""),
    "pq": ("#009E73", "/"),
    "match": ("#0072B2", "x"),
    "block": ("#D55E00", "."),
}
SHOWN = 12  # pairs in the chart; the table has all
CONFIG = {"displayModeBar": False}


def sequences_panel() -> None:
    """Two tokens of the real pair, hundreds of times, in four ways."""
    st.subheader("Whole sequences from two real models")
    st.markdown(
        "The proof is about one position; a text has many, and a round ends where it ends. So the "
        "same prompt is continued many times, by the target alone and by the round loop under each "
        "rule. What should come out is known exactly, from the target's own laws: compare."
    )
    unfolded("Two tokens, hundreds of times, in four ways", "pairs open", _opened)


def _opened() -> None:
    left, right = st.columns(2, gap="large")
    n = left.select_slider("Continuations in each way", (50, 100, 200, 400), 200, key="pairs n")
    seed = right.number_input("First seed", 0, 2**31 - 1, 0, key="pairs seed")
    watched(
        "pairs",
        "Draw again on this machine",
        lambda job: _draw(job, int(n), int(seed)),
        lambda found: _sequences(found or stored.load(sequences.FILE)),
        engine.progress,
    )


def _draw(job: Job, n: int, seed: int) -> Sequences:
    pair, done = engine.load(), 0
    steps = sequences.draw(
        pair,
        stored.PROMPT,
        n=n,
        seed=seed,
        sampling=stored.SAMPLING,
        turn=lambda: engine.GATE.turn(job),
    )
    for found in steps:
        job.result, done = found, done + 1
        job.say(done / (n * len(sequences.WAYS)), TITLES[found.ways[-1].name])
        if job.cancelled:
            break
    return found


def _sequences(found: Sequences) -> None:
    cells = np.array(list(found.cells.values()))
    texts = pair_texts(found)
    st.caption(source(found))
    st.markdown(
        f"“{found.prompt} …”: {len(cells)} pairs of tokens are possible at temperature "
        f"{found.sampling.temperature:g} with top-k {found.sampling.top_k}."
    )
    order = np.argsort(-cells, kind="stable")[:SHOWN]
    st.plotly_chart(
        _bars(found, cells, texts, order),
        key="pairs chart",
        alt=_bars_alt(found, cells, texts, order),
        config=CONFIG,
    )
    with st.expander("All pairs in numbers"):
        shares = {TITLES[way.name]: found.shares(way) for way in found.ways}
        st.table(
            [
                {"continuation": texts[i], "exact": f"{cells[i]:.4f}"}
                | {title: f"{values[i]:.4f}" for title, values in shares.items()}
                for i in np.argsort(-cells, kind="stable")
            ]
        )
    st.table([_row(found, way, cells) for way in found.ways])
    if words := same_pairs(found):
        st.markdown(words)


def pair_texts(found: Sequences) -> list[str]:
    """The text of every possible pair, in the order of `cells`."""
    return [
        (b.token.text + t.text).replace("\n", "⏎").strip(" ") or "␣"
        for b in found.law
        for t, _ in b.then
    ]


def _bars(found: Sequences, cells: np.ndarray, texts: Sequence[str], order) -> go.Figure:
    figure = go.Figure()
    for way in found.ways:
        colour, pattern = STYLES[way.name]
        figure.add_bar(
            name=TITLES[way.name],
            x=[texts[i] for i in order],
            y=found.shares(way)[order],
            marker={
                "color": colour,
                "pattern": {"shape": pattern, "solidity": 0.3, "fillmode": "overlay"},
            },
        )
    mark_law(figure, cells[order])
    figure.update_layout(
        title="Likeliest continuations, beside p",
        barmode="group",
        yaxis={"title": "share", "rangemode": "tozero"},
        **room(len(found.ways) + 5),
    )
    return figure


def _bars_alt(found: Sequences, cells: np.ndarray, texts: Sequence[str], order) -> str:
    rows = [f"{texts[i]}: exact {cells[i]:.3f}" for i in order]
    for way in found.ways:
        shares = found.shares(way)
        rows = [f"{row}, {TITLES[way.name]} {shares[i]:.3f}" for row, i in zip(rows, order)]
    return "Bars of the share of each continuation, the exact chance marked. " + "; ".join(rows)


def _row(found: Sequences, way: Way, cells: np.ndarray) -> dict[str, str]:
    error = float(np.abs(found.shares(way) - cells).sum() / 2)
    edges = band(cells, [way.n])
    inside = edges.low[0] <= error <= edges.high[0]
    word = "✓ inside" if inside else "✗ above" if error > edges.high[0] else "below, by luck"
    return {
        "way": TITLES[way.name],
        "continuations": f"{way.n}",
        "error": f"{error:.4f}",
        "99 % of honest draws": f"{edges.low[0]:.4f} to {edges.high[0]:.4f}: {word}",
        "accepted of written": accepted_share(way),
    }


def accepted_share(way: Way) -> str:
    """Which part of the written tokens are accepted drafts, with its standard error."""
    written = way.accepted + way.rejected  # no bonus: the drafts reach beyond two tokens
    if not written:
        return "–"
    share = way.accepted / written
    return f"{share:.3f} ± {np.sqrt(share * (1 - share) / written):.3f}"


def same_pairs(found: Sequences) -> str:
    """What sampler-match shares with plain decoding beyond the law: with equal seeds, all."""
    ways = {way.name: way for way in found.ways}
    if "match" not in ways or ways["match"].n != ways["plain"].n:
        return ""
    if ways["match"].drawn == ways["plain"].drawn:
        return (
            "Sampler-match wrote the *very same* continuations as the target alone, draw for draw: "
            "with the same seed it writes the target's own draws. The others share the law only."
        )
    return "✗ Sampler-match and the target alone differ, though they share their seeds: report it."
