"""Two texts that part: each as Markdown, the first token that differs in brackets."""

from __future__ import annotations

from collections.abc import Sequence

from specdec.trace import Token
from specdec.ui.literal import literal

BEFORE, AFTER = 60, 90  # characters shown around the place


def parting(one: Sequence[Token], other: Sequence[Token]) -> int | None:
    """Index of the first token that differs, None where the texts are equal."""
    a, b = [t.id for t in one], [t.id for t in other]
    if a == b:
        return None
    return next((i for i, (x, y) in enumerate(zip(a, b)) if x != y), min(len(a), len(b)))


def around(tokens: Sequence[Token], at: int, before: int = BEFORE, after: int = AFTER) -> str:
    """The text before, the token in brackets, the text after, escaped for Markdown."""
    head = "".join(t.text for t in tokens[:at])
    tail = "".join(t.text for t in tokens[at + 1 :])
    token = tokens[at].text if at < len(tokens) else ""
    left = "… " * (len(head) > before) + literal(head[-before:])
    return f"{left} **⟦{shown(token)}⟧** {literal(tail[:after])}" + " …" * (len(tail) > after)


def shown(text: str) -> str:
    """A token's text with its white space visible, escaped for Markdown."""
    return literal(text.replace("\n", "⏎").replace(" ", "·")) or "nothing"
