"""Somebody else's text inside our Markdown: shown as it is; it can load and style nothing."""

from __future__ import annotations

import re


def literal(text: str) -> str:
    r"""The text with everything escaped that Markdown could read as more than a character.

    Example:
        >>> print(literal("![a](b)"))
        \!\[a\]\(b\)
    """
    return re.sub(r"([!-/:-@\[-`{-~])", r"\\\1", " ".join(text.split()))
