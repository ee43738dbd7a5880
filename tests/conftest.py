"""Shared fixtures: the app without a browser, the app in one, and node for the pages' scripts."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable, Iterator
from typing import Any

import hypothesis
import pytest

from tests.browser import ROOT, Watch, chromium, serving

# A busy machine is no bug: properties are tested for truth, never for speed.
hypothesis.settings.register_profile("untimed", deadline=None)
hypothesis.settings.load_profile("untimed")


@pytest.fixture
def app() -> Callable[..., Any]:
    """Open the app as a visitor would: `app("pages/4_speedup.py", k="6")` gives an AppTest."""
    from streamlit.testing.v1 import AppTest

    def visit(path: str = "app.py", **params: str) -> AppTest:
        at = AppTest.from_file(str(ROOT / "app.py"), default_timeout=30).run()
        for name, value in params.items():
            at.query_params[name] = value
        return at.switch_page(path).run() if path != "app.py" else at.run()

    return visit


@pytest.fixture(scope="session")
def server() -> Iterator[str]:
    """The address of the app, served for the whole session."""
    with serving() as address:
        yield address


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """One Chromium for the whole session."""
    with chromium() as instance:
        yield instance


@pytest.fixture
def watch(browser: Any, server: str) -> Iterator[Watch]:
    """Opens pages of the app; fails if one logs an error or asks for anything outside."""
    opened = Watch(browser, server)
    yield opened
    opened.close()


@pytest.fixture
def page(watch: Watch) -> Any:
    """A watched page of the app at its start."""
    return watch.open()


@pytest.fixture(scope="session")
def node() -> Callable[..., Any]:
    """`node(script, data)` runs a module that reads `data` and `load(asset)`, and calls `give`."""
    found = shutil.which("node")
    if found is None:  # Playwright brings one
        from playwright._impl._driver import compute_driver_executable

        found = str(compute_driver_executable()[0])
    prelude = (ROOT / "tests" / "prelude.mjs").read_text(encoding="utf-8")

    def run(script: str, data: Any = None) -> Any:
        result = subprocess.run(
            [found, "--input-type=module", "--eval", prelude + script],
            input=json.dumps(data),
            capture_output=True,
            text=True,
            cwd=ROOT,
            check=False,
        )
        assert result.returncode == 0, result.stderr
        return json.loads(result.stdout)

    return run


@pytest.fixture(scope="session")
def default_pair() -> Any:
    """The real default pair, its target fetched on first need."""
    from specdec import load_pair

    return load_pair()
