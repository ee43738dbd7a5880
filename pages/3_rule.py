"""The rule: why min(1, p/q), and the residual after a rejection, write exactly p."""

import streamlit as st

from specdec import recordings
from specdec.trials import trials
from specdec.ui import engine, lab, overlap_laws, overlap_trace, query, shell
from specdec.ui.overlap import overlap
from specdec.ui.shown import source
from specdec.ui.stage import Position

shell.begin("rule")
link = query.read(st.query_params, "prompt", "round", "step", "seed", T=query.Number(1.0, 0.0, 2.0))
start, mended = overlap_laws.of_link(link.values["prompt"], link.values["T"])
shell.notes(link.notes + mended)

st.markdown(
    "Draw from q. Keep what lies under p. **What sticks out above p is just as much as p lacks "
    "elsewhere**, so drawing the rejected token again from there fills p exactly."
)
with st.expander("Predict first: how often should a drafted “cooled” be kept?"):
    st.markdown(
        "The drafter says it 7 times in 10, the target wants it 3 times in 10. Keep 3 of every 7, "
        "at random: 7/10 · 3/7 = 3/10, the target's own share. That is min(1, p/q). “held” is "
        "said too seldom, so it is kept always, and has the rejected 2/5 coming."
    )

laws = overlap(
    start.p,
    start.q,
    start.names,
    key="canvas",
    temperature=start.temperature,
    drop=start.drop,
)

st.subheader("What to notice")
st.markdown(
    "- p and q both sum to 1, and share the same green α. So what is left of q and what is left of "
    "p must be equally much: 1 − α.\n"
    "- Drag q until α = 0: the text still follows p. A bad drafter costs speed, never the law.\n"
    "- A token with q = 0 is never drafted, and yet is written with chance p: by the residual.\n"
    "- Replacing from p itself would serve “cooled” again, which has had its whole share already.\n"
    "- Papers and code sometimes swap the letters. Here p is always the target, q the drafter."
)

st.subheader("Not only for these three words")
st.markdown(
    "Random pairs of laws over 2 to 5 tokens, zeros among them; for each, everything the drafter "
    "may say and everything that may become of it, added up in exact fractions."
)
left, right = st.columns([1, 4], vertical_alignment="bottom")
seed = left.number_input("Seed", 0, 2**32 - 1, link.values["seed"], key="rule seed")
if right.button("Run 300 pairs now", type="primary", key="rule trials"):
    st.session_state["rule ran"] = trials(300, seed)
if ran := st.session_state.get("rule ran"):
    sign = "✓" if ran.equal == ran.n else "✗"
    st.markdown(
        f"{sign} Seed {ran.seed}: in **{ran.equal} of {ran.n}** pairs what is written is p, as "
        f"equal fractions; {ran.with_zero} of the pairs have a zero in p or q."
    )

lab.lab_panel(laws.p, laws.q, laws.names, laws.temperature)

st.subheader("The same picture from two real models")
trace = engine.live().trace
if trace is None or not overlap_trace.places(trace):
    trace = recordings.load("story", "sampled").speculative
st.caption(source(trace))
place = Position(link.values["round"], link.values["step"])
place = overlap_trace.panel(trace, key="real pair", start=place)
lab.real_panels()

shell.share_link(
    "rule",
    prompt=laws.write(),
    T=laws.temperature,
    seed=seed,
    round=place.round,
    step=place.step,
)
shell.next_page("rule")
