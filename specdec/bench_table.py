"""The report of a bench for people, and for programs."""

from __future__ import annotations

import json
from dataclasses import asdict

from specdec.bench import Report
from specdec.bench_results import Result

COLUMNS = ("tokens/s", 9), ("speed-up", 9), ("(spread)", 13), ("predicted", 10)
COLUMNS += ("passes", 8), ("drafts", 8), ("ms/pass", 8), ("/pass", 6)
COLUMNS += ("α", 5), ("yield", 6), ("equal", 6)


def table(report: Report) -> str:
    """What a pass costs, the loop's share, and a line for each arm."""
    c, width = report.costs, max(len(a.name) for a in report.arms) + 1
    prompts = len(report.prompts)
    return "\n".join(
        [
            f"{report.machine} · {report.dtype} · pair {report.pair} · k = {report.k} · "
            f"{prompts} prompt{'s' * (prompts != 1)}, {report.max_new_tokens} tokens each · "
            f"medians of {report.repeats}",
            f"at {report.length} tokens: target pass {c.target * 1e3:.1f} ms · over {c.k + 1} "
            f"tokens {c.verify * 1e3:.1f} ms ({c.verify / c.target:.2f}×) · draft pass "
            f"{c.draft * 1e3:.1f} ms · c = {c.c:.3f} · v = {c.v:.3f}",
            f"our loop ÷ its bare passes: {report.overhead:.3f} greedy, "
            f"{report.overhead_sampling:.3f} sampling",
            "",
            " " * width + "".join(f"{word:>{w}}" for word, w in COLUMNS) + "  accepted at 1, 2, …",
            *(f"{a.name:{width}}{_line(a)}".rstrip() for a in report.arms),
            *_notes(report),
        ]
    )


def to_json(report: Report) -> str:
    """The report with c and v beside the times that they come from."""
    costs = asdict(report.costs) | {"c": report.costs.c, "v": report.costs.v}
    return json.dumps(asdict(report) | {"costs": costs}, indent=2, ensure_ascii=False)


def _line(a: Result) -> str:
    cells = (
        f"{a.tokens_per_s:.1f}",
        f"{a.speedup:.2f}×",
        f"({a.spread[0]:.2f}–{a.spread[1]:.2f})",
        _number(a.predicted, "×"),
        str(a.target_passes),
        str(a.draft_passes or "–"),
        f"{a.ms_per_pass:.1f}",
        f"{a.tokens_per_pass:.2f}",
        _number(a.alpha),
        _number(a.draft_yield),
        "yes" if a.equal else "no",
    )
    line = "".join(f"{cell:>{w}}" for cell, (_, w) in zip(cells, COLUMNS))
    return line + "  " + " ".join(f"{x:.2f}" for x in a.per_position[:4])


def _number(x: float | None, unit: str = "") -> str:
    return "–" if x is None else f"{x:.2f}{unit}"


def _notes(report: Report) -> list[str]:
    """Where texts part, and which arms could not run."""
    prompts = len(report.prompts)
    parted = [
        f"{a.name}: {a.parted} of {prompts} texts part from plain decoding where the target's two "
        f"best logits are at most {a.gap:.2g} apart"
        + ("; at one fixed shape they do not" if a.equal else "")
        for a in report.arms
        if a.parted
    ]
    left_out = [f"{name} is left out: {words}" for name, words in report.left_out]
    return ["", *parted, *left_out] if parted or left_out else []
