"""The stage: the component with which every page shows rounds, from plain files in assets/."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

import streamlit as st

from specdec.trace import Drafted, Mended, Round, Top, Trace, Written
from specdec.tree_rounds import as_chain
from specdec.ui import presenter, stage_ledger
from specdec.ui.component import component

PROMPT_SHOWN = 24  # last prompt tokens on the strip; of the others only their number
DIGITS = 6  # significant, and only on the wire

MODULES = (
    *("plan", "words", "block", "rules", "bars", "tail", "say", "facts", "ledger"),  # pure
    *("dom", "lanes", "clock", "panel", "cells", "keys", "show"),
)


@dataclass(frozen=True)
class Position:
    """A place in a trace, as on the screen and in a link."""

    round: int = 1  # from 1; 0 where no round has run yet
    step: int = 0  # within the round, from 0


@dataclass(frozen=True)
class Costs:
    """A simulated clock: what passes cost, in units of one target pass."""

    draft_pass: float  # the c of the formulas
    position: float = 0.0  # v: each drafted token verified beside the first position

    def __post_init__(self) -> None:
        for name, cost in asdict(self).items():
            if not 0 <= cost < float("inf"):
                raise ValueError(f"{name} is {cost}; it must be 0 or more.")


def stage(
    trace: Trace,
    *,
    key: str,
    plain: Trace | None = None,
    costs: Costs | None = None,
    start: Position | None = None,
    follow: Literal["stay", "end", "play"] = "stay",
    mode: Literal["full", "compact", "presenter"] = "full",
    report: bool = True,
    ledger: bool = False,
    on_more: Callable[[], None] | None = None,
) -> Position:
    """Show a trace step by step; returns the place where the reader rests.

    `plain`: plain decoding of the same prompt, for the second lane of the clock. With `costs`
    the clock is a simulated one (toy traces have no other). `start`: the place of a link, taken
    when the stage first appears. `follow`: what a reader at the end of a growing trace sees:
    nothing new, its end, or the new rounds played. `report=False` spares the reruns.
    `ledger`: what both caches hold, to unfold below the lanes.
    `on_more`: asked for one round more by a reader who steps by tokens past the end of a run that
    goes on (maybe more than once before it comes); the stage goes to its first token by itself.
    """
    fresh = "place" not in (st.session_state.get(key) or {})
    first = f"{key} start"  # kept, so that the message stays the same and is not sent again
    if fresh or first not in st.session_state:
        st.session_state[first] = start
    data = wire(trace, plain, costs) | {"ledger": stage_ledger.wire(trace) if ledger else None}
    begin = st.session_state[first]
    mode = "presenter" if presenter.on() else mode
    data |= {"start": begin and asdict(begin), "follow": follow, "mode": mode, "report": report}
    data["more"] = on_more is not None and trace.stop_reason is None
    asks = {"on_more_change": on_more} if on_more else {}
    state = _mount(key=key, data=data, on_place_change=lambda: None, **asks)
    return clamp(trace, state.get("place") or data["start"] or {})


def clamp(trace: Trace, place: Mapping[str, Any]) -> Position:
    """The place {"round": …, "step": …} of a browser or a link, brought into the trace.

    Anything that is no number counts as the beginning.
    """
    rounds = trace.rounds
    if not rounds:
        return Position(0, 0)
    asked = _whole(place.get("round"), 1)
    if asked > len(rounds):
        return Position(len(rounds), steps(rounds[-1]) - 1)
    number = max(asked, 1)
    return Position(
        number, min(max(_whole(place.get("step"), 0), 0), steps(rounds[number - 1]) - 1)
    )


def steps(r: Round) -> int:
    """Steps of a round on the stage: before, drafting, verify, a test each, the tail, write.

    Where every drafted token is tested ("block"), those that no pass has kept are the tail. Of a
    tree the accepted path is shown, as a chain.
    """
    r = as_chain(r)
    n, judged = len(r.drafted), r.accepted + r.rejected
    drafting = n if r.draft_passes >= n else 1
    always = [_passed(r.rule, token) is not None for token in r.drafted]
    tests = sum(a or token.verdict != "discarded" for a, token in zip(always, r.drafted))
    settled = r.accepted if any(always) else judged
    return 1 + drafting + 1 + tests + (settled < n) + 1


def wire(trace: Trace, plain: Trace | None = None, costs: Costs | None = None) -> dict[str, Any]:
    """The trace as the browser gets it: a long prompt cut, floats to six significant digits."""
    prompt = trace.prompt[-PROMPT_SHOWN:]
    return {
        "prompt": [{"id": token.id, "text": token.text} for token in prompt],
        "hidden": len(trace.prompt) - len(prompt),
        "rounds": [_round(r) for r in trace.rounds],
        "greedy": trace.settings.sampling.greedy,
        "settings": {"k": trace.settings.k, "rule": trace.settings.rule},
        "source": asdict(trace.source),
        "end": trace.stop_reason,
        "clock": _clock(trace, plain, costs),
    }


_mount = component("stage", MODULES, styles=("token", "controls", "stage_ledger"))


def _round(r: Round) -> dict[str, Any]:
    guesses, r = len(r.drafted), as_chain(r)
    return {
        "branches": guesses - len(r.drafted),  # of a tree, not drawn
        "k": r.k,
        "start": r.start,
        "rule": r.rule,
        "draft_passes": r.draft_passes,
        "stop_reason": r.stop_reason,
        "drafted": [_drafted(token, r.rule) for token in r.drafted],
        "written": [_written(token) for token in r.written],
    }


def _drafted(token: Drafted, rule: str) -> dict[str, Any]:
    return {
        "id": token.id,
        "text": token.text,
        "q": _short(token.q),
        "p": _short(token.p),
        "u": _short(token.u),
        "threshold": _short(token.threshold),
        "verdict": token.verdict,
        "passed": _passed(rule, token),
        "p_top": _top(token.p_top),
        "q_top": _top(token.q_top),
        "residual_top": _top(token.residual_top),
        "mended": _mended(token.mended),
    }


def _mended(mended: Mended | None) -> dict[str, Any] | None:
    if mended is None:
        return None
    return {
        "p": _short(mended.p),
        "u": _short(mended.u),
        "threshold": _short(mended.threshold),
        "kept": mended.kept,
        "p_top": _top(mended.p_top),
    }


def _passed(rule: str, token: Drafted) -> bool | None:
    """Block verification: how the token's own test came out, before the digits are cut."""
    return token.u < token.threshold if rule == "block" and token.u is not None else None


def _written(token: Written) -> dict[str, Any]:
    accepted = token.kind == "accepted"  # then the drafted token has it
    return {
        "id": token.id,
        "text": token.text,
        "p": _short(token.p),
        "u": _short(token.u),
        "kind": token.kind,
        "p_top": None if accepted else _top(token.p_top),
    }


def _top(top: Top | None) -> dict[str, Any] | None:
    if top is None:
        return None
    return {
        "entries": [[i, text, _short(p)] for i, text, p in top.entries],
        "rest": _short(top.rest),
    }


def _clock(trace: Trace, plain: Trace | None, costs: Costs | None) -> dict[str, Any] | None:
    """Times of both lanes, measured or from declared costs; None if there are neither."""
    if costs:
        rounds = [_priced(r, costs) for r in trace.rounds]
        other, note = [1.0] * len((plain or trace).written), _prices(trace, costs)
    elif trace.source.kind in ("live", "recorded") and trace.seconds.total:
        rounds = [(r.seconds.draft, r.seconds.verify, r.seconds.accept) for r in trace.rounds]
        other, note = [r.seconds.total for r in plain.rounds] if plain else [], ""
    else:
        return None
    return {
        "simulated": costs is not None,
        "note": note,
        "rounds": [[_short(x) for x in parts] for parts in rounds],
        "plain": [_short(x) for x in other]
        if trace.settings.k
        else [],  # else it is the run itself
    }


def _priced(r: Round, costs: Costs) -> tuple[float, float, float]:
    return r.draft_passes * costs.draft_pass, 1 + len(r.drafted) * costs.position, 0.0


def _prices(trace: Trace, costs: Costs) -> str:
    draft = f", a draft pass costs {costs.draft_pass:g}" if trace.draft_passes else ""
    position = f", a further position {costs.position:g}" if costs.position else ""
    return f"1 = a target pass{draft}{position}"


def _short(x: float | None) -> float | None:
    return None if x is None else float(f"{x:.{DIGITS}g}")


def _whole(x: Any, otherwise: int) -> int:
    try:
        return int(x)
    except (TypeError, ValueError, OverflowError):
        return otherwise
