"""A component from plain files in assets/: name.html, name.css, and its modules as one script."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import streamlit as st

ASSETS = Path(__file__).resolve().parents[2] / "assets"


def component(name: str, modules: Sequence[str]) -> Callable[..., Any]:
    """What mounts the component; `modules` are those that `name.js` rests on, in order."""
    html, css = read(f"{name}.html"), read(f"{name}.css")
    return st.components.v2.component(name, html=html, css=css, js=script(name, modules))


def script(name: str, modules: Sequence[str]) -> str:
    """The modules as one text, without the imports of each other: a component takes no more."""
    files = [*(f"{name}_{module}.js" for module in modules), f"{name}.js"]
    imports = re.compile(rf'^import \{{.*\}} from "\./{name}_\w+\.js";\n', re.MULTILINE)
    return imports.sub("", "\n".join(map(read, files)))


def read(file: str) -> str:
    """The text of a file in assets/."""
    return (ASSETS / file).read_text(encoding="utf-8")
