"""The speed-up: how many tokens to draft, and whether to draft at all."""

from __future__ import annotations

import streamlit as st

from specdec.ui import (
    shell,
    speedup,
    speedup_at,
    speedup_back,
    speedup_costs,
    speedup_headlines,
    speedup_map,
    speedup_pins,
    speedup_rounds,
    speedup_runs,
    speedup_tables,
)
from specdec.ui.live_curve import live_curve
from specdec.ui.measured import measured

shell.begin("speedup")
at, runs = speedup_at.current(), measured()
shell.notes(at.notes)

with st.container(border=True):
    st.markdown(speedup.question())
    guess = st.radio(
        "Your guess", speedup.GUESSES, index=None, key="guess", label_visibility="collapsed"
    )
    if guess:
        right, explanation = speedup.answer(guess)
        st.markdown(f"**{'✓ Right.' if right else '✗ Not so.'}** {explanation}")
        show = f"Show k = {speedup.MANY} on the curve"
        st.button(show, on_click=speedup_at.go, args=(speedup.ANSWER,))

st.markdown("Three drafters to start from:")
with st.container(horizontal=True):
    for name, point in speedup.PRESETS.items():
        label = f"{name} · α {point.alpha:g}, c {point.c:g}"
        st.button(label, key=f"preset {name}", on_click=speedup_at.go, args=(point,))

live_curve(
    at.point,
    revision=at.revision,
    key="live_curve",
    on_settle=speedup_at.settle,
    pins=at.pins,
    on_pin=speedup_at.pin,
    measured=runs,
    cloud=speedup_rounds.played(at),
)
with st.container(border=True):
    st.markdown(speedup.verdict(at.point))
speedup_pins.panel(at)

st.subheader("With your numbers")
for column, step in zip(st.columns(2) + st.columns(2), speedup.worked(at.point)):
    with column, st.container(border=True, height="stretch"):
        st.markdown(f"**{step.label}**")
        st.latex(step.value)
        st.caption(step.meaning)

st.subheader("What it costs")
speedup_costs.panel(at.point)

st.subheader("What to notice")
st.markdown("\n".join(f"- {sentence}" for sentence in speedup.notices(at.point)))

st.subheader("Measured here")
speedup_runs.panel(runs)

st.subheader("Go further")
section = speedup_at.section
section("rounds", "Play the rounds out, and see the formula come out", speedup_rounds.panel, at)
section("map", "The whole map: every α and every k", speedup_map.panel, at.point)
section("back", "Backwards: from a measured speed-up to α", speedup_back.panel, at)
section("recorded", "Recorded runs of real models beside the formula", speedup_runs.recorded_panel)
section("tables", "Published tables, computed again", speedup_tables.panel)
section("headlines", "Headlines beside an independent measurement", speedup_headlines.panel)

with st.container(horizontal=True):
    shell.share_link("speedup", **at.link())
    shell.next_page("speedup")
