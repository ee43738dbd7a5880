"""A page with nothing but a race, for the browser tests: ?run=chat.model or ?run=simulated"""

from __future__ import annotations

import streamlit as st

from specdec import recordings, simulate
from specdec.measure import Costs
from specdec.ui.race import race

COSTS = Costs(4, target=0.03, verify=0.036, draft=0.002)

st.set_page_config(layout="wide", page_title="race")
name = st.query_params.get("run", "code.lookup")
st.button("Rerun")
if name == "simulated":
    fast, slow = simulate.trace(0.8, 4, 48, 1, COSTS), simulate.plain(48, COSTS)
else:
    found = recordings.load(*name.split("."))
    fast, slow = found.speculative, found.plain
race(fast, slow, key="race")
