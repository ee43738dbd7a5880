"""A page with nothing but the stage, for the browser tests: ?trace=…&round=…&step=…&mode=…"""

from __future__ import annotations

import streamlit as st

from specdec.ui.stage import Costs, clamp, stage
from tests.apps import stage_traces as traces

st.set_page_config(layout="wide", page_title="stage")
query = st.query_params
name, mode = query.get("trace", "kiln"), query.get("mode", "full")
follow = query.get("follow", "stay")
rounds = st.session_state.get("rounds", int(query.get("rounds", 999)))
if "rounds" in query and st.button("One round more"):
    st.session_state.rounds = rounds = rounds + 1
st.button("Rerun")


def more() -> None:
    st.session_state.rounds = rounds + 1
    st.session_state.asked = st.session_state.get("asked", 0) + 1


made = {
    "kiln": lambda: (traces.kiln(), traces.kiln(0), Costs(0.1)),
    "sampled": lambda: (traces.sampled(), traces.sampled(k=0), None),
    "long": lambda: (traces.sampled(180, seed=5), traces.sampled(180, k=0, seed=5), None),
    "plain": lambda: (traces.sampled(k=0), None, None),
    "copied": lambda: (traces.sampled(copied=True, k=6), None, None),
    "match": lambda: (traces.ruled("match"), traces.ruled("match", k=0), None),
    "block": lambda: (traces.ruled("block"), traces.ruled("block", k=0), None),
    "priced": lambda: (traces.priced(), None, None),
    "mended": lambda: (traces.mended(), None, None),
    "cut": lambda: (traces.ruled("block", seed=4, stop_ids=(5,)), None, None),
    "cancelled": lambda: (traces.first(traces.sampled(), 0, "cancelled"), None, None),
}
trace, plain, costs = made[name]()
if rounds < len(trace.rounds):
    trace = traces.first(trace, rounds)
start = clamp(trace, query) if "round" in query else None
on_more = more if "more" in query else None
place = stage(
    trace, key="stage", plain=plain, costs=costs, start=start, mode=mode, follow=follow,
    on_more=on_more, ledger="ledger" in query,
)  # fmt: skip
if on_more:
    st.caption(f"asked {st.session_state.get('asked', 0)} times")
query["round"], query["step"] = str(place.round), str(place.step)
st.caption(f"round {place.round}, step {place.step}")
