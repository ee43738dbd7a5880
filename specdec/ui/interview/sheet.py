"""The sheet: formulas, rule, worked numbers and words on two pages, to print."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from specdec import theory
from specdec.language import text
from specdec.stated import Stated
from specdec.ui import glossary
from specdec.ui.component import component
from specdec.ui.interview.board import (
    ALPHA,
    example_rows,
    position_rows,
    values,
)

ALPHAS, COSTS, DRAFTS = (0.5, 0.6, 0.7, 0.8, 0.9), (0.05, 0.1, 0.2), (1, 2, 4, 8)
LIMITS: dict[str, Any] = {}


def draw(link: Mapping[str, Any]) -> dict[str, Any]:
    """Draw the sheet on the screen as it will be on paper; no state."""
    words = text("sheet")
    st.markdown(words["intro"])
    _mount(key="print sheet", data={"label": words["print"]})
    with st.container(key="sheet_one"):
        _rule_page(words)
    with st.container(key="sheet_two"):
        _number_page(words)
    return {}


def _rule_page(words: Mapping[str, Any]) -> None:
    st.markdown(f"### {words['title']}")
    left, right = st.columns(2)
    with left:
        _section(words["loop"], *(words[name] for name in ("draft", "verify", "accept", "after")))
        _section(words["rule"])
        st.latex(r"\text{keep }x\text{ if }u<\min\!\left(1,\frac{p(x)}{q(x)}\right)")
        st.latex(r"\text{else draw from }\frac{\max(0,\,p-q)}{\sum\max(0,\,p-q)}")
        st.latex(r"\alpha=\sum_x\min(p(x),q(x))")
        st.markdown(words["proof"])
        st.markdown(words["greedy"])
        _section(words["levers"], words["lever"])
        _section(words["costs"], _list(words["cost"]))
    with right:
        _section(words["speed"])
        st.markdown(words["tokens"])
        st.latex(r"\frac{1-\alpha^{k+1}}{1-\alpha}")
        st.markdown(words["speedup"])
        st.latex(r"\frac{1-\alpha^{k+1}}{(1-\alpha)\,(1+kc+kv)}")
        st.markdown(words["operations"])
        st.latex(r"\frac{(1-\alpha)(k\,\hat c+k+1)}{1-\alpha^{k+1}}")
        st.markdown(words["pays"])
        st.markdown(words["rates"].format(yield4=_yield(4), yield8=_yield(8)))
        _section(words["wrong"], _list(words["faults"]))
    left, right = st.columns([3, 2])
    with left:
        _section(words["position"])
        st.table(position_rows())
        st.markdown(words["position_note"].format_map(values()))
    with right:
        _section(words["three"])
        st.table(example_rows())


def _number_page(words: Mapping[str, Any]) -> None:
    st.markdown(f"### {words['worked']}")
    left, right = st.columns(2)
    with left:
        _section(words["passes"])
        st.table(pass_rows())
    with right:
        _section(words["grid"])
        st.table(best_rows())
    _section(words["words"])
    half = -(-len(glossary.of_page("")) // 2)
    for column, part in zip(st.columns(2), (slice(half), slice(half, None))):
        entries = glossary.of_page("")[part]
        column.markdown("\n\n".join(f"**{w.term}:** {w.meaning}" for w in entries))


def pass_rows() -> list[dict[str, str]]:
    """Tokens a target pass, a row for each α."""
    return [
        {"α": f"{a:g}"} | {f"k = {k}": f"{theory.tokens_per_pass(a, k):.2f}" for k in DRAFTS}
        for a in ALPHAS
    ]


def best_rows() -> list[dict[str, str]]:
    """The best k and its speed-up, a row for each α."""
    return [{"α": f"{a:g}"} | {f"c = {c:g}": _best(a, c) for c in COSTS} for a in ALPHAS]


def _best(alpha: float, c: float) -> str:
    k = theory.best_k(alpha, c)
    return f"{k} · {theory.speedup(alpha, k, c):.2f}×"


def _yield(k: int) -> str:
    return f"{Stated('draft_yield', '', alpha=ALPHA, k=k).result():.2f}"


def _section(title: str, *lines: str) -> None:
    st.markdown("\n\n".join((f"**{title}**", *lines)))


def _list(lines: tuple[str, ...]) -> str:
    return "\n".join(f"- {line.format_map(values())}" for line in lines)


_mount = component("sheet", (), isolate=False)
