"""A page with nothing but the overlap canvas, for the browser tests: ?laws=…&T=…&fixed=1"""

from __future__ import annotations

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1])]

import stage_traces as traces  # noqa: E402
import streamlit as st  # noqa: E402

from specdec.ui.overlap import overlap  # noqa: E402
from specdec.ui.overlap_heads import heads  # noqa: E402
from specdec.ui.overlap_laws import Drop, examples, read  # noqa: E402

st.set_page_config(layout="wide", page_title="overlap")
query = st.query_params
if "fixed" in query:
    drafted = [token for r in traces.sampled().rounds for token in r.drafted]
    token = drafted[int(query["fixed"])]
    seen = heads(token)
    drop = Drop(seen.drafted, token.u or 0.5)
    overlap(seen.p, seen.q, seen.names, key="fixed", exact=False, drop=drop)
else:
    start = read(query["laws"]) if "laws" in query else examples()[0].laws
    laws = overlap(
        start.p,
        start.q,
        start.names,
        key="canvas",
        temperature=float(query.get("T", 1)),
        drop=start.drop,
    )
    st.caption(f"python: {laws.write()} T={laws.temperature:g} valid={laws.valid}")
