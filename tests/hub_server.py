"""A small hub: repositories from local folders, by the addresses that huggingface_hub asks for."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote, urlparse

COMMIT = "a" * 40


class Hub:
    """`repos`: name → folder; `gated`: names that need a licence. `sent`: files given out."""

    def __init__(self) -> None:
        self.repos: dict[str, Path] = {}
        self.gated: set[str] = set()
        self.sent: list[str] = []
        self.address = ""

    def answer(self, path: str) -> tuple[int, dict[str, str], bytes]:
        """Status, headers and body for an address."""
        parts = unquote(urlparse(path).path).strip("/").split("/")
        if parts[:2] == ["api", "models"]:
            return self._about("/".join(parts[2:4]), parts[4:])
        return self._file("/".join(parts[:2]), "/".join(parts[4:]))

    def _about(self, name: str, what: list[str]) -> tuple[int, dict[str, str], bytes]:
        if name not in self.repos:
            return 404, {"X-Error-Code": "RepoNotFound"}, b"{}"
        if what[:1] != ["tree"]:
            return 200, {}, json.dumps({"id": name, "sha": COMMIT, "siblings": []}).encode()
        files = [file for file in self.repos[name].rglob("*") if file.is_file()]
        entries = [
            {
                "type": "file",
                "path": str(file.relative_to(self.repos[name])),
                "size": file.stat().st_size,
                "oid": _etag(file),
            }
            for file in files
        ]
        return 200, {}, json.dumps(entries).encode()

    def _file(self, name: str, path: str) -> tuple[int, dict[str, str], bytes]:
        if name in self.gated:
            return 403, {"X-Error-Code": "GatedRepo"}, b""
        file = self.repos[name] / path
        self.sent.append(f"{name}/{path}")
        headers = {"ETag": f'"{_etag(file)}"', "X-Repo-Commit": COMMIT}
        return 200, headers, file.read_bytes()


def _etag(file: Path) -> str:
    return hashlib.sha1(file.read_bytes()).hexdigest()


@contextmanager
def serving() -> Iterator[Hub]:
    """A hub at `address` on this machine."""
    hub = Hub()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.reply(body=True)

        def do_HEAD(self) -> None:
            self.reply(body=False)

        def reply(self, *, body: bool) -> None:
            status, headers, content = hub.answer(self.path)
            self.send_response(status)
            for name, value in {**headers, "Content-Length": str(len(content))}.items():
                self.send_header(name, value)
            self.end_headers()
            if body:
                self.wfile.write(content)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    hub.address = f"http://127.0.0.1:{server.server_port}"
    yield hub
    server.shutdown()
    server.server_close()
