"""Live pair: two real models on this machine, drafted, verified and accepted step by step."""

import streamlit as st

from specdec.ui import engine, live, live_panels, query, shell
from specdec.ui.live_rates import rates
from specdec.ui.shown import shown, source, telling, verdict
from specdec.ui.stage import Position, stage

shell.begin("live")
link = query.read(st.query_params, *live.KEYS, **live.LIMITS)
shell.notes(link.notes)

with st.expander("Predict first: of four drafted tokens, how many will the target keep?"):
    st.markdown(
        "It depends on the text more than on the models: copying and code run ahead, a surprising "
        "story does not. Run the presets and compare α: the histogram of kept tokens is the answer."
    )

asked = live.controls(link.values)
name = st.session_state["live preset"]
run = engine.live()
live.buttons(run, asked)


@st.fragment(run_every=0.5 if run.running else None)
def on_stage() -> None:
    """The stage and the numbers, redrawn while a run goes on."""
    if run.running:
        st.progress(*run.progress())
    if run.error:
        st.error(run.error)
    now = shown(run, asked, name)
    st.caption(f"{source(now.trace)} {now.note} {engine.warning(asked.dtype, asked.device)}")
    start = Position(link.values["round"], link.values["step"])
    if "round" not in st.query_params:
        start = None if now.live else telling(now.trace)
    place = stage(
        now.trace,
        key=now.key,
        plain=now.plain,
        start=start,
        follow="play",
        report=not run.running,
        ledger=True,
        on_more=live.one_more(run, asked) if now.live else None,
    )
    rates(now)
    st.markdown(verdict(now.trace, now.plain, now.check))
    if not run.running:
        panel = st.session_state.get(live_panels.KEY, link.values["panel"])
        shell.share_link("live", **live.link_to(asked, name, place, panel))
    if run.running != run_started:
        st.rerun()


run_started = run.running
on_stage()
live_panels.draw(shown(run, asked, name), name, link.values["panel"])

st.caption(
    "The target is a very small model, and often wrong. Speculation keeps its text exactly, "
    "mistakes included: it changes the speed and nothing else."
)
st.markdown(
    "**What to notice.** A round never writes less than one token: even when the first guess "
    "fails, the same pass has the target's own. · The draft lane grows one token at a time, the "
    "verify lane lights up all at once: that difference is the whole gain. · Raise k and watch the "
    "discarded tail grow while α hardly moves. · At temperature 0 the text never changes, whatever "
    "the drafter, k or seed."
)
shell.next_page("live")
