"""What every station has: a question to answer first, and the headings of its four parts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import streamlit as st

Part = Literal["do", "symptom", "cause", "cure"]
HEADINGS: dict[Part, str] = {
    "do": "Do it",
    "symptom": "Symptom",
    "cause": "Cause",
    "cure": "Cure",
}


def question(key: str, words: str, guesses: Sequence[str], right: str, because: str) -> None:
    """Ask; after a guess say whether it was `right` (one of the guesses), and why."""
    if right not in guesses:
        raise ValueError(f"The answer {right!r} is not among the guesses {list(guesses)}.")
    with st.container(border=True):
        st.markdown(f"**Predict first.** {words}")
        guess = st.radio(
            "Your guess", guesses, None, key=f"guess {key}", label_visibility="collapsed"
        )
        if guess:
            st.markdown(f"**{'✓ Right.' if guess == right else '✗ Not so.'}** {because}")


def part(name: Part, words: str = "") -> None:
    """The heading of a part, and its first paragraph."""
    st.subheader(HEADINGS[name])
    if words:
        st.markdown(words)
