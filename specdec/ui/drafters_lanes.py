"""The timelines of page 6: every way on one clock, drawn from its rounds' own seconds."""

from __future__ import annotations

from typing import Any

from specdec.contest import Contest
from specdec.timeline import timeline
from specdec.ui.component import component
from specdec.ui.drafters_words import label

MODULES = ("stage_plan", "stage_words", "stage_keys", "stage_dom", "plan", "draw")

_mount = component("lanes", MODULES, styles=("token", "controls"))


def lanes(contest: Contest, ways: tuple[str, ...], *, key: str, over: bool) -> None:
    """Draw the clock; at its end if `over`, else at its start, to be played."""
    _mount(key=key, data=wire(contest, ways) | {"over": over})


def wire(contest: Contest, ways: tuple[str, ...]) -> dict[str, Any]:
    """What the browser gets: marks of every round, and every number that no clock changes."""
    return {"lanes": [_lane(contest, name) for name in ("plain", *ways)]}


def _lane(contest: Contest, name: str) -> dict[str, Any]:
    entry = contest.entry(name)
    found, drafter = timeline(entry.trace), entry.trace.source.drafter
    return {
        "name": label(entry),
        "about": drafter if name in ("tree", "combined", "adaptive", "early-exit") else "",
        "marks": [[float(f"{x:.6g}") for x in row] for row in found.marks],
        "written": found.written.tolist(),
        "speedup": None if name == "plain" else round(contest.speedups(name)[1], 4),
    }
