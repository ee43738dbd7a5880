"""A trace as a table, for those who count for themselves."""

from __future__ import annotations

import csv
import io

from specdec import tree, tree_rounds
from specdec.trace import Round, Trace

COLUMNS = (
    *("round", "lane", "position", "id", "text", "outcome"),
    *("q", "p", "u", "threshold"),
    *("draft_seconds", "verify_seconds", "accept_seconds"),
)


def to_csv(trace: Trace) -> str:
    """Comma-separated text: a line for each drafted and each written token, in order.

    `position` counts from 0 in the whole sequence, prompt included; the seconds are those of the
    round and stand on its first line. A text that a spreadsheet would take for a formula gets a
    leading apostrophe.
    """
    out = io.StringIO()
    sheet = csv.writer(out, lineterminator="\n")
    sheet.writerow(COLUMNS)
    for r in trace.rounds:
        seconds = [r.seconds.draft, r.seconds.verify, r.seconds.accept]
        for row in _rows(r):
            sheet.writerow([*row, *seconds])
            seconds = [""] * 3
    return out.getvalue()


def _rows(r: Round) -> list[list]:
    at = tree.positions(tree_rounds.parents(r), r.start)
    drafted = [
        [r.index, "draft", at[i], t.id, _cell(t.text), t.verdict, t.q, t.p, t.u, t.threshold]
        for i, t in enumerate(r.drafted)
    ]
    written = [
        [r.index, "written", r.start + i, t.id, _cell(t.text), t.kind, "", t.p, t.u, ""]
        for i, t in enumerate(r.written)
    ]
    return drafted + written


def _cell(text: str) -> str:
    return f"'{text}" if text.startswith(("=", "+", "-", "@", "\t", "\r")) else text
