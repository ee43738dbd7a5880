"""What "For the class" shows: the script as links, a way to present it, and a reader's own."""

from __future__ import annotations

from typing import Any

import streamlit as st

from specdec.language import text
from specdec.ui import classroom
from specdec.ui.classroom import Script, State
from specdec.ui.component import component
from specdec.ui.literal import literal

KEY, UPLOAD, FAULT = "class script", "class upload", "class fault"


def current() -> Script:
    """The reader's own script of this visit, else the built-in one."""
    return st.session_state.get(KEY) or classroom.built_in()


def script(shown: Script) -> None:
    """The links in order, and the buttons that present them."""
    words, starts = text("class"), shown.starts()
    total = {"states": len(shown.states), "minutes": f"{starts[-1]:g}"}
    st.subheader(words["total"].format(title=literal(shown.title), **total))
    st.markdown(words["about"])
    presenting = shown.addresses(present="1")
    _start(key="class start", data={"label": words["start"], "items": _items(shown, presenting)})
    mode = st.toggle(words["mode"], key="class mode")
    links = presenting if mode else shown.addresses()
    for i, (state, address) in enumerate(zip(shown.states, links)):
        when = words["minutes"].format(first=f"{starts[i]:g}", last=f"{starts[i + 1]:g}")
        _row(i, state, address, when)


def _row(i: int, state: State, address: str, when: str) -> None:
    words = text("class")
    with st.container(border=True):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown(f"**{i + 1} · {literal(state.title)}** · {when}")
            st.link_button(words["open"], address, icon=":material/open_in_new:")
        if state.say:
            st.markdown(f"**{words['say']}:** {literal(state.say)}")
        if state.ask:
            st.markdown(f"**{words['ask']}:** {literal(state.ask)}")
        if state.answer:
            with st.expander(words["answer"], key=f"class answer {i}"):
                st.markdown(literal(state.answer))


def own(shown: Script) -> None:
    """Save the script, open another, go back."""
    words = text("class")
    st.subheader(words["own"])
    st.markdown(words["own_help"])
    st.download_button(
        words["save"], shown.text, "class.toml", "application/toml", on_click="ignore"
    )
    st.file_uploader(words["upload"], "toml", key=UPLOAD, on_change=_open)
    if fault := st.session_state.get(FAULT):
        st.error(fault)
    if KEY in st.session_state:
        st.button(words["back"], on_click=lambda: st.session_state.pop(KEY, None))


def _open() -> None:
    """Take the uploaded script, or keep the old one and say why."""
    st.session_state.pop(FAULT, None)
    file = st.session_state.get(UPLOAD)
    if file is None:
        return
    try:
        st.session_state[KEY] = classroom.read(file.getvalue())
    except ValueError as error:
        said = text("class")["refused"].format(file=file.name, error=error)
        st.session_state[FAULT] = literal(said)


def _items(shown: Script, addresses: tuple[str, ...]) -> list[dict[str, Any]]:
    pairs = zip(shown.states, addresses)
    return [{"url": url, "title": s.title, "minutes": s.minutes} for s, url in pairs]


_start = component("class_start", ("presenter_class",))
