"""The live curve: sliders for k, α, c, v and the speed-up that follows while they are dragged.

The browser computes with the twins of `specdec.theory` (assets/theory.js) and tells Python
the whole point once, when the reader lets go.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import streamlit as st

from specdec.cloud import SHARE, Cloud
from specdec.ui import query
from specdec.ui.component import read, script
from specdec.ui.measured import Measured

MODULES = ("words", "pen", "pins", "save", "numbers", "plot")
SCRIPT = read("theory.js") + "\n" + script("live_curve", MODULES)
_mount = st.components.v2.component(
    "live_curve", html=read("live_curve.html"), css=read("live_curve.css"), js=SCRIPT
)
_STEPS = {"k": 1, "alpha": 0.01, "c": 0.005, "v": 0.005}
K_MAX = 64  # how far the best k is looked for; the sliders end earlier
K_END = int(query.KEYS["k"].high)  # of the sliders and of every axis
MOST_PINS = 4


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
    pins: Sequence[Point] = (),
    on_pin: Callable[[tuple[Point, ...]], None] = lambda pins: None,
    measured: Sequence[Measured] = (),
    cloud: Cloud | None = None,
) -> None:
    """Draw it. The browser takes `point` and `pins` only when `revision` is new: it knows its own.

    `on_settle` gets the reader's point, `on_pin` all pins, both checked, before the run that
    follows. `cloud` is drawn while the curve stands at its α.
    """

    def settle() -> None:
        sent = st.session_state[key].get("point")
        if isinstance(sent, Mapping):  # the browser is not trusted
            on_settle(Point.read(sent)[0])

    def pin() -> None:
        on_pin(pins_of(st.session_state[key].get("pins")))

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
            "pins": [asdict(pin) for pin in pins],
            "measured": [asdict(run) for run in measured],
            "cloud": cloud and shades(cloud),
        },
        on_point_change=settle,
        on_pins_change=pin,
    )


def pins_of(sent: Any) -> tuple[Point, ...]:
    """The pins that the browser sent, each in range; what is no pin is left out."""
    if not isinstance(sent, (list, tuple)):
        return ()
    return tuple(Point.read(pin)[0] for pin in sent if isinstance(pin, Mapping))[:MOST_PINS]


def shades(cloud: Cloud) -> dict[str, Any]:
    """Tokens a pass at k = 0 … K_END: the browser divides by the cost, which it knows."""
    ks = range(K_END + 1)
    return {
        "alpha": cloud.alpha,
        "n": cloud.n,
        "seed": cloud.seed,
        "share": SHARE,
        "mean": [cloud.mean(k) for k in ks],
        "half": [cloud.half(k) for k in ks],
    }
