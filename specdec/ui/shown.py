"""Which run is on the stage of "Live pair", and what is said about it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import streamlit as st

from specdec import recordings
from specdec.compare import Check
from specdec.trace import Trace
from specdec.ui.engine import Asked, Live
from specdec.ui.literal import literal
from specdec.ui.live import OPENED, OWN
from specdec.ui.stage import Position, steps


@dataclass(frozen=True)
class Shown:
    """A run and what stands beside it; `key` tells the stage one run from another."""

    key: str
    trace: Trace
    plain: Trace | None = None
    check: Check | None = None
    note: str = ""  # what the reader should know about it, in a sentence

    @property
    def live(self) -> bool:
        """Whether it was decoded in this visit."""
        return self.key == "live"


def shown(run: Live, asked: Asked, name: str) -> Shown:
    """A file that was opened, else the reader's own run, else the recording nearest to it."""
    if OPENED in st.session_state:
        file, trace = st.session_state[OPENED]
        return Shown(f"file {file}", trace, note=f"Opened from your file “{literal(file)}”.")
    if run.trace is not None:
        changed = run.asked != asked
        note = "The settings were changed since: Run begins anew with them." if changed else ""
        return Shown("live", run.trace, run.plain, run.check, note)
    recording, note = recorded(asked, name), ""
    if recording.speculative.settings != asked.settings:
        note = "Made with its own settings, not with those above: Run decodes with yours."
    if name == OWN:
        note = "Your own text has no recording; this is another prompt's. Run decodes yours."
    return Shown(f"recorded {name}", recording.speculative, recording.plain, recording.check, note)


def recorded(asked: Asked, name: str) -> recordings.Recording:
    """The recorded run nearest to what is asked for."""
    s = asked.settings
    way = "lookup" if s.drafter == "lookup" else "model" if s.sampling.greedy else "sampled"
    return recordings.load(name if name != OWN else "chat", way)


def telling(trace: Trace) -> Position:
    """The end of the first round in which all happens: two kept, one rejected, some discarded."""
    for r in trace.rounds:
        if r.accepted >= 2 and r.rejected and len(r.drafted) > r.accepted + 1:
            return Position(r.index + 1, steps(r) - 1)
    return Position(1, 0)


KINDS = {
    "recorded": "**Recorded**{when}",
    "live": "**Live**, decoded on this machine",
    "toy": "**Toy tables**, no model",
    "simulated": "**Simulated**, no model's text",
}


def source(found: Any) -> str:
    """Where a trace, or anything else with a `source`, comes from, in a sentence."""
    s = found.source
    plain = isinstance(found, Trace) and not found.settings.k
    begin = KINDS[s.kind].format(when=literal(s.when) and f" on {literal(s.when)}")
    drafter = ", plain decoding" if plain else f" with {s.drafter}"
    where = ", ".join(part for part in (f"{s.dtype} on {s.device}", s.machine) if part.strip(" on"))
    return f"{begin}: {literal(s.target + drafter + (', ' + where if s.dtype else ''))}."


def verdict(trace: Trace, plain: Trace | None, check: Check | None) -> str:
    """Is the text the target's own? One paragraph."""
    if plain is None:
        return ""
    if not trace.settings.sampling.greedy:
        return (
            "Sampled: the same *law* as plain decoding, not the same text. Page “The rule” is "
            "about why; only greedy texts can be compared word for word."
        )
    if check is None:
        return "Not compared word for word."
    if check.natural.equal:
        return f"✓ The same {len(trace.token_ids)} tokens as plain decoding, one by one."
    at = check.natural.first
    words = f"The two texts part at token {at + 1}. "
    if check.tie:
        words += (
            f"There the target's two best logits are {check.tie.gap:.3g} apart: a near tie, which "
            f"{trace.source.dtype} rounds differently in a pass over one row and over several. "
        )
    if check.fixed and check.fixed.equal:
        words += "With every pass at one fixed shape the two are the same, bit for bit ✓"
    elif check.fixed:
        words += (
            f"At one fixed shape they part too, at token {check.fixed.first + 1}: please report it."
        )
    return words
