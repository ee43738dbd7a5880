"""The live curve: sliders for k, α, c, v and the speed-up that follows while they are dragged.

The browser computes with the twins of `specdec.theory` (assets/theory.js) and tells Python
the whole point once, when the reader lets go.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import streamlit as st

from specdec.ui import query
from specdec.ui.measured import Measured

_ASSETS = Path(__file__).resolve().parents[2] / "assets"
_FILES = {
    "html": ["live_curve.html"],
    "css": ["live_curve.css"],
    "js": ["theory.js", "live_curve.js"],  # one module: an inline component cannot import
}
_mount = st.components.v2.component(
    "live_curve",
    **{
        part: "\n".join((_ASSETS / name).read_text(encoding="utf-8") for name in names)
        for part, names in _FILES.items()
    },
)
_STEPS = {"k": 1, "alpha": 0.01, "c": 0.005, "v": 0.005}
K_MAX = 64  # how far the best k is looked for; the sliders end earlier


@dataclass(frozen=True)
class Point:
    """Where the sliders stand; ranges as in `query.KEYS`."""

    k: int = 4
    alpha: float = 0.8
    c: float = 0.05
    v: float = 0.0

    @classmethod
    def read(cls, params: Mapping[str, Any]) -> tuple[Point, tuple[str, ...]]:
        """The point that a link or the browser names, every value in range, and what was mended."""
        link = query.read(params, "k", "alpha", "c", "v")
        return cls(**link.values), link.notes


def live_curve(
    point: Point,
    *,
    revision: int,
    key: str,
    on_settle: Callable[[Point], None],
    measured: Sequence[Measured] = (),
) -> None:
    """Draw it. The browser takes `point` only when `revision` is new: it knows its own moves.

    `on_settle` gets the reader's point, checked, before the run that follows.
    """

    def settle() -> None:
        sent = st.session_state[key].get("point")
        if isinstance(sent, Mapping):  # the browser is not trusted
            on_settle(Point.read(sent)[0])

    _mount(
        key=key,
        data={
            "point": asdict(point),
            "revision": revision,
            "ranges": {
                name: [query.KEYS[name].low, query.KEYS[name].high, step]
                for name, step in _STEPS.items()
            },
            "kMax": K_MAX,
            "measured": [asdict(run) for run in measured],
        },
        on_point_change=settle,
    )
