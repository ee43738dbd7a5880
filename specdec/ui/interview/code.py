"""The code drill: which line belongs in the blank, and what the others do when they run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from specdec import code_drill
from specdec.code_drill import Blank, Outcome
from specdec.drill_exercise import show
from specdec.lab import cases
from specdec.lab.listings import RIGHT, Line
from specdec.language import text
from specdec.ui import query
from specdec.ui.interview.kept import widget
from specdec.ui.interview.series import LIMITS as SERIES
from specdec.ui.interview.series import At, series, verdict
from specdec.ui.literal import literal

LIMITS = SERIES | {"pick": query.KEYS["pick"]}
PICKED = "code picked"  # of the session state: (seed, step) → names of the lines picked, in order


def draw(link: Mapping[str, Any]) -> dict[str, Any]:
    """Draw the part; returns its state for a link."""
    words = text("code_drill")
    st.markdown(words["intro"])
    at = series("code", link)
    blank = code_drill.blank(at.seed, at.step)
    picked = st.session_state.setdefault(PICKED, {})
    with st.container(border=True):
        pick = _choose(blank, words, at, link["pick"])
        line = blank.lines[pick] if pick is not None else None
        _program(blank, words, line)
        if line:
            _result(blank, words, line)
    _score(words, picked)
    return {"seed": at.seed, "step": at.step, "pick": 0 if pick is None else pick + 1}


def _choose(blank: Blank, words: Mapping[str, Any], at: At, pick: int) -> int | None:
    """The line that the reader picks, at first the `pick`-th of the link (0: none)."""
    names, key = [line.name for line in blank.lines], f"pick {at.seed} {at.step}"
    before = st.session_state[PICKED].get((at.seed, at.step), [])
    first = pick - 1 if 0 < pick <= len(names) else names.index(before[-1]) if before else None
    key = widget(key, first)
    st.markdown(f"**{words['program'].format(name=words['names'][blank.listing.name])}**")
    return st.radio(
        words["choice"].format(n=_number(blank, blank.name)),
        range(len(names)),
        key=key,
        format_func=lambda i: f"`{blank.lines[i].code}`",
        on_change=_note,
        args=(key, (at.seed, at.step), names),
    )


def _note(key: str, address: tuple[int, int], names: list[str]) -> None:
    """Remember what the reader picked himself; a line that a link shows does not count."""
    picked = st.session_state[PICKED]
    name = names[st.session_state[key]]
    st.session_state[PICKED] = picked | {address: [*picked.get(address, []), name]}


def _number(blank: Blank, name: str) -> int:
    return 1 + list(blank.listing.blanks).index(name)


def _program(blank: Blank, words: Mapping[str, Any], line: Line | None) -> None:
    """The listing: the line that was picked, the lines that were found, and the open blanks."""
    lines = {}
    for name, known in blank.listing.blanks.items():
        label = words["blank"].format(n=_number(blank, name))
        if name == blank.name:
            shown = f"{line.code}  # {label}" if line else f"...  # {label}: {words['asked']}"
        else:
            shown = known[0].code if _solved(blank, name) else f"...  # {label}"
        lines[name] = shown
    st.code(blank.listing.filled(lines), language="python", wrap_lines=True)
    st.caption(words["pieces"][blank.listing.name])


def _solved(blank: Blank, name: str) -> bool:
    picked = st.session_state[PICKED].items()
    return any(
        RIGHT in names
        for (seed, step), names in picked
        if (code_drill.blank(seed, step).listing, code_drill.blank(seed, step).name)
        == (blank.listing, name)
    )


def _result(blank: Blank, words: Mapping[str, Any], line: Line) -> None:
    found = code_drill.outcomes(blank.listing.name, blank.name, line.name)
    right, shown = line.name == RIGHT, code_drill.case_of(line, found)
    st.markdown(f"{verdict(right)} {words['why'][blank.listing.name][blank.name][line.name]}")
    if right:
        st.markdown(words["passed"].format(n=len(found)))
    else:
        st.markdown(f"**{words['fails'].format(case=words['cases'][shown.case.name])}**")
        _case(words, shown)
    with st.expander(words["models"].format(case=words["cases"][shown.case.name])):
        st.table(_models(words, shown))
    with st.expander(words["all"]):
        st.table([_row(words, outcome) for outcome in found])
    lucky = [words["cases"][outcome.case.name] for outcome in found if outcome.ok]
    if lucky and not right:
        st.caption(words["lucky"].format(cases="; ".join(lucky)))


def _case(words: Mapping[str, Any], outcome: Outcome) -> None:
    """What came of one case: an error, or what was written and at how many passes."""
    if outcome.error:
        st.error(words["errors"][outcome.error])
        return
    st.markdown(_written(words, outcome))
    if outcome.bias and len(outcome.wanted) > 1:
        st.table(_laws(words, outcome))
    mean = words["mean"] if len(outcome.wanted) > 1 else ""
    passes, needed = show(outcome.passes), show(outcome.needed)
    st.markdown(words["passes"].format(passes=passes, needed=needed, mean=mean))


def _written(words: Mapping[str, Any], outcome: Outcome) -> str:
    if len(outcome.wanted) > 1:
        bias = words["bias"].format(bias=outcome.bias)
        return bias if outcome.bias else words["same_law"]
    [wanted], [got] = outcome.wanted, outcome.got
    if wanted == got:
        return words["same_text"].format(text=f"“{' '.join(got)}”")
    said = {"got": f"“{' '.join(got)}”", "wanted": f"“{' '.join(wanted)}”"}
    return words["wrong_text"].format(**said)


def _laws(words: Mapping[str, Any], outcome: Outcome) -> list[dict[str, str]]:
    rows = []
    for written in dict.fromkeys([*outcome.wanted, *outcome.got]):
        wanted, got = outcome.wanted.get(written, 0), outcome.got.get(written, 0)
        off = f"▲ +{got - wanted}" if got > wanted else f"▼ −{wanted - got}"
        rows.append(
            {
                words["text"]: " ".join(written),
                words["wanted"]: str(wanted),
                words["got"]: str(got),
                words["difference"]: off if got != wanted else "=",
            }
        )
    return rows


def _models(words: Mapping[str, Any], outcome: Outcome) -> list[dict[str, str]]:
    """What both models say in a case."""
    return [
        {
            words["after"]: " ".join(text) or words["start"],
            "p" if isinstance(p, Mapping) else words["target"]: _said(p),
            "q" if isinstance(q, Mapping) else words["drafter"]: _said(q),
        }
        for text, p, q in cases.models(outcome.case)
    ]


def _said(model: Any) -> str:
    if isinstance(model, str):
        return literal(model)  # "<end>" is no tag
    return ", ".join(f"{x} {mass}" for x, mass in model.items())


def _row(words: Mapping[str, Any], outcome: Outcome) -> dict[str, str]:
    case = words["cases"][outcome.case.name]
    if outcome.error:
        said = words["errors"][outcome.error]
    else:
        mean = words["mean"] if len(outcome.wanted) > 1 else ""
        passes, needed = show(outcome.passes), show(outcome.needed)
        said = words["passes"].format(passes=passes, needed=needed, mean=mean)
        said = f"{_written(words, outcome)} {said}"
    return {
        words["case"]: case,
        words["outcome"]: f"{words['fine'] if outcome.ok else '✗'} · {said}",
    }


def _score(words: Mapping[str, Any], picked: Mapping) -> None:
    firsts = [names[0] == RIGHT for names in picked.values()]
    if firsts:
        st.markdown(words["score"].format(first=sum(firsts), all=len(firsts)))
