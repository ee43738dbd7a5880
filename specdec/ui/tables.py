"""Toy models typed as lines, "text so far -> next word": every fault is said in words."""

from __future__ import annotations

from collections.abc import Mapping

MAX_LINES, MAX_WORD = 60, 24
ARROW, BREAK = "->", "\n---\n"  # the break stands between two tables in a link

# The article's pair: they agree on "the kiln", then part twice.
TARGET = {
    "": "the",
    "the": "kiln",
    "the kiln": "held",
    "the kiln held": "its",
    "the kiln held its": "heat",
    "the kiln held its heat": "overnight",
}
DRAFTER = {
    "": "the",
    "the": "kiln",
    "the kiln": "cooled",
    "the kiln cooled": "slowly",
    "the kiln held": "its",
    "the kiln held its": "heat",
    "the kiln held its heat": "all",
    "the kiln held its heat all": "night",
}
WEAK = dict.fromkeys(TARGET, "rain") | {"rain": "fell"}  # never agrees
PERFECT = TARGET  # always agrees


def parse(text: str, who: str) -> dict[str, str]:
    """A table {text so far: next word} from lines; ValueError names the line and the fault.

    Example:
        >>> parse(" -> the\\nthe -> kiln", "Target")
        {'': 'the', 'the': 'kiln'}
    """
    table: dict[str, str] = {}
    for number, line in enumerate(text.replace("→", ARROW).splitlines(), 1):
        if not line.strip():
            continue
        before, word = _rule(line, f"{who}, line {number}")
        if before in table:
            raise ValueError(
                f"{who}, line {number}: “{before}” is there already; "
                "a toy model is sure of one word."
            )
        table[before] = word
    if "" not in table:
        raise ValueError(f"{who}: one line must begin with {ARROW}: the text starts from nothing.")
    if len(table) > MAX_LINES:
        raise ValueError(f"{who}: {len(table)} lines; {MAX_LINES} are the most.")
    return table


def write(table: Mapping[str, str]) -> str:
    """The lines of a table; `parse` gives it back."""
    return "\n".join(f"{before} {ARROW} {word}" for before, word in table.items())


def _rule(line: str, where: str) -> tuple[str, str]:
    before, arrow, word = line.partition(ARROW)
    words, before = word.split(), " ".join(before.split())
    if not arrow:
        raise ValueError(f"{where}: there is no {ARROW} between the text so far and the next word.")
    if len(words) != 1:
        what = "no word" if not words else f"{len(words)} words"
        raise ValueError(f"{where}: {what} after the {ARROW}; a line adds exactly one.")
    if words[0].startswith("<"):
        raise ValueError(f"{where}: a word cannot begin with <; <end> is where a table is silent.")
    long = max([*before.split(), words[0]], key=len)
    if len(long) > MAX_WORD:
        raise ValueError(f"{where}: “{long[:MAX_WORD]}…” is longer than {MAX_WORD} letters.")
    return before, words[0]
