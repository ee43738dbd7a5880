"""A round's guesses as a tree: nodes in their places, their paths, and who attends to whom."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from specdec import tree, tree_rounds
from specdec.trace import Round, Trace
from specdec.ui.component import component

MODULES = ("stage_plan", "stage_words", "stage_dom", "plan", "draw", "mask")

_mount = component("tree", MODULES, styles=("token", "controls"))


def tree_of(trace: Trace, *, key: str, start: tuple[int, int]) -> tuple[int, int]:
    """Draw the rounds of a run; the round (from 1) and the node (from 1; 0: none) chosen."""
    state = st.session_state.get(key) or {}
    first = f"{key} start"
    if "place" not in state or first not in st.session_state:
        st.session_state[first] = clamp(trace, {"round": start[0], "node": start[1]})
    begin = st.session_state[first]
    data = wire(trace) | {"start": {"round": begin[0], "node": begin[1]}}
    found = _mount(key=key, data=data, on_place_change=lambda: None)
    return clamp(trace, found.get("place") or data["start"])


def clamp(trace: Trace, place: Mapping[str, Any]) -> tuple[int, int]:
    """A round and a node of a browser or a link, brought into the trace; nonsense is the first."""
    asked = [_whole(place.get(name), default) for name, default in (("round", 1), ("node", 0))]
    number = min(max(asked[0], 1), max(1, len(trace.rounds)))
    nodes = len(trace.rounds[number - 1].drafted) if trace.rounds else 0
    return number, min(max(asked[1], 0), nodes)


def telling(trace: Trace) -> tuple[int, int]:
    """A round in which a guess that was not the first of its place was kept, and that guess."""
    for r in trace.rounds:
        places = tree.places(tree_rounds.parents(r))
        late = [i for i in tree_rounds.path(r) if _elder(r, i) is not None]
        if late and len(places) > 2:
            return r.index + 1, late[-1] + 1
    best = max(trace.rounds, key=lambda r: r.accepted, default=None)
    if best is None or not best.drafted:
        return 1, 0
    return best.index + 1, (tree_rounds.path(best) or [0])[-1] + 1


def _elder(r: Round, i: int) -> int | None:
    """A guess for the same place that was judged before this one."""
    return next((j for j in range(i) if r.drafted[j].parent == r.drafted[i].parent), None)


def wire(trace: Trace) -> dict[str, Any]:
    """What the browser gets: places, paths and rows of the mask, all computed here."""
    return {"rounds": [_round(r) for r in trace.rounds], "greedy": trace.settings.sampling.greedy}


def _round(r: Round) -> dict[str, Any]:
    parents = tree_rounds.parents(r)
    depths, sees, at = tree.depths(parents), tree.mask(parents), tree.rows(parents)
    places = tree.positions(parents, r.start)
    return {
        "start": r.start,
        "passes": r.draft_passes,
        "written": [{"text": token.text, "kind": token.kind} for token in r.written],
        "nodes": [
            {
                "text": token.text,
                "id": token.id,
                "verdict": token.verdict,
                "parent": token.parent,
                "q": _short(token.q),
                "p": _short(token.p),
                "u": _short(token.u),
                "threshold": _short(token.threshold),
                "depth": depths[i],
                "row": at[i],
                "position": places[i],
                "path": tree.path(parents, i),
                "sees": "".join("1" if x else "0" for x in sees[i]),
            }
            for i, token in enumerate(r.drafted)
        ],
    }


def _short(x: float | None) -> float | None:
    return None if x is None else float(f"{x:.6g}")


def _whole(x: Any, otherwise: int) -> int:
    try:
        return int(x)
    except (TypeError, ValueError, OverflowError):
        return otherwise
