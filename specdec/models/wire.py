"""JSON to a server and back; whatever goes wrong on the way is one sentence of one kind."""

from __future__ import annotations

import json
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from typing import Any
from urllib.parse import urlsplit

NOT_OFFERED = (404, 405, 501)  # what servers say to an address that they do not have
WORDS = 300  # letters of a server's own message that are passed on


class RemoteError(RuntimeError):
    """The server of a remote target cannot be used, or no longer; the message says why."""


class Connection:
    """A connection that stays open from one request to the next, for one thread."""

    def __init__(self, address: str, timeout: float = 60.0, key: str = "") -> None:
        parts = urlsplit(address)
        try:
            port = parts.port
        except ValueError:
            port = -1
        if parts.scheme not in ("http", "https") or not parts.hostname or port == -1:
            raise ValueError(f"{address!r} is no address of a server, like http://localhost:8080.")
        kind = HTTPSConnection if parts.scheme == "https" else HTTPConnection
        self.address = address
        self._http = kind(parts.hostname, port, timeout=timeout)
        self._path = parts.path.rstrip("/").removesuffix("/v1")
        self._headers = {"Content-Type": "application/json"}
        if key:
            self._headers["Authorization"] = f"Bearer {key}"

    def ask(self, path: str, body: Any = None, *, optional: bool = False) -> Any:
        """The answer to GET, or with a body to POST; None if it is `optional` and not offered.

        RemoteError if there is none, or it is no JSON.
        """
        status, data = self._exchange(path, None if body is None else json.dumps(body).encode())
        if optional and status in NOT_OFFERED:
            return None
        if status != 200:
            raise RemoteError(f"{self.address} refused {path} ({status}): {_message(data)}")
        try:
            return json.loads(data)
        except ValueError:
            raise RemoteError(f"{self.address} answered {path} with what is no JSON.") from None

    def close(self) -> None:
        """Close it; the next request opens it again."""
        self._http.close()

    def _exchange(self, path: str, body: bytes | None) -> tuple[int, bytes]:
        kept = self._http.sock is not None
        try:
            return self._once(path, body)
        except (HTTPException, OSError) as error:
            self.close()
            if isinstance(error, TimeoutError):
                seconds = f"{self._http.timeout:g} s"
                raise RemoteError(f"{self.address} did not answer within {seconds}.") from error
            if kept:  # servers close what was idle: nothing is lost but this try
                return self._exchange(path, body)
            reason = str(error) or type(error).__name__
            raise RemoteError(f"{self.address} cannot be reached: {reason}.") from error

    def _once(self, path: str, body: bytes | None) -> tuple[int, bytes]:
        method = "GET" if body is None else "POST"
        self._http.request(method, self._path + path, body, self._headers)
        answer = self._http.getresponse()
        return answer.status, answer.read()


def _message(data: bytes) -> str:
    """The words of an error's body, in whichever of the usual places they stand."""
    text = data.decode("utf-8", "replace").strip()
    try:
        found = json.loads(text)
        for name in ("error", "message", "detail"):
            found = found.get(name, found) if isinstance(found, dict) else found
        text = found if isinstance(found, str) else text
    except ValueError:
        pass
    return " ".join(text.split())[:WORDS] or "it said nothing."
