"""The race: two runs that took their own time, started together on one clock."""

from __future__ import annotations

from typing import Any

import streamlit as st

from specdec.measure import measured_speedup
from specdec.trace import Trace
from specdec.ui.component import component

MODULES = ("stage_plan", "stage_words", "stage_keys", "stage_dom", "plan", "words", "lanes")
LEVEL = 0.005  # a speed-up so near to 1 prints as 1.00

_mount = component("race", MODULES, styles=("token", "controls"))


def race(fast: Trace, slow: Trace, *, key: str) -> None:
    """Play speculative and plain decoding against each other, from their rounds' own seconds."""
    if not all(trace.seconds.total and trace.source.kind != "toy" for trace in (fast, slow)):
        st.caption("A race needs two runs with the times of a model's passes; one here has none.")
        return
    _mount(key=key, data=wire(fast, slow))


def wire(fast: Trace, slow: Trace) -> dict[str, Any]:
    """What the browser gets: plain decoding above, and every sentence that no clock changes."""
    return {
        "lanes": [_lane(slow), _lane(fast)],
        "which": which(fast, slow),
        "result": result(fast, slow),
        "machine": machine(fast),
    }


def which(fast: Trace, slow: Trace) -> str:
    """What the two lanes are, and what is not on the clock."""
    if fast.source.kind == slow.source.kind == "simulated":
        return (
            "Simulated: no model ran here. Every pass takes what this pair's passes were measured "
            "to take, and a drafted token is accepted with the chance α. No prompt, no prefill."
        )
    one, other = origin(slow), origin(fast)
    ran = one[:1].upper() + one[1:] + "."
    if one != other:
        ran = f"Plain decoding: {one}. Speculative decoding: {other}."
    where = "this machine" if fast.source.kind == "live" else "one machine"
    if "simulated" not in (fast.source.kind, slow.source.kind):
        ran += f" The two ran one after another on {where}; here they start together."
    first, second = (f"{trace.seconds.prefill * 1e3:.0f} ms" for trace in (slow, fast))
    return f"{ran} The pass over the prompt (prefill: {first} and {second}) is left out."


def origin(trace: Trace) -> str:
    """Where a lane's times come from."""
    source = trace.source
    return {
        "live": "measured just now",
        "recorded": f"recorded on {source.when[:10]}" if source.when else "recorded",
        "simulated": "simulated: not the target's text",
    }.get(source.kind, source.kind)


def machine(trace: Trace) -> str:
    """Models, precision and machine of a run, as far as they are known."""
    source = trace.source
    models = f"{source.target} + {source.drafter}" if source.drafter else source.target
    return " · ".join(filter(None, (models, source.dtype, source.device, source.machine)))


def result(fast: Trace, slow: Trace) -> str:
    """Who was first and by what factor, and what is compared."""
    factor, n, m = measured_speedup(fast, slow), len(fast.token_ids), len(slow.token_ids)
    if n == m:
        times = f"{_ms(fast)} against {_ms(slow)} for {n} token{'s' * (n != 1)} each"
        first, words = "was first", f"Compared over the same number of tokens: {times}."
    else:
        first = "was faster per token"
        words = (
            f"The texts differ in length, {n} speculative and {m} plain tokens, so the time per "
            f"token is compared: {_ms(fast, n)} against {_ms(slow, m)}."
        )
    if abs(factor - 1) < LEVEL:
        return f"Level: {factor:.2f}×. {words}"
    if factor > 1:
        return f"Speculative decoding {first}: {factor:.2f}× as fast as plain. {words}"
    return f"Plain decoding {first}: speculation ran at {factor:.2f}× its speed. {words}"


def _ms(trace: Trace, tokens: int = 1) -> str:
    """Milliseconds of a run, by so many tokens."""
    each = trace.seconds.total * 1e3 / tokens
    return f"{each:.0f} ms" if tokens == 1 else f"{each:.1f} ms"


def _lane(trace: Trace) -> dict[str, Any]:
    k, simulated = trace.settings.k, trace.source.kind == "simulated"
    name = f"Speculative, k = {k}" if k else "Plain"
    return {
        "name": name,
        "about": trace.source.drafter if k else "the target alone",
        "note": origin(trace) if simulated else "",
        "blank": simulated,
        "seconds": [float(f"{r.seconds.total:.6g}") for r in trace.rounds],
        "passes": [
            [{"text": token.text, "kind": token.kind} for token in r.written] for r in trace.rounds
        ],
    }
