"""A series of tasks: its seed and the step in it, from a link, then by the reader's buttons."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import streamlit as st

from specdec.language import text
from specdec.ui import query
from specdec.ui.interview import kept

ICONS = {"back": "arrow_back", "next": "arrow_forward", "series": "shuffle"}
LIMITS = {"seed": query.KEYS["seed"], "step": query.KEYS["step"]}


@dataclass(frozen=True)
class At:
    """A place in a series."""

    seed: int
    step: int  # from 0


def series(part: str, link: Mapping[str, Any]) -> At:
    """Buttons to go through a part's series; gives the place of the link, which they move."""
    words, at = text("practice"), At(link["seed"], link["step"])
    last, most = LIMITS["step"].high, LIMITS["seed"].high
    with st.container(horizontal=True, vertical_alignment="center"):
        _button(part, "back", At(at.seed, max(at.step - 1, 0)), disabled=at.step == 0)
        _button(part, "next", At(at.seed, at.step + 1), disabled=at.step == last)
        _button(part, "series", At(at.seed + 1, 0), disabled=at.seed == most)
        st.markdown(words["place"].format(seed=at.seed, n=at.step + 1))
    return at


def verdict(right: bool) -> str:
    """The first words after an answer."""
    words = text("practice")
    return f"**{words['right'] if right else words['wrong']}**"


def _button(part: str, name: str, to: At, disabled: bool) -> None:
    """A button to a place: where it goes does not depend on how often it is pressed."""
    label, icon = text("practice")[name], f":material/{ICONS[name]}:"
    st.button(
        *(label, f"{part} {name}"),
        icon=icon,
        disabled=disabled,
        on_click=move,
        args=(part,),
        kwargs={"seed": to.seed, "step": to.step, "pick": 0},
    )


def move(part: str, **state: int) -> None:
    """Let the part begin its next run in this state."""
    known = dict(kept.params(part)) | {name: str(value) for name, value in state.items()}
    st.session_state[kept.KEPT] = st.session_state[kept.KEPT] | {part: known}
