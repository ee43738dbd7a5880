"""Two runs beside each other: what was set differently, where the texts part, rate by rate."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import streamlit as st

from specdec.compare import Difference, compare, conditions
from specdec.trace import Settings, Trace
from specdec.ui.component import component
from specdec.ui.literal import literal

MODULES = ("stage_plan", "stage_words", "stage_dom", "plan", "strips")
QUIET = {"k", "drafter", "rule", "seed"}  # may not change a greedy text
ENDS = {"eos": "end of text", "stop": "stop string", "length": "length limit"}

_mount = component("beside", MODULES, styles=("token", "controls"))


def beside(a: Trace, b: Trace, *, key: str, labels: tuple[str, str] = ("A", "B")) -> None:
    """Show two runs token under token, the first difference marked, and their rates in a table."""
    st.markdown(" ".join(filter(None, (setting_words(a, b), law_words(a, b)))))
    st.markdown(parting_words(a, b, labels))
    _mount(key=key, data=wire(a, b, labels))
    st.table(rates(a, b, labels), alt="The rates of both runs")


def wire(a: Trace, b: Trace, labels: Sequence[str]) -> dict[str, Any]:
    """What the browser gets: two strips, and the index of the first token that differs."""
    blank = [trace.source.kind == "simulated" for trace in (a, b)]
    return {
        "strips": [
            {"label": label, "blank": empty, "tokens": _tokens(trace)}
            for label, empty, trace in zip(labels, blank, (a, b))
        ],
        "first": None if any(blank) else compare(a, b).first,
        "compared": not any(blank),
    }


def setting_words(a: Trace, b: Trace) -> str:
    """Which settings differ, and whether a difference can be put down to one."""
    found = conditions(a, b)
    if not found:
        return "**No setting differs**: the same request twice."
    if len(found) == 1:
        return f"**One setting differs**: {_change(found[0])}."
    return (
        f"**{len(found)} settings differ**: {', '.join(map(_change, found))}. What differs between "
        "the two runs cannot be put down to one of them."
    )


def law_words(a: Trace, b: Trace) -> str:
    """What the settings that differ may do to the text."""
    names = {name for name, _, _ in conditions(a, b)}
    if _simulated(a, b):
        return "A simulated run has no text of its own: compare the rates."
    one, other = a.settings, b.settings
    if one.sampling.greedy and other.sampling.greedy:
        words = "Both runs are greedy: k, the drafter, the rule and the seed may not change a text."
        shared = min(len(a.token_ids), len(b.token_ids))
        if names <= QUIET and (compare(a, b).first or 0) < shared and not compare(a, b).equal:
            words += (
                " These part all the same: at a near tie, passes over more or fewer rows can round "
                "to different tokens."
            )
        return words
    if one.sampling.greedy or other.sampling.greedy:
        return "One run is greedy and one sampled: two laws, so two texts are to be expected."
    if one.seed != other.seed:
        return "Other seeds read other random numbers: chance parts two texts of one law, too."
    return _same_seed(one, other)


def _same_seed(one: Settings, other: Settings) -> str:
    own = [s.k == 0 or s.rule == "match" for s in (one, other)]  # the target's own draw decides
    if all(own):
        return (
            "Same seed, and every token is the target's own draw from the same number: k and the "
            "drafter may not change the text."
        )
    if any(own):
        return (
            "Same seed, but one run draws every token from the target's law and the other drafts "
            "and tests: the same law, other numbers."
        )
    if "block" in (one.rule, other.rule):
        return "Same seed, but block verification reads new numbers in every round."
    return (
        "Sampled with the same seed: both read the same random numbers at the same places, until "
        "a decision differs or one drafts where the other does not."
    )


def parting_words(a: Trace, b: Trace, labels: Sequence[str]) -> str:
    """Where the two texts part."""
    if _simulated(a, b):
        return ""
    found, n, m = compare(a, b), len(a.token_ids), len(b.token_ids)
    if found.equal:
        return f"The same text: all {n} tokens are equal."
    if found.first < min(n, m):
        return f"First difference: token {found.first + 1}."
    trace, label = (a, labels[0]) if n < m else (b, labels[1])
    why = f" ({ENDS[trace.stop_reason]})" if trace.stop_reason in ENDS else ""
    return f"All {found.first} tokens of “{literal(label)}” are the same; there it ends{why}."


def rates(a: Trace, b: Trace, labels: Sequence[str]) -> dict[str, list[str]]:
    """The table of rates: a column a run; n/a where nothing was counted.

    ValueError if both runs have the same label.
    """
    if labels[0] == labels[1]:
        raise ValueError(f"Both runs are called {labels[0]!r}; their labels must differ.")
    names = ("tokens", "target passes", "α (accepted ÷ judged)", "draft yield", "tokens per pass")
    names += ("tokens per second", "seconds, prefill left out", "times are")
    return {"rate": list(names)} | {
        literal(label): _rates(trace) for label, trace in zip(labels, (a, b), strict=True)
    }


def _rates(trace: Trace) -> list[str]:
    tokens, seconds = len(trace.token_ids), trace.seconds.total
    timed = seconds and trace.source.kind != "toy"
    return [
        str(tokens),
        str(trace.target_passes),
        _number(trace.alpha),
        _number(trace.draft_yield),
        _number(trace.tokens_per_pass),
        f"{tokens / seconds:.1f}" if timed else "n/a",
        f"{seconds:.3f}" if timed else "n/a",
        {"live": "measured just now", "toy": "none"}.get(trace.source.kind, trace.source.kind),
    ]


def _number(x: float | None) -> str:
    return "n/a" if x is None else f"{x:.2f}"


def _change(difference: Difference) -> str:
    name, one, other = difference
    if name == "prompt":
        return "another prompt"
    return f"{name} {literal(one)} → {literal(other)}"


def _simulated(a: Trace, b: Trace) -> bool:
    return "simulated" in (a.source.kind, b.source.kind)


def _tokens(trace: Trace) -> list[dict[str, Any]]:
    return [
        {"text": token.text, "kind": token.kind, "seam": i == 0 and r.index > 0}
        for r in trace.rounds
        for i, token in enumerate(r.written)
    ]
