"""Interview: questions with answers, a walkthrough, a minute to answer, cards, a sheet."""

import streamlit as st

from specdec.language import text
from specdec.ui import interview, query, shell
from specdec.ui.interview import kept

shell.begin("interview")
words = text("interview")
notes = kept.begin(st.query_params, interview.PARTS)

with st.expander(words["predict"]):
    st.markdown(words["predicted"])

part = st.pills(
    words["parts"], interview.PARTS, format_func=words["part"].get, key=kept.PART, required=True
)
module = interview.load(part)
link = query.read(kept.params(part), **getattr(module, "LIMITS", {}))
shell.notes(tuple(dict.fromkeys(notes + link.notes)))

st.header(words["part"][part])
state = module.draw(link.values)
kept.keep(part, state)

st.markdown(words["notice"])
shell.share_link("interview", part=part, **state)
shell.next_page("interview")
