"""A server of the completions dialect over a NumPy model: small, real, and able to misbehave."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np
import pytest

from specdec.models.remote import RemoteModel
from specdec.models.remote_pair import Names
from specdec.text import Texts
from specdec.trace import Round, Seconds
from tests.pairs_np import Model, Pair, drafting, noise
from tests.tokenizers_np import ByteTokenizer

FORMS = ("vllm", "llama.cpp", "by text")
TOKENIZER = ByteTokenizer()
V = len(TOKENIZER)
PROMPT = "the sky is"


def log_probs(row: np.ndarray) -> np.ndarray:
    """In float32, as servers have them."""
    return (row - np.logaddexp.reduce(row)).astype(np.float32)


TEXTS = [TOKENIZER.decode([i]) for i in range(V)]
NAMED = np.array([TEXTS.count(text) == 1 for text in TEXTS])  # bytes of a character have one name


def logits(state: int, n: int) -> np.ndarray:
    """Random; what has no name of its own is never among the likeliest."""
    return log_probs(np.where(NAMED, 9 * noise(1, state, V), -60))


TARGET = Model(V, logits, name="toy", context=96)
SMALL = drafting(TARGET, error=0.3)


class Served:
    """What the server answers; tests change it while it runs."""

    def __init__(self, model: Model, tokenizer: Any, form: str) -> None:
        self.model, self.tokenizer, self.form = model, tokenizer, form
        self.name, self.most, self.reversed = "toy", 20, False
        self.offers_tokenize, self.address = True, ""
        self.asked: list[dict] = []  # bodies of completions, in order
        self.fault: Callable[[dict], tuple[int, bytes] | None] | None = None  # a body → its answer
        self.dead = False  # hangs up on everybody

    def get(self) -> tuple[int, bytes]:
        """The list of models."""
        about: dict[str, Any] = {"id": self.name, "object": "model"}
        if self.form == "llama.cpp":
            about["meta"] = {"n_vocab": self.model.vocab_size, "n_ctx": self.model.context}
        else:
            about["max_model_len"] = self.model.context
        return 200, json.dumps({"object": "list", "data": [about]}).encode()

    def post(self, path: str, body: dict) -> tuple[int, bytes]:
        """A completion, or the tokens of a text."""
        if path == "/tokenize":
            if not self.offers_tokenize:
                return 404, b'{"detail": "Not Found"}'
            return 200, json.dumps({"tokens": self.tokenizer.encode(body["prompt"])}).encode()
        self.asked.append(body)
        if max(map(len, body["prompt"])) + body["max_tokens"] > (self.model.context or 1 << 30):
            return 400, b'{"error": {"message": "the context is exceeded"}}'
        answer = self.fault and self.fault(body)
        return answer or (200, json.dumps(self.completion(body)).encode())

    def completion(self, body: dict) -> dict:
        """As vLLM and llama.cpp put it."""
        k = min(body["logprobs"], self.most, self.model.vocab_size)
        choices = [self._choice(i, ids, k) for i, ids in enumerate(body["prompt"])]
        return {"model": self.name, "choices": choices[::-1] if self.reversed else choices}

    def _choice(self, index: int, ids: list[int], k: int) -> dict:
        row = self.model.after(ids)
        top = [(int(i), float(row[i])) for i in np.argsort(-row, kind="stable")[:k]]
        texts = [self.tokenizer.decode([i]) for i, _ in top]
        if self.form == "llama.cpp":
            entries = [{"id": i, "token": text, "logprob": x} for (i, x), text in zip(top, texts)]
            logprobs: dict = {"content": [entries[0] | {"top_logprobs": entries}]}
        else:
            keys = texts if self.form == "by text" else [f"token_id:{i}" for i, _ in top]
            logprobs = {"tokens": keys[:1], "top_logprobs": [dict(zip(keys, (x for _, x in top)))]}
        return {"index": index, "text": texts[0], "logprobs": logprobs}


@contextmanager
def serving(model: Model, tokenizer: Any, form: str = "vllm") -> Iterator[Served]:
    """At `address` on this machine, until the end of the block."""
    served = Served(model, tokenizer, form)

    class Handler(BaseHTTPRequestHandler):
        protocol_version, wbufsize = "HTTP/1.1", -1  # stays open; an answer is one packet

        def do_GET(self) -> None:
            self._reply(served.get())

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            self._reply(served.post(self.path.removeprefix("/base"), body))

        def _reply(self, answer: tuple[int, bytes]) -> None:
            if served.dead:
                self.close_connection = True
                return
            status, content = answer
            self.send_response(status)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)
            self.wfile.flush()

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    served.address = f"http://127.0.0.1:{server.server_port}"
    try:
        yield served
    finally:
        server.shutdown()
        server.server_close()


def remote(served: Served, **options: Any) -> RemoteModel:
    """The target there."""
    names = Names(Texts(TOKENIZER), V)
    return RemoteModel(served.address, **{"vocab_size": V, "named": names, "timeout": 20} | options)


def pair(served: Served, **options: Any) -> Pair:
    """It, with the drafter here."""
    return Pair(remote(served, **options), SMALL, stop_ids=())


def untimed(rounds: Any) -> list[Round]:
    """Rounds without their seconds, to be equal."""
    return [replace(r, seconds=Seconds()) for r in rounds]


@pytest.fixture(params=FORMS)
def form(request: pytest.FixtureRequest) -> str:
    """The dialect."""
    return request.param


@pytest.fixture
def served(form: str) -> Iterator[Served]:
    """A server in each dialect."""
    with serving(TARGET, TOKENIZER, form) as server:
        yield server


@pytest.fixture
def vllm() -> Iterator[Served]:
    """A server in one."""
    with serving(TARGET, TOKENIZER) as server:
        yield server
