"""The losslessness lab: rules for one position, right and wrong, proved and played out."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import streamlit as st

from specdec import lab
from specdec.lab import experiment
from specdec.lab.draws import MOST
from specdec.lab.experiment import Asked, Found
from specdec.lab.laws import at_temperature
from specdec.ui import lab_charts, lab_pair, lab_settings, lab_words
from specdec.ui.overlap_laws import examples
from specdec.ui.watch import watched

CANVAS, TRAP = "The canvas above", "Two tokens, a sure drafter"
TRAP_LAWS = ("a", "b"), (Fraction(1, 2),) * 2, (Fraction(9, 10), Fraction(1, 10))
AT_FIRST = ("pq", "match", "from p", "only x")
NUMBERS = tuple(m * 10**e for e in (3, 4, 5) for m in (1, 3)) + (MOST,)
Law = Sequence[Any]


def lab_panel(p: Law, q: Law, names: Sequence[str], temperature: float = 1.0) -> None:
    """The whole lab; p, q, names: the canvas's laws, in fractions, and its temperature."""
    st.subheader("The losslessness lab")
    st.markdown(
        "**Would you notice a wrong rule?** Each rule below writes tokens from the same p and q. "
        "The table says what they tend to, exactly. Then draw: the error of a right rule falls "
        "for ever, that of a wrong one stops at its bias."
    )
    asked = _controls(p, q, names, temperature)
    if asked is None:
        return
    lab_words.table(asked)
    watched(
        "lab",
        "Draw",
        lambda job: experiment.run(asked, job.say, lambda: job.cancelled),
        lambda found: found and _results(found, asked),
    )
    lab_words.stories(asked)


def real_panels() -> None:
    """Whole sequences and α by setting, on the real pair: recorded, drawn anew on request."""
    lab_pair.sequences_panel()
    lab_settings.overlaps_panel()


def _controls(p: Law, q: Law, names: Sequence[str], temperature: float) -> Asked | None:
    """The settings; None, with a sentence, where there are no laws to work with."""
    left, right = st.columns([3, 2], gap="large")
    known = {e.title: e.laws for e in examples()}
    with right:
        where = st.selectbox("Laws", [CANVAS, *known, TRAP], key="lab laws")
        n = st.select_slider(
            "Draws of each rule", NUMBERS, 10**5, format_func="{:,}".format, key="lab n"
        )
        seed = st.number_input("Seed of the draws", 0, 2**32 - 1, 0, key="lab seed")
    with left:
        chosen = [*_pick(True, "Lossless rules"), *_pick(False, "Wrong rules")]
    if where == TRAP:
        names, p, q = TRAP_LAWS
    elif where != CANVAS:
        laws = known[where]
        names, p, q, temperature = laws.names, laws.p, laws.q, laws.temperature
    try:
        exact = [lab.exact_law(law, name) for law, name in ((p, "p"), (q, "q"))]
    except ValueError as error:
        st.info(f"{error} Mend it on the canvas, or choose other laws here.")
        return None
    if not chosen:
        st.info("Choose at least one rule.")
        return None
    laws = [tuple(at_temperature(law, temperature).tolist()) for law in exact]
    return Asked(tuple(chosen), tuple(names), *laws, int(n), int(seed))


def _pick(lossless: bool, label: str) -> list[str]:
    rules = [r.name for r in lab.RULES if r.lossless == lossless]
    return st.pills(
        label,
        rules,
        selection_mode="multi",
        default=[name for name in rules if name in AT_FIRST],
        format_func=lambda name: lab.by_name(name).title,
        key=f"lab {label}",
        wrap=True,
    )


def _results(found: Found, asked: Asked) -> None:
    if found.asked != asked:
        st.caption("Drawn with other settings than those above; draw again to see these.")
    short = any(draws.n < found.asked.n for draws in found.one.values())
    if short or len(found.one) < len(found.asked.rules):
        st.caption("Cancelled: this is what was drawn until then.")
    if not found.one:
        return
    left, right = st.columns(2, gap="large")
    with left:
        st.plotly_chart(
            lab_charts.shares(found),
            key="lab shares",
            alt=lab_words.shares_alt(found),
            config={"displayModeBar": False},
        )
        lab_words.shares_table(found)
    with right:
        st.plotly_chart(
            lab_charts.errors(found),
            key="lab errors",
            alt=lab_words.errors_alt(found),
            config={"displayModeBar": False},
        )
        lab_words.errors_table(found)
    lab_words.drawn_table(found)
    if found.two:
        lab_words.two_table(found)
