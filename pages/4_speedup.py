"""The speed-up: how many tokens to draft, and whether to draft at all."""

from __future__ import annotations

from dataclasses import asdict

import streamlit as st

from specdec.ui import shell, speedup
from specdec.ui.live_curve import live_curve
from specdec.ui.measured import measured

shell.begin("speedup")
at, runs = speedup.current(), measured()
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
        st.button(show, on_click=speedup.go, args=(speedup.ANSWER,))

st.markdown("Three drafters to start from:")
with st.container(horizontal=True):
    for name, point in speedup.PRESETS.items():
        label = f"{name} · α {point.alpha:g}, c {point.c:g}"
        st.button(label, key=f"preset {name}", on_click=speedup.go, args=(point,))

live_curve(
    at.point, revision=at.revision, key="live_curve", on_settle=speedup.settle, measured=runs
)
with st.container(border=True):
    st.markdown(speedup.verdict(at.point))

st.subheader("With your numbers")
for column, step in zip(st.columns(2) + st.columns(2), speedup.worked(at.point)):
    with column, st.container(border=True, height="stretch"):
        st.markdown(f"**{step.label}**")
        st.latex(step.value)
        st.caption(step.meaning)

st.subheader("What it costs")
for column, figure in zip(st.columns(4), speedup.costs(at.point)):
    with column, st.container(border=True, height="stretch"):
        st.metric(figure.label, figure.value)
        st.caption(figure.meaning)

st.subheader("What to notice")
st.markdown("\n".join(f"- {sentence}" for sentence in speedup.notices(at.point)))

st.subheader("Measured here")
if runs:
    st.table(speedup.compared(runs))
    for run in runs:
        where = speedup.point_of(run)
        st.button(f"Set the sliders to “{run.label}”", on_click=speedup.go, args=(where,))
else:
    st.markdown("Nothing yet in this visit: a run of the live pair leaves its point on the curve.")

with st.container(horizontal=True):
    shell.share_link("speedup", **asdict(at.point))
    shell.next_page("speedup")
