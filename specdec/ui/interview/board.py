"""The whiteboard of the walkthrough: a row an answer, filled in with what the code computes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal

import streamlit as st

from specdec import rule, theory, toy
from specdec.language import entries
from specdec.questions import Show
from specdec.ui import scenes, tables
from specdec.ui.overlap_laws import examples
from specdec.ui.stage import Position, stage, steps

K, C, ALPHA = 4, 0.05, 0.8
EXAMPLES = ((0.8, 0.05), (0.2, 0.05), (0.95, 0.5))  # the article's three drafters: α, c


@dataclass(frozen=True)
class Step:
    """A question of the walkthrough, its answer, its row on the board, and where to see it."""

    name: str
    ask: str
    answer: str
    board: str
    see: str
    show: Show
    figure: Literal["", "stage", "laws", "examples"] = ""
    formula: str = ""  # LaTeX


@cache
def all_steps(language: str = "en") -> tuple[Step, ...]:
    """The steps of the walkthrough, in order."""
    return entries("step", Step, language)


@cache
def round_shown() -> scenes.Show:
    """The kiln's two rounds, run on the toy tables."""
    return scenes.opening(next(s for s in scenes.SCENES if s.name == "good"), K)


def place(name: str) -> Position:
    """Where in the first round the stage stands at a step: after the draft, the pass, the end."""
    first = round_shown().trace.rounds[0]
    ends = {"draft": first.draft_passes, "verify": first.draft_passes + 1}
    return Position(1, ends.get(name, steps(first) - 1))


@cache
def values() -> dict[str, str]:
    """What the {…} of the rows stand for."""
    return _round_values() | _law_values() | _speed_values()


def _round_values() -> dict[str, str]:
    shown = round_shown()
    first, target = shown.trace.rounds[0], toy.table(tables.TARGET)
    drafted = [token.text.strip() for token in first.drafted]
    wanted = [target(drafted[:i]) for i in range(len(drafted) + 1)]
    by_verdict = {
        verdict: " ".join(t.text.strip() for t in first.drafted if t.verdict == verdict)
        for verdict in ("accepted", "rejected", "discarded")
    }
    return by_verdict | {
        "plain_tokens": str(len(shown.plain.token_ids)),
        "plain_passes": str(shown.plain.target_passes),
        "drafted": " ".join(drafted),
        "draft_passes": str(first.draft_passes),
        "wanted": " ".join("–" if word == toy.END else word for word in wanted),
        "corrected": " ".join(t.text.strip() for t in first.written if t.kind == "corrected"),
        "written": str(len(first.written)),
    }


def _law_values() -> dict[str, str]:
    p, q = examples()[0].laws.pair
    return {
        "overlap": str(rule.overlap(p, q)),
        "ratio": str(rule.acceptance(p, q, "cooled")),
        "residual": _law(rule.residual(p, q)),
        "output": _law(rule.output_distribution(p, q)),
    }


def _speed_values() -> dict[str, str]:
    good, weak, slow = (theory.speedup(alpha, K, c) for alpha, c in EXAMPLES)
    best = theory.best_k(ALPHA, C)
    return {
        "tokens": f"{theory.tokens_per_pass(ALPHA, K):.2f}",
        "good": f"{good:.2f}",
        "weak": f"{weak:.2f}",
        "slow": f"{slow:.2f}",
        "break_even": f"{theory.break_even_alpha(K, C):.2f}",
        "operations": f"{theory.operations_factor(ALPHA, K, C):.2f}",
        "busy": f"{theory.speedup(ALPHA, K, C, 1.0):.2f}",
        "best": str(best),
        "best_speed": f"{theory.speedup(ALPHA, best, C):.2f}",
    }


def _law(law: dict) -> str:
    return " · ".join(f"{x} {mass}" for x, mass in law.items() if mass)


def draw(shown: Sequence[Step]) -> None:
    """The rows of these steps; a figure stands under the last row that has it."""
    last = {step.figure: step.name for step in shown}
    for number, step in enumerate(shown, 1):
        st.markdown(f"{number} · {step.board.format_map(values())}")
        if step.formula:
            st.latex(step.formula)
        if last[step.figure] == step.name:
            _figure(step)


def _figure(step: Step) -> None:
    if step.figure == "stage":
        shown = round_shown()
        key = f"board {step.name}"
        stage(shown.trace, key=key, start=place(step.name), mode="compact", report=False)
    elif step.figure == "laws":
        st.table(position_rows())
    elif step.figure == "examples":
        st.table(example_rows())


def position_rows() -> list[dict[str, str]]:
    """The article's position in fractions: p, q, and what becomes of them."""
    p, q = examples()[0].laws.pair
    residual, written = rule.residual(p, q), rule.output_distribution(p, q)
    return [
        {
            "token": x,
            "p": str(p[x]),
            "q": str(q[x]),
            "min(1, p/q)": str(rule.acceptance(p, q, x)),
            "min(p, q)": str(min(p[x], q[x])),
            "residual": str(residual[x]),
            "written": str(written[x]),
        }
        for x in p
    ]


def example_rows() -> list[dict[str, str]]:
    """The article's three drafters: tokens a pass and speed-up at k = 4."""
    return [
        {
            "α": f"{alpha:g}",
            "c": f"{c:g}",
            "tokens a pass": f"{theory.tokens_per_pass(alpha, K):.2f}",
            "speed-up": f"{theory.speedup(alpha, K, c):.2f}×",
        }
        for alpha, c in EXAMPLES
    ]
