"""Station 2: a long draft by a drafter that is seldom right."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from specdec import theory, wasted
from specdec.ui import query
from specdec.ui.stations.parts import part, question

LIMITS = {"k": query.Number(16, 1, 24, whole=True), "alpha": query.Number(0.2, 0.0, 1.0)}


def draw(link: Mapping[str, Any]) -> dict[str, Any]:
    """Draw the station; returns its state for a link."""
    question("long", "Of 16 guesses at α = 0.2, how many are kept?", ("0", "1"), "0", "A quarter.")
    part("do")
    k = st.slider("k", 1, 24, link["k"], key="long k")
    alpha = st.slider("α", 0.0, 1.0, link["alpha"], key="long alpha")
    part("symptom")
    st.markdown(f"{wasted.expected(alpha, k).wasted:.2f} of {k} draft passes are wasted.")
    part("cause")
    part("cure", f"k = {theory.best_k(alpha, 0.05)}")
    return {"k": k, "alpha": alpha}
