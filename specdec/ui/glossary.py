"""What the words and letters of a page mean, in one box that opens from the keyboard too."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from specdec.language import text
from specdec.schema import build


@dataclass(frozen=True)
class Word:
    """A term, its meaning in a sentence or two, its long name, and its formula if it has one."""

    term: str
    meaning: str
    name: str = ""
    formula: str = ""


def word(name: str) -> Word:
    """The entry of this name ("alpha", "kv_cache"); ValueError if there is none."""
    known = text("glossary")
    if name not in known:
        raise ValueError(f"The glossary has no {name!r}; it has {', '.join(known)}.")
    return build(Word, dict(known[name]), f"glossary.{name}")


def of_page(address: str) -> tuple[Word, ...]:
    """The words that a page explains; the start page explains all."""
    names = text("words").get(address, ()) if address else text("glossary")
    return tuple(map(word, names))


def words(address: str) -> None:
    """The box with a page's words."""
    found, said = of_page(address), text("glossary_words")
    if not found:
        return
    terms = ", ".join(entry.term for entry in found)
    label = said["label"].format(terms=terms) if address else said["all"]
    with st.popover(label, icon=":material/dictionary:", type="tertiary"):
        st.markdown("\n\n".join(map(explained, found)))


def explained(entry: Word) -> str:
    """An entry as Markdown."""
    name = f" · {entry.name}" if entry.name else ""
    formula = f" `{entry.formula}`" if entry.formula else ""
    return f"**{entry.term}**{name}: {entry.meaning}{formula}"
