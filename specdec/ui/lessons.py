"""The map of the lessons on the start page, with what this visit has opened."""

from __future__ import annotations

import streamlit as st

from specdec.language import text
from specdec.ui import course, shell


def draw() -> None:
    """Progress, the way on, and every page with its purpose."""
    words, opened = text("course"), course.opened()
    st.subheader(words["title"])
    done = words["progress"].format(opened=len(opened), all=len(shell.LESSONS))
    st.progress(len(opened) / len(shell.LESSONS), text=done)
    st.caption(words["meaning"])
    left = [shell.page(address) for address in shell.LESSONS if address not in opened]
    if left:
        shell.link_to(left[0], words["onward"].format(label=left[0].label), left[0].icon)
    else:
        st.markdown(words["done"])
    for known in shell.PAGES[1:]:
        with st.container(border=True, gap="xsmall"):
            mark = f" · {words['opened']}" if known.address in opened else ""
            shell.link_to(known, f"**{known.label}**{mark}")
            st.markdown(known.purpose)
