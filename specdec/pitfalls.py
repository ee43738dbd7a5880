"""What page 8 opens on, recorded from the default pair: `python -m specdec pitfalls`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

from specdec import arms, ties
from specdec.arms import Asked
from specdec.lab import forgotten_pair
from specdec.presets import ASSETS, Preset, presets
from specdec.trace import recorded

FOLDER = ASSETS / "traces"
Steps = Iterator[tuple[float, object]]  # (share done, what was found so far)


def record(
    names: list[str], out: Path, when: str, progress: Callable[[float, str], None]
) -> list[Path]:
    """Run these of RECORDED, write each as recorded on this day (ISO 8601); returns the files."""
    files = []
    for name in names or RECORDED:
        if name not in RECORDED:
            raise ValueError(f"There is no {name!r} to record; there are {', '.join(RECORDED)}.")
        found = None
        for share, made in RECORDED[name]():
            progress(share, name)
            found = made
        files.append(out / f"{name}.json")
        files[-1].write_text(recorded(found, when).to_json() + "\n", encoding="utf-8")
    return files


def _ties() -> Steps:
    """The presets in bf16 and fp32, plain and speculative."""
    from specdec import load_pair

    low, high = (load_pair(dtype=dtype) for dtype in ("bf16", "fp32"))
    return ties.search(low, high, presets())


def _settings() -> Steps:
    """A sampled story, the settings forgotten in one place after the other."""
    from specdec import load_pair

    return forgotten_pair.measure(load_pair(dtype="fp32"), _preset("story"))


def _long() -> Steps:
    """The small model on a text that it guesses badly, at several k."""
    return _compete("story", [Asked("model", k) for k in (1, 2, 4, 8, 16)])


def _endings() -> Steps:
    """Drafters from the cheapest to the target itself, at one k."""
    exits = [Asked("early-exit", 4, layers) for layers in (5, 10, 15, 20, 25, 28, 29)]
    return _compete("code", [Asked("model", 4), Asked("lookup", 4), *exits, Asked("target", 4)])


def _compete(name: str, asked: list[Asked]) -> Steps:
    from specdec import load_pair

    return arms.compete(load_pair(), _preset(name), asked, n=40)


def _ends() -> Steps:
    """Plain decoding of a copied text, on past its end."""
    from specdec import load_pair, plain

    pair, preset = replace(load_pair(), stop_ids=()), _preset("copy")
    yield 1.0, plain(pair, preset.prompt, chat=preset.chat, max_new_tokens=96, tops=0)


def _preset(name: str) -> Preset:
    [preset] = [preset for preset in presets() if preset.name == name]
    return preset


RECORDED: dict[str, Callable[[], Steps]] = {
    "ties": _ties,
    "settings": _settings,
    "long": _long,
    "endings": _endings,
    "ends": _ends,
}
