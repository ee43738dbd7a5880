"""Probabilities as people type them, "6/10", "0.6" or "60 %", read as exact fractions."""

from __future__ import annotations

import re
from fractions import Fraction

DIGITS = 12  # typed in one number; a sum of eight such still prints
HOW = "write 6/10, 0.6 or 60 %."
_FRACTION = re.compile(r"(-?)([0-9]+) */ *([0-9]+)")
_DECIMAL = re.compile(r"(-?)([0-9]*)(?:[.,]([0-9]+))?( *%)?")


def parse(text: str, *, digits: int = DIGITS) -> Fraction:
    """The probability in [0, 1] that `text` says; ValueError tells what is wrong with it.

    Example:
        >>> [str(parse(text)) for text in ("6/10", "0.6", "60 %", ".5", "1")]
        ['3/5', '3/5', '3/5', '1/2', '1']
    """
    value = number(text, digits=digits)
    if value < 0:
        raise ValueError(f"{_shown(text)} is below 0: a probability goes from 0 to 1.")
    if value > 1:
        raise ValueError(f"{_shown(text)} is above 1: a probability goes from 0 to 1.")
    return value


def number(text: str, *, digits: int = DIGITS) -> Fraction:
    """Any number, typed in the same ways; ValueError tells what is wrong with it.

    Example:
        >>> [str(number(text)) for text in ("2.5", "-7/2", "150 %")]
        ['5/2', '-7/2', '3/2']
    """
    plain = _plain(text)
    if not plain:
        raise ValueError(f"Nothing is written here: {HOW}")
    if len(re.findall("[0-9]", plain)) > digits:
        raise ValueError(f"{_shown(text)} has more than {digits} digits.")
    sign, above, below = _parts(plain, _shown(text))
    if below == 0:
        raise ValueError(f"{_shown(text)} divides by 0.")
    return Fraction(-above if sign else above, below)


def parse_many(text: str, *, digits: int = DIGITS) -> tuple[Fraction, ...]:
    """Several of them between commas, so with points, not commas, in decimals.

    Example:
        >>> [str(x) for x in parse_many("6/10, 3/10, 0.1")]
        ['3/5', '3/10', '1/10']
    """
    return tuple(parse(part, digits=digits) for part in text.split(","))


def _plain(text: str) -> str:
    return text.strip().replace("−", "-").replace("⁄", "/")


def _shown(text: str) -> str:
    plain = _plain(text)
    return f"“{plain[:20]}{'…' if len(plain) > 20 else ''}”"


def _parts(plain: str, shown: str) -> tuple[str, int, int]:
    """Sign, numerator, denominator."""
    if match := _FRACTION.fullmatch(plain):
        sign, above, below = match.groups()
        return sign, int(above), int(below)
    match = _DECIMAL.fullmatch(plain)
    if not match or not (match[2] or match[3]):
        raise ValueError(f"{shown} is no number: {HOW}")
    sign, whole, places, percent = match[1], match[2], match[3] or "", match[4]
    return sign, int(whole + places), 10 ** len(places) * (100 if percent else 1)
