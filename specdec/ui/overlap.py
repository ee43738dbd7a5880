"""The overlap canvas: p and q of one position as bars, and why what is written follows p.

The bars are dragged in the browser (assets/overlap*.js), in exact fractions; Python hears of them
when the reader's hands rest. With `exact=False` it shows laws in floats, to look at only.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import streamlit as st

from specdec.ui.component import component
from specdec.ui.overlap_laws import Drop, Laws, examples, of_browser

MODULES = ("ratio", "rule", "edit", "words", "dom", "bars", "flow", "panels", "table", "hands")
SUMS_TO_ONE = 1e-6  # floats of a trace


def overlap(
    p: Sequence[Any],
    q: Sequence[Any],
    names: Sequence[str],
    *,
    key: str,
    exact: bool = True,
    temperature: float = 1.0,
    drop: Drop | None = None,
) -> Laws | None:
    """Show the canvas; returns the reader's laws, or None if they are only to look at.

    Exact: 3 to 8 tokens, fractions in [0, 1], to change; the arguments count when the canvas first
    appears. Not exact: any number of tokens, floats, fixed. ValueError if they are no laws.
    """
    drop = drop or Drop()
    if not exact:
        shown = _fixed(p, q, names, drop)
        _mount(key=key, data={"exact": False, "presets": [], "laws": shown})
        return None
    first = f"{key} first"  # kept, so that the browser stays ahead of its own changes
    if "laws" not in (st.session_state.get(key) or {}) or first not in st.session_state:
        fractions = (tuple(Fraction(x) for x in law) for law in (p, q))
        st.session_state[first] = Laws(tuple(names), *fractions, temperature, drop)
    laws = st.session_state[first]
    presets = [_wire(e.laws) | {"title": e.title, "notice": e.notice} for e in examples()]
    data = {"exact": True, "presets": presets, "laws": _wire(laws) | _pins(laws.drop)}
    state = _mount(key=key, data=data, on_laws_change=lambda: None)
    return of_browser(state.get("laws")) or laws


_mount = component("overlap", MODULES)


def _wire(laws: Laws) -> dict[str, Any]:
    return {
        "names": list(laws.names),
        "p": [str(x) for x in laws.p],
        "q": [str(x) for x in laws.q],
        "T": laws.temperature,
    }


def _pins(drop: Drop) -> dict[str, Any]:
    """The drafted token, and the pins in thousandths."""
    return {"x": drop.token, "u": round(1000 * drop.u, 6), "w": round(1000 * drop.w, 6)}


def _fixed(
    p: Sequence[float], q: Sequence[float], names: Sequence[str], drop: Drop
) -> dict[str, Any]:
    laws = [float(x) for x in p], [float(x) for x in q]
    for name, law in zip("pq", laws):
        if len(law) != len(names) or not names:
            raise ValueError(f"{len(names)} names, but {name} has {len(law)} numbers.")
        if not (min(law) >= 0 and abs(sum(law) - 1) <= SUMS_TO_ONE):  # so is NaN no law
            raise ValueError(f"{name} sums to {sum(law):g}, least {min(law):g}: it is no law.")
    if not 0 <= drop.token < len(names):
        raise ValueError(f"Token {drop.token} is drafted; there are 0 to {len(names) - 1}.")
    return {"names": list(names), "p": laws[0], "q": laws[1], "T": 1} | _pins(drop)
