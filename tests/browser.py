"""A Streamlit server and a watched Chromium, for tests that need the real thing."""

from __future__ import annotations

import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

from playwright.sync_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Page,
    expect,
    sync_playwright,
)

ROOT = Path(__file__).resolve().parents[1]
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
PATIENCE = 60_000  # ms; a busy machine is no fault
PROBES = ("/_stcore/health", "/_stcore/host-config")


@contextmanager
def serving(script: str = "app.py") -> Iterator[str]:
    """Run a Streamlit script in its own process on a free port; gives its address.

    At the end the server's log must be free of tracebacks.
    """
    with tempfile.TemporaryFile("w+") as log:
        port = _free_port()
        command = [sys.executable, "-m", "streamlit", "run", script, "--server.port", str(port)]
        process = subprocess.Popen(command, cwd=ROOT, stdout=log, stderr=subprocess.STDOUT)
        try:
            _wait(f"http://127.0.0.1:{port}", process, log)
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()
            process.wait(timeout=20)
        assert "Traceback" not in _read(log), _read(log)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def _wait(address: str, process: subprocess.Popen, log) -> None:
    for _ in range(600):
        assert process.poll() is None, _read(log)
        try:
            with urllib.request.urlopen(f"{address}/_stcore/health", timeout=5):
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.1)
    raise AssertionError(f"The server did not answer within a minute:\n{_read(log)}")


def _read(log) -> str:
    log.seek(0)
    return log.read()


@contextmanager
def chromium() -> Iterator[Browser]:
    """The Chromium of this machine, else the one that Playwright installed for itself."""
    names = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
    found = next(filter(None, map(shutil.which, names)), None)
    expect.set_options(timeout=PATIENCE)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=FLAGS)
        yield browser
        browser.close()


class Watch:
    """Opens pages and notes whatever must not happen in them."""

    def __init__(self, browser: Browser, address: str) -> None:
        self.browser, self.address = browser, address
        self.faults: list[str] = []
        self._contexts: list[BrowserContext] = []

    def open(self, path: str = "/", *, width: int = 1280, dark: bool = False, **options) -> Page:
        """A new visitor at this path; `options` are those of a Playwright browser context."""
        context = self.browser.new_context(
            base_url=self.address,
            viewport={"width": width, "height": 900},
            color_scheme="dark" if dark else "light",
            **options,
        )
        context.set_default_timeout(PATIENCE)
        self._contexts.append(context)
        page = context.new_page()
        page.on("console", self._on_console)
        page.on("pageerror", lambda error: self.faults.append(f"page error: {error}"))
        page.on("request", lambda request: self._on_request(request.url))
        page.goto(path)
        return page

    def close(self) -> None:
        """Close all pages; AssertionError if anything went wrong in one."""
        for context in self._contexts:
            context.close()
        assert not self.faults, "\n".join(self.faults)

    def _on_console(self, message: ConsoleMessage) -> None:
        # On a deep link Streamlit looks for itself under that path first and gets a 404.
        probe = message.location.get("url", "").endswith(PROBES) and "404" in message.text
        if message.type == "error" and not probe:
            self.faults.append(f"console: {message.text} ({message.location.get('url')})")

    def _on_request(self, url: str) -> None:
        parts = urlsplit(url)  # data: and blob: stay in the browser
        if parts.scheme in ("http", "https", "ws", "wss") and parts.hostname != "127.0.0.1":
            self.faults.append(f"request to the outside: {url}")
