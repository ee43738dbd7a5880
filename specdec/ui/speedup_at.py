"""Where page 4 stands: sliders, pins, open sections. It lives in the session and the link."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, astuple, dataclass, field, replace
from typing import Any

import streamlit as st

from specdec.ui import query
from specdec.ui.live_curve import MOST_PINS, Point

_KEY = "speedup_at"
SECTIONS = ("rounds", "map", "back", "recorded", "tables", "headlines")
ROUNDS = query.Number(500, 10, 10_000, whole=True)  # what n is on this page
_NAMES = (*asdict(Point()), "n", "seed", "speed", "pins", "open", "link")
_PINS = (
    "A pin is four numbers in range, and four pins are the most: the link's others are left out."
)


@dataclass(frozen=True)
class At:
    """The reader's settings, how often they were set from outside the curve, and their address."""

    point: Point = field(default_factory=Point)
    pins: tuple[Point, ...] = ()
    opened: tuple[str, ...] = ()  # of SECTIONS
    n: int = int(ROUNDS.default)
    seed: int = 0
    speed: float = query.KEYS["speed"].default  # a measured speed-up, to be explained
    revision: int = 0
    notes: tuple[str, ...] = ()
    address: tuple[tuple[str, str], ...] = ()

    def link(self) -> dict[str, Any]:
        """Values for the keys of a link; what is at rest is left out."""
        opened = {"open": ".".join(self.opened)} if self.opened else {}
        rounds = {"n": self.n, "seed": self.seed} if "rounds" in self.opened else {}
        back = {"speed": self.speed} if "back" in self.opened else {}
        pins = {"pins": write_pins(self.pins)} if self.pins else {}
        return asdict(self.point) | pins | opened | rounds | back


def current() -> At:
    """Where the reader is; an address that this page did not write (a link, Back) decides."""
    at = st.session_state.get(_KEY, At())
    address = _address()
    if address and address != at.address:
        at = replace(_read(st.query_params), revision=at.revision + 1, address=address)
    st.session_state[_KEY] = at
    return at


def change(**fields: Any) -> None:
    """The reader changed something: the address follows, so a reload or a copy keeps it."""
    at = replace(st.session_state.get(_KEY, At()), notes=(), **fields)
    others = {name: st.query_params[name] for name in st.query_params if name not in _NAMES}
    st.query_params.from_dict(others | query.write(**at.link()))
    st.session_state[_KEY] = replace(at, address=_address())


def settle(point: Point) -> None:
    """The reader let go of a slider."""
    change(point=point)


def pin(pins: tuple[Point, ...]) -> None:
    """The reader pinned a setting, or let one go."""
    change(pins=pins)


def go(point: Point) -> None:
    """Move the sliders from outside the curve: a preset, a pin, a measured run."""
    change(point=point, revision=st.session_state.get(_KEY, At()).revision + 1)


def fold(name: str) -> None:
    """A section was opened or closed."""
    opened, now = st.session_state.get(_KEY, At()).opened, st.session_state[f"open {name}"]
    change(opened=tuple(s for s in SECTIONS if (now if s == name else s in opened)))


def entered(name: str) -> None:
    """A number of a section was entered: the field of At with this name."""
    change(**{name: st.session_state[f"speedup {name}"]})


def write_pins(pins: tuple[Point, ...]) -> str:
    """Pins as a link has them: numbers joined by _, pins by ~, signs that need no escape.

    Example:
        >>> write_pins((Point(4, 0.8, 0.05, 0.0), Point(8, 0.5, 0.1, 0.02)))
        '4_0.8_0.05_0~8_0.5_0.1_0.02'
    """
    return "~".join("_".join(query.write(**asdict(p))[name] for name in asdict(p)) for p in pins)


def read_pins(text: str) -> tuple[tuple[Point, ...], tuple[str, ...]]:
    """The pins of a link, and a sentence if some of them are none."""
    pins, parts = [], text.split("~") if text else []
    for part in parts:
        numbers = part.split("_")
        point, mended = Point.read(dict(zip(asdict(Point()), numbers)))
        if len(numbers) == len(astuple(point)) and not mended:
            pins.append(point)
    kept = tuple(dict.fromkeys(pins))[:MOST_PINS]
    return kept, () if len(kept) == len(parts) else (_PINS,)


def _read(params: Mapping[str, Any]) -> At:
    link = query.read(params, "k", "alpha", "c", "v", "seed", "speed", "pins", "open", n=ROUNDS)
    values = dict(link.values)
    pins, faults = read_pins(values.pop("pins"))
    opened = values.pop("open").split(".")
    rest = {name: values.pop(name) for name in ("n", "seed", "speed")}
    sections = tuple(name for name in SECTIONS if name in opened)
    return At(Point(**values), pins, sections, **rest, notes=link.notes + faults)


def _address() -> tuple[tuple[str, str], ...]:
    return tuple((name, st.query_params[name]) for name in _NAMES if name in st.query_params)


def section(name: str, label: str, draw: Callable[..., None], *args: Any) -> None:
    """An expander that draws only while it is open, and is open again from a link."""
    key = f"open {name}"
    st.session_state[key] = name in st.session_state[_KEY].opened
    box = st.expander(label, key=key, on_change=fold, args=(name,))
    if box.open:
        with box:
            draw(*args)
