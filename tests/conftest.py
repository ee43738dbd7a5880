"""Shared fixtures: the app without a browser, the app in one, and node for the pages' scripts."""

from __future__ import annotations

import functools
import json
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import hypothesis
import pytest

from tests.browser import ROOT, Watch, chromium, serving

# A busy machine is no bug: properties are tested for truth, never for speed.
hypothesis.settings.register_profile("untimed", deadline=None)
hypothesis.settings.load_profile("untimed")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Where long tests are left out, files of them are not even read: they import torch."""
    if "not long" not in config.getoption("markexpr") or collection_path.suffix != ".py":
        return None
    return "\npytestmark = pytest.mark.long\n" in collection_path.read_text("utf-8") or None


@pytest.fixture(scope="session")
def installed() -> Iterator[None]:
    """Every AppTest looks for components in all installed packages; one look serves them all."""
    from streamlit.components.v2 import manifest_scanner as scanner

    with pytest.MonkeyPatch.context() as patch:
        look = functools.cache(scanner.scan_component_manifests)
        patch.setattr(scanner, "scan_component_manifests", look)
        yield


@pytest.fixture
def app(installed: None) -> Callable[..., Any]:
    """Open a page by its link: `app("pages/4_speedup.py", k="6")` gives an AppTest."""
    from streamlit.testing.v1 import AppTest

    def visit(path: str = "app.py", **params: str) -> AppTest:
        at = AppTest.from_file(str(ROOT / "app.py"), default_timeout=30)
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
def node() -> Iterator[Callable[..., Any]]:
    """`node(script, data)` runs a script (see node.mjs), all of them in one process."""
    found = shutil.which("node")
    if found is None:  # Playwright brings one
        from playwright._impl._driver import compute_driver_executable

        found = str(compute_driver_executable()[0])
    process = subprocess.Popen(
        [found, "tests/node.mjs"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        encoding="utf-8",
        cwd=ROOT,
    )

    def run(script: str, data: Any = None) -> Any:
        print(json.dumps({"script": script, "data": data}), file=process.stdin, flush=True)
        answer = json.loads(process.stdout.readline())
        assert "error" not in answer, answer["error"]
        return answer["value"]

    yield run
    process.communicate()
    assert process.returncode == 0


@pytest.fixture(scope="session")
def default_pair() -> Any:
    """The real default pair, its target fetched on first need."""
    from specdec import load_pair

    return load_pair()
