"""Published tables on page 4, each cell computed again, and two of their slips to find."""

from __future__ import annotations

import streamlit as st

from specdec import theory
from specdec.published import Agreement, Printed, published

MARKS = {
    "paper": "read in the paper",
    "code": "read in the project's repository",
    "reported": "as reported: not read in the paper itself",
}
SIGNS: dict[Agreement, str] = {"agrees": "✓", "explained": "≈", "differs": "✗"}
GRID_C, GRID_ALPHA = (0.05, 0.1, 0.2), (0.5, 0.6, 0.7, 0.8, 0.9)


def panel() -> None:
    """All tables, with the rule of the ticks and the sources."""
    st.markdown(
        "**✓** the formula's value, rounded to the digits printed, is the printed number. "
        "**≈** not so for the α and c as printed, but for some that round to them. "
        "**✗** it is not."
    )
    ops, runs, times, best = st.tabs(
        ["Free drafts", "T5, expected and measured", "Chinchilla, timed", "The best k"]
    )
    with ops:
        _table(free(), "leviathan", "c = 0: the drafts cost no time, and arithmetic grows.")
    with runs:
        _table(expected(), "leviathan", f"{surprises()} Drafted at the k of the paper.")
        _exercise("small c", "The text beside these tables says that c was below 0.05 in all "
                  "runs. Which rows deny it?", small_c())  # fmt: skip
    with times:
        _table(timed(), "chen", "α: what the formula needs to explain the times, c = 1.8 / 14.1.")
        _exercise("ratio", "One printed speed-up does not follow from the times beside it. "
                  "Which, and what should it be?", wrong_ratio())  # fmt: skip
    with best:
        st.table(grid())
        st.caption("Computed here: the best k and its speed-up, v = 0.")


def _table(rows: list[dict[str, str]], source: str, words: str) -> None:
    st.table(rows)
    found = published().sources[source]
    st.caption(f"{words} {found.words} ({MARKS[found.mark]}).")


def _exercise(key: str, ask: str, answer: str) -> None:
    with st.container(border=True):
        st.markdown(f"**Spot the slip.** {ask}")
        if st.toggle("Show the answer", key=f"slip {key}"):
            st.markdown(answer)


def _cell(printed: Printed, value: float) -> str:
    return f"{printed.text} {'✓' if printed.stands_for(value) else '✗'} {value:.4g}"


def free() -> list[dict[str, str]]:
    """Leviathan's Table 1: printed, tick, computed."""
    rows = []
    for row in published().ops:
        ops, speed = row.values()
        rows.append(
            {
                "α": row.alpha.text,
                "k": str(row.k),
                "arithmetic": _cell(row.ops, ops),
                "speed-up": _cell(row.speed, speed),
            }
        )
    return rows


def expected() -> list[dict[str, str]]:
    """Leviathan's Tables 2 and 4: expectation, measurement, and the k that we would take."""
    rows = []
    for run in published().runs:
        k, speed = run.best()
        rows.append(
            {
                "task": run.task,
                "drafter": run.drafter,
                "T": f"{run.temperature:g}",
                "k": str(run.k),
                "α": run.alpha.text,
                "c": run.c.text,
                "expected": f"{run.expected.text} {SIGNS[run.agreement()]} {run.formula():.2f}",
                "measured": run.measured.text,
                "÷ formula": f"{run.surprise():+.0%}",
                "best k": f"{k}: {speed:.2f}×",
            }
        )
    return rows


def surprises() -> str:
    """How far measurement and formula part, at most, on either side."""
    found = [run.surprise() for run in published().runs]
    return (
        f"Measured beats the formula by up to {max(found):.0%} and misses it by up to "
        f"{-min(found):.0%}: α and c do not hold all that a clock sees."
    )


def timed() -> list[dict[str, str]]:
    """Chen's table: the ratio of the printed times, and the α behind it."""
    return [
        {
            "task": row.task,
            "k": str(row.k),
            "ms a token, plain": row.target.text,
            "speculative": row.speculative.text,
            "speed-up": f"{row.speed.text} {SIGNS[row.agreement()]} {row.ratio():.3f}",
            "α": f"{row.alpha():.2f}",
        }
        for row in published().timings
    ]


def small_c() -> str:
    """The answer to the first slip."""
    large = [run for run in published().runs if run.c.value >= 0.05]
    values = sorted({run.c.text for run in large})
    drafters = sorted({run.drafter for run in large})
    return (
        f"{len(large)} of {len(published().runs)} rows, all of the {', '.join(drafters)} drafter, "
        f"have c = {', '.join(values)}. The sentence holds for the two smaller drafters only."
    )


def wrong_ratio() -> str:
    """The answer to the second slip."""
    wrong = [row for row in published().timings if row.agreement() == "differs"]
    return " ".join(
        f"{row.task}: {row.target.text} / {row.speculative.text} = {row.ratio():.3f}, and no "
        f"rounding of the times makes it the printed {row.speed.text}."
        for row in wrong
    )


def grid() -> list[dict[str, str]]:
    """The best k by α and c."""
    return [
        {"α": f"{alpha:g}"} | {f"c = {c:g}": _best(alpha, c) for c in GRID_C}
        for alpha in GRID_ALPHA
    ]


def _best(alpha: float, c: float) -> str:
    k = theory.best_k(alpha, c)
    return f"k = {k}: {theory.speedup(alpha, k, c):.2f}×"
