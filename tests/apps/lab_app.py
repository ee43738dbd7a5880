"""The lab on a page of its own, on the article's laws."""

from fractions import Fraction

import streamlit as st

from specdec.ui.lab import lab_panel

st.set_page_config(layout="wide")
P, Q = ((Fraction(n, 10) for n in law) for law in ((6, 3, 1), (2, 7, 1)))
lab_panel(tuple(P), tuple(Q), ("held", "cooled", "shone"))
