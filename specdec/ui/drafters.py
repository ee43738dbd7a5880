"""Page 6's state: which prompt, law and ways are chosen, and which contest is shown for them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import streamlit as st

from specdec import contest
from specdec.contest import LAWS, RECORDED, Contest
from specdec.contest_run import ENTRANTS
from specdec.presets import ASSETS, presets
from specdec.ui import query

LIVE = "drafters live"  # of the session state: (prompt, law) → the contest of this visit
FRESH = "drafters fresh"  # of the session state: a contest has just come, and is to be shown
WORDS = {
    "plain": "plain decoding",
    "model": "small model",
    "lookup": "prompt lookup",
    "heads": "heads on the target",
    "tree": "tree",
    "early-exit": "early exit",
    "combined": "combined",
    "adaptive": "adaptive k",
    "oracle": "oracle",
    "random": "random",
}
LAW_WORDS = {"greedy": "Greedy", "sampled": "Sampled, T = 1"}
FIRST = ("model", "lookup", "heads", "tree", "early-exit", "combined", "adaptive")
SECTIONS = ("adaptive", "certainty", "published")
LIMITS = {
    "prompt": query.Choice("chat", RECORDED),
    "T": query.Number(0.0, 0.0, 1.0),
    "drafter": query.Text(".".join(FIRST), 120),
    "k": query.Number(4, 1, 8, whole=True),
    "n": query.Number(32, 8, 48, whole=True),
    "panel": query.Choice("tree", ENTRANTS),
}
KEYS = ("seed", "open", "round", "step")
NO_HEADS = (
    "There are no heads for this target yet: `python -m specdec distill` trains them, and this "
    "page takes them in by itself."
)
HEADS = ASSETS / "drafters" / "heads.safetensors"
HEADS_LATER = "The heads came after this recording: “Run these ways here” has them."


@dataclass(frozen=True)
class Chosen:
    """What the reader looks at: a contest, and which of its ways."""

    contest: Contest
    law: str
    ways: tuple[str, ...]  # that were chosen and are in the contest
    missing: tuple[str, ...]  # that were chosen and are not

    @property
    def key(self) -> str:
        """Tells one contest from another; `when` stands for a recording's day."""
        return f"{self.contest.prompt} {self.law} {self.contest.source.kind}"


def ways_of(text: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The ways that a link names, and a sentence if some of them are none."""
    asked = text.split(".") if text else []
    known = tuple(name for name in ENTRANTS if name in asked)
    if len(known) == len(set(asked)):
        return known, ()
    return known or FIRST, (f"drafter has ways out of {', '.join(ENTRANTS)}: the others are gone.",)


def controls(link: Mapping[str, Any], ways: tuple[str, ...]) -> Chosen:
    """Prompt, law and ways as widgets that start from a link, and the contest for them."""
    titles = {p.name: p.title for p in presets()}
    law = "sampled" if link["T"] >= 0.5 else "greedy"
    for name, value in (("prompt", link["prompt"]), ("law", law), ("ways", list(ways))):
        st.session_state.setdefault(f"drafters {name}", value)
    with st.container(horizontal=True, gap="large"):
        prompt = st.segmented_control(
            "Prompt", RECORDED, format_func=titles.get, key="drafters prompt", required=True
        )
        law = st.segmented_control(
            "The target's text", list(LAWS), format_func=LAW_WORDS.get, key="drafters law",
            required=True,
        )  # fmt: skip
    asked = st.pills(
        "Ways to draft",
        ENTRANTS,
        selection_mode="multi",
        format_func=WORDS.get,
        key="drafters ways",
        help="Oracle and random are for teaching: one knows the text, the other knows nothing.",
    )
    found = shown(prompt, law)
    asked = [name for name in ENTRANTS if name in asked]
    ways = tuple(name for name in asked if name in found.names)
    return Chosen(found, law, ways, tuple(name for name in asked if name not in ways))


def shown(prompt: str, law: str) -> Contest:
    """This visit's own contest of these, unless the reader went back; else the recorded one."""
    live = st.session_state.get(LIVE, {}).get((prompt, law))
    if live is None:
        return contest.load(prompt, law)
    if st.session_state.pop(FRESH, False) or "drafters which" not in st.session_state:
        st.session_state["drafters which"] = "live"
    which = st.segmented_control(
        "Times",
        ["live", "recorded"],
        format_func={"live": "Measured here, just now", "recorded": "Recorded"}.get,
        key="drafters which",
        required=True,
    )
    return live if which == "live" else contest.load(prompt, law)


def absent(chosen: Chosen) -> str:
    """What a reader who chose a way that is not there is told; "" if all are there."""
    words = []
    if "heads" in chosen.missing:
        words.append(HEADS_LATER if HEADS.is_file() else NO_HEADS)
    if "oracle" in chosen.missing and not chosen.contest.greedy:
        words.append("A sampled text cannot be known beforehand: the oracle is of greedy texts.")
    rest = [WORDS[n] for n in chosen.missing if n not in ("heads", "oracle")]
    if rest:
        words.append(f"Not run this time: {', '.join(rest)}.")
    return " ".join(words)


def drawn(chosen: Chosen, first: str) -> str:
    """Whose rounds are drawn: one of the chosen ways, `first` a link's; without any, plain's."""
    names = chosen.ways or ("plain",)
    st.session_state.setdefault("drafters drawn", first)
    if st.session_state["drafters drawn"] not in names:
        st.session_state["drafters drawn"] = "tree" if "tree" in names else names[0]
    return st.selectbox(
        "Rounds of",
        names,
        format_func=WORDS.get,
        key="drafters drawn",
        width=320,
        help="A chain is a tree without branches: its mask is the triangle of every decoder.",
    )


def section(name: str, label: str, opened: str, draw: Callable[..., None], *args: Any) -> None:
    """An expander that draws only while it is open; `opened`: those of the link."""
    key = f"drafters open {name}"
    st.session_state.setdefault(key, name in opened.split("."))
    box = st.expander(label, key=key, on_change="rerun")
    if box.open:
        with box:
            draw(*args)


def link_to(chosen: Chosen, place: tuple[int, int], live: Mapping[str, int]) -> dict[str, Any]:
    """The values of the link to exactly this; `live`: k, n and seed of the next run."""
    opened = [name for name in SECTIONS if st.session_state.get(f"drafters open {name}")]
    return {
        "prompt": chosen.contest.prompt,
        "T": LAWS[chosen.law],
        "drafter": ".".join(sorted((*chosen.ways, *chosen.missing), key=ENTRANTS.index)),
        "panel": drawn if (drawn := st.session_state["drafters drawn"]) in ENTRANTS else "tree",
        "round": place[0],
        "step": place[1],
        "open": ".".join(opened),
        **live,
    }
