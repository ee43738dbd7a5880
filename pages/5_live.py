"""Live pair: two real models on this machine, drafted, verified and accepted step by step."""

import streamlit as st

from specdec.ui import engine, live, query, shell
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
run_all, one, stop, words = st.columns([1, 1, 1, 4], vertical_alignment="center")
run_all.button(
    "Run", type="primary", on_click=run.start, args=(asked,), disabled=run.running, width="stretch"
)
one.button(
    "One round",
    on_click=run.start,
    args=(asked,),
    kwargs={"one_round": True},
    disabled=run.running,
    width="stretch",
)
stop.button("Stop", on_click=run.cancel, disabled=not run.running, width="stretch")


@st.fragment(run_every=0.5 if run.running else None)
def panel() -> None:
    """The stage and the numbers, redrawn while a run goes on."""
    going = run.running
    if going:
        st.progress(*run.progress())
    if run.error:
        st.error(run.error)
    recording = live.recorded(asked, name)
    if run.trace is not None:
        trace, plain, check, key = run.trace, run.plain, run.check, "live"
    else:
        trace, plain, check = recording.speculative, recording.plain, recording.check
        key = f"recorded {name}"
    st.caption(live.source(trace))
    start = Position(link.values["round"], link.values["step"])
    if "round" not in st.query_params:
        start = live.telling(trace) if run.trace is None else None
    place = stage(trace, key=key, plain=plain, start=start, follow="play", report=not going)
    live.rates(trace, plain)
    st.markdown(live.verdict(trace, plain, check))
    if not going:
        shell.share_link("live", **live.link_to(asked, name, place))
    if run.running != run_started:
        st.rerun()


run_started = run.running
panel()

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
