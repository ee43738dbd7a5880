"""Station 1: a drafter that cuts the text into other tokens than the target."""

from __future__ import annotations

import time
from collections.abc import Mapping
from functools import cache
from typing import Any

import streamlit as st

from specdec import foreign
from specdec.foreign import Bridge, Split, Swapped, Tokens
from specdec.lab import foreign_toys
from specdec.lab.foreign_toys import Outcome
from specdec.ui import query
from specdec.ui.live_rates import number
from specdec.ui.stations.marked import shown
from specdec.ui.stations.parts import part, question

LONGEST, WIDTH = 300, 34  # characters of a text, and of a line
TEXTS = {
    "Prose": "The kiln held its heat overnight, and nobody opened the door before noon.",
    "A licence": "Subject to the terms of this License, each Contributor grants You a perpetual "
    "copyright license.",
    "Code": 'def is_palindrome(word):\n    return word == word[::-1]  # "level"',
    "Other letters": "Größe, naïve, 字, 😀: a token may be less than a letter.",
}
LIMITS = {"prompt": query.Text(TEXTS["Prose"], LONGEST)}
SHOWN = 6  # ids in the table


def draw(link: Mapping[str, Any]) -> dict[str, Any]:
    """Draw the station; returns its state for a link."""
    same, moved = _toys()[0]
    question(
        "tokenizer",
        "A drafter has as many tokens as the target, but other ones: id 7 is “heat” to the one and "
        "“its” to the other. Nobody checks, and the loop runs. What happens?",
        ("The text is wrong", "The text is right, almost nothing is accepted", "An error at once"),
        "The text is right, almost nothing is accepted",
        "To the rule it is a bad drafter like any other: every id that it proposes is judged by p. "
        f"On the toys below α falls from {number(same.speculative.alpha)} to "
        f"{number(moved.speculative.alpha)}, and the text stays.",
    )
    part(
        "do",
        "Cut a text with two real tokenizers: **SmolLM2's**, of the default target, and one that "
        "was trained just now on the 11 kB of this project's licence.",
    )
    typed = _text(link["prompt"])
    ours, theirs = foreign.target(), foreign.trained()
    text = foreign.spelled(typed, (ours, theirs))
    if text != typed:
        st.info("One of the two has no tokens for some of these characters: they are left out.")
    one, other = foreign.split(ours, text), foreign.split(theirs, text)
    _aligned(text, one, other)

    part("symptom", "Hand the ids of one to the other, as they are:")
    _garbled("The target's ids, read by the licence's tokenizer", one, theirs)
    _garbled("The licence's ids, read by the target", other, ours)
    st.markdown(
        "So such a drafter reads nonsense and answers with nonsense. Two toy models, 32 words, "
        "k = 4:"
    )
    st.table([_outcome(o) for o in (same, moved)])

    part("cause", "An id is only a row of a table, and each tokenizer has its own table.")
    st.table(_ids(one, ours, theirs))
    st.markdown("**What our checks say.** Of this pair:")
    _said(foreign.verdict(ours, theirs))
    st.markdown("Of the numbers of tokens alone:")
    _said(foreign.verdict_by_size(len(ours), len(theirs)))
    st.markdown(
        "And of two tokenizers of the *same* size, of which one has two ids exchanged. A check of "
        "sizes lets it pass; token by token it does not:"
    )
    _said(foreign.verdict(ours, Swapped(ours, ours.encode(" heat")[0], ours.encode(" its")[0])))
    _cure(text, ours, theirs)
    return {"prompt": typed}


def _text(first: str) -> str:
    def take() -> None:
        if st.session_state["tokenizer example"]:
            st.session_state["tokenizer text"] = TEXTS[st.session_state["tokenizer example"]]

    st.session_state.setdefault("tokenizer text", first)
    st.pills("Examples", list(TEXTS), key="tokenizer example", on_change=take)
    return st.text_area("Text", max_chars=LONGEST, key="tokenizer text") or TEXTS["Prose"]


def _aligned(text: str, one: Split, other: Split) -> None:
    both, some = foreign.shared(one, other)
    st.caption(
        "Upper line: SmolLM2's. Lower line: the licence's. ║ ends a token in both, │ in one."
    )
    blocks = foreign.aligned(text, (one, other), WIDTH)
    st.code("\n\n".join("\n".join(lines) for lines in blocks), language=None)
    st.markdown(
        f"**{len(one.ids)}** tokens and **{len(other.ids)}**; of {some} ends of tokens inside the "
        f"text {both} are shared."
    )


def _garbled(label: str, split: Split, reader: Tokens) -> None:
    text, unknown = foreign.garbled(split.ids, reader)
    st.caption(f"{label}; {unknown} of {len(split.ids)} ids are no token there at all")
    st.code(text or "nothing", language=None, wrap_lines=True)


def _said(sentence: str) -> None:
    st.code(sentence, language=None, wrap_lines=True)


def _ids(split: Split, ours: Tokens, theirs: Tokens) -> list[dict[str, str]]:
    def said(i: int, tokens: Tokens) -> str:
        return f"“{shown(tokens.texts.piece(i))}”" if i < len(tokens) else "no token"

    ids = sorted(dict.fromkeys(split.ids))[:SHOWN]
    return [
        {"id": str(i), "to the target": said(i, ours), "to the other": said(i, theirs)} for i in ids
    ]


@cache
def _toys() -> tuple[tuple[Outcome, Outcome], tuple[Outcome, Outcome]]:
    return foreign_toys.unchecked(), foreign_toys.padded()


def _outcome(found: Outcome) -> dict[str, str]:
    return {
        "the drafter": found.title,
        "ids of target, drafter": f"{found.target_rows}, {found.drafter_rows}",
        "text": "✓ the target's own" if found.same_text else "✗ another",
        "α": number(found.speculative.alpha),
        "target passes": str(found.speculative.target_passes),
    }


def _cure(text: str, ours: Tokens, theirs: Tokens) -> None:
    part(
        "cure",
        "Take two models of one family, and compare their vocabularies **token by token** before "
        "any weight is read. Only the *length* of the tables may differ: they are padded to a "
        "round number of rows, which no text ever uses. A token that the drafter lacks has q = 0; "
        "a row that the target lacks is cut off:",
    )
    st.table([_outcome(o) for o in _toys()[1]])
    st.markdown(
        "Or build a **bridge**: after every round decode the new ids to text, encode it for the "
        "drafter, take back what the new characters split otherwise, and turn its guesses into the "
        "target's ids again. What that costs on your text:"
    )
    st.table([_bridge(text, a, b) for a, b in ((ours, theirs), (theirs, ours))])
    st.caption(
        "Encoding was timed now, on this machine. The larger cost is the drafter's: more tokens "
        "of its own for the same text are more passes, and a guess that ends inside a token of "
        "the target cannot be judged."
    )


def _bridge(text: str, ours: Tokens, theirs: Tokens) -> dict[str, str]:
    found: Bridge = foreign.bridge(text, ours, theirs)
    return {
        "target → drafter": f"{ours.name} → {theirs.name}",
        "target's tokens": str(found.tokens),
        "drafter's tokens": str(found.own),
        "fed to its cache": str(found.fed),
        "of these taken back": str(found.dropped),
        "drafter passes per target token": f"{found.own / max(found.tokens, 1):.2f}",
        "encoding the window": f"{_microseconds(theirs, text):.0f} µs",
    }


def _microseconds(tokens: Tokens, text: str) -> float:
    """The fastest of five encodings of the text."""
    times = []
    for _ in range(5):
        began = time.perf_counter()
        tokens.encode(text)
        times.append(time.perf_counter() - began)
    return 1e6 * min(times)
