"""For the class: a lesson of twenty minutes as links, to present with a clicker or to change."""

import streamlit as st

from specdec.language import text
from specdec.ui import class_page, shell

shell.begin("class")
words = text("class")
with st.expander(words["predict"]):
    st.markdown(words["prediction"])

shown = class_page.current()
class_page.script(shown)
st.markdown(words["notice"])
class_page.own(shown)

shell.share_link("class")
shell.next_page("class")
