"""A component from plain files in assets/: name.html, name.css, and its modules as one script."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import streamlit as st

ASSETS = Path(__file__).resolve().parents[2] / "assets"


def component(
    name: str, modules: Sequence[str], styles: Sequence[str] = (), *, isolate: bool = True
) -> Callable[..., Any]:
    """What mounts the component; `modules` are those that `name.js` rests on, in order.

    One of another component goes by its full name, as "stage_dom"; so do `styles` to share.
    Without `isolate` its styles hold for the whole page.
    """
    css = "\n".join(read(f"{style}.css") for style in (*styles, name))
    html, js = read(f"{name}.html"), script(name, modules)
    return st.components.v2.component(name, html=html, css=css, js=js, isolate_styles=isolate)


def script(name: str, modules: Sequence[str]) -> str:
    """The modules as one text, without the imports of each other: a component takes no more."""
    names = [module if "_" in module else f"{name}_{module}" for module in modules]
    files = [f"{each}.js" for each in (*names, name)]
    imports = re.compile(r'^import \{.*\} from "\./\w+\.js";\n', re.MULTILINE)
    return imports.sub("", "\n".join(map(read, files)))


def read(file: str) -> str:
    """The text of a file in assets/."""
    return (ASSETS / file).read_text(encoding="utf-8")
