"""A page with nothing but two runs beside each other, for the browser tests: ?pair=…"""

from __future__ import annotations

import streamlit as st

from specdec import recordings
from specdec.ui.beside import beside
from tests.apps import stage_traces as traces

st.set_page_config(layout="wide", page_title="beside")
name = st.query_params.get("pair", "laws")
st.button("Rerun")


def ways(one: str, other: str):
    return recordings.load("chat", one).speculative, recordings.load("chat", other).speculative


a, b, labels = {
    "laws": lambda: (*ways("model", "sampled"), ("greedy", "T = 0.8, top-k 50, top-p 0.95")),
    "drafters": lambda: (*ways("model", "lookup"), ("small model", "prompt lookup")),
    "long": lambda: (traces.sampled(70), traces.sampled(70, k=8), ("k = 4", "k = 8")),
    "shorter": lambda: (traces.sampled(40), traces.sampled(24), ("40 tokens", "24 tokens")),
    "many": lambda: (traces.sampled(60, seed=5), traces.sampled(60, seed=3), ("seed 5", "seed 3")),
}[name]()
beside(a, b, key="beside", labels=labels)
