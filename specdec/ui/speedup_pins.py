"""The pins of page 4 beside the present setting, and the curve's numbers as a file."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

import streamlit as st

from specdec import theory
from specdec.ui import speedup_at
from specdec.ui.live_curve import K_END, K_MAX, Point
from specdec.ui.speedup_at import At

LETTERS = "ABCD"


def panel(at: At) -> None:
    """A row for each pin and the present setting, the way back to each, and the file."""
    if at.pins:
        st.markdown("**Pinned, beside your setting**")
        st.table(rows(at.point, at.pins))
    with st.container(horizontal=True):
        for letter, pin in zip(LETTERS, at.pins):
            label = f"Set the sliders to {letter}"
            st.button(label, key=f"pin {letter}", on_click=speedup_at.go, args=(pin,))
        st.download_button(
            "Save the values (CSV)",
            values(at.point, at.pins),
            file_name="speedup.csv",
            mime="text/csv",
            on_click="ignore",
        )


def rows(point: Point, pins: Sequence[Point]) -> list[dict[str, str]]:
    """The settings side by side, each with its own best k, and the present one against each."""
    now = theory.speedup(point.alpha, point.k, point.c, point.v)
    return [_row("●\u00a0you", point, now), *(_row(n, p, now) for n, p in zip(LETTERS, pins))]


def _row(name: str, p: Point, now: float) -> dict[str, str]:
    speed = theory.speedup(p.alpha, p.k, p.c, p.v)
    best = theory.best_k(p.alpha, p.c, p.v, K_MAX)
    finite = theory.has_finite_best_k(p.alpha, p.c, p.v)
    peak = theory.speedup(p.alpha, best, p.c, p.v)
    return {
        "": name,
        "k": str(p.k),
        "α": f"{p.alpha:.4g}",
        "c": f"{p.c:.4g}",
        "v": f"{p.v:.4g}",
        "tokens per pass": f"{theory.tokens_per_pass(p.alpha, p.k):.2f}",
        "speed-up": f"{speed:.2f}×",
        "you ÷ it": f"{now / speed:.2f}",
        "best k": f"{best}: {peak:.2f}×" if finite else "none",
    }


def values(point: Point, pins: Sequence[Point]) -> str:
    """CSV: the curve at every k with all digits, a column for each pin; settings in the header."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    names = [f"pin {n} speedup ({_setting(p)})" for n, p in zip(LETTERS, pins)]
    writer.writerow(
        ["k", "tokens_per_pass", "cost_of_a_round", f"speedup ({_setting(point)})", *names]
    )
    for k in range(K_END + 1):
        cost = 1 + k * (point.c + point.v)
        speeds = [theory.speedup(p.alpha, k, p.c, p.v) for p in (point, *pins)]
        writer.writerow([k, theory.tokens_per_pass(point.alpha, k), cost, *speeds])
    return out.getvalue()


def _setting(p: Point) -> str:
    return f"alpha={p.alpha:g} c={p.c:g} v={p.v:g}"
