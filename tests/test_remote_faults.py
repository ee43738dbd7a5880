"""Servers that fail, or do not belong to what is here: one sentence, and what was written stays."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator

import numpy as np
import pytest

import specdec
from specdec.models.remote import RemoteModel
from specdec.models.remote_pair import Names, NoModel, check_tokenizer, check_weights, load
from specdec.models.wire import RemoteError
from specdec.text import Texts
from specdec.trace import Trace
from tests.completions_server import (
    FORMS,
    PROMPT,
    TARGET,
    TOKENIZER,
    Served,
    V,
    form,
    log_probs,
    pair,
    remote,
    served,
    serving,
    untimed,
    vllm,
)
from tests.pairs_np import Model, Pair, random_model
from tests.tokenizers_np import ByteTokenizer

# ---- servers that fail --------------------------------------------------------------------------


def nan(answer: dict) -> None:
    top = answer["choices"][0]["logprobs"]["top_logprobs"][0]
    top[next(iter(top))] = float("nan")


def beyond(answer: dict) -> None:
    answer["choices"][0]["logprobs"]["top_logprobs"][0][f"token_id:{V}"] = -1.0


CHANGES = {
    "without log-probs": lambda answer: answer["choices"][0].update(logprobs=None),
    "not of the completions dialect": lambda answer: answer.pop("choices"),
    "answered 1 of 1 prompts|answered 2 of 1": lambda a: a["choices"].append(a["choices"][0]),
    "answered 0 of 1": lambda answer: answer["choices"].clear(),
    "log-probs that are none": nan,
    "outside the vocabulary": beyond,
    "no longer as 'toy'": lambda answer: answer.update(model="another"),
}


@pytest.mark.parametrize("words", CHANGES)
def test_an_answer_that_is_wrong_is_a_sentence(vllm: Served, words: str) -> None:
    model = remote(vllm)
    assert len(model.rows([[3, 4]], 5)[0]) == 5

    def fault(body: dict) -> tuple[int, bytes]:
        answer = vllm.completion(body)
        CHANGES[words](answer)
        return 200, json.dumps(answer).encode()

    vllm.fault = fault
    with pytest.raises(RemoteError, match=words):
        model.rows([[3, 4]], 5)


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ((200, b"<html>"), "what is no JSON"),
        ((200, b"[]"), "not of the completions dialect"),
        ((500, b""), r"\(500\): it said nothing"),
        ((400, b'{"error": {"code": 400, "message": "too  long"}}'), r"\(400\): too long"),
        ((400, b'{"detail": "no"}'), r"\(400\): no"),
        ((503, b'{"error": "loading"}'), r"\(503\): loading"),
    ],
    ids=str,
)
def test_a_refusal_is_passed_on(vllm: Served, answer: tuple[int, bytes], words: str) -> None:
    model = remote(vllm)
    vllm.fault = lambda body: answer
    with pytest.raises(RemoteError, match=words):
        model.rows([[3, 4]], 5)


def test_too_few_log_probs_are_said(served: Served) -> None:
    served.most = 5
    assert specdec.generate(pair(served), PROMPT, max_new_tokens=4).token_ids
    with pytest.raises(RemoteError, match="5 tokens where 9 are needed"):
        specdec.generate(pair(served), PROMPT, temperature=1.0, top_k=9)


@pytest.mark.parametrize("written", [0, 3])
def test_a_run_that_loses_its_server_keeps_what_it_wrote(vllm: Served, written: int) -> None:
    whole = specdec.generate(pair(vllm), PROMPT, max_new_tokens=30)
    target = pair(vllm)
    run = specdec.rounds(target, PROMPT, max_new_tokens=30)
    for _ in range(written):
        next(run)
    vllm.dead = True
    with pytest.raises(RemoteError, match=f"{vllm.address} cannot be reached"):
        next(run)
    assert untimed(run.trace.rounds) == untimed(whole.rounds[:written])
    assert run.trace.stop_reason == "cancelled"
    assert Trace.from_json(run.trace.to_json()) == run.trace


def test_generate_hands_over_what_was_written(vllm: Served) -> None:
    whole = specdec.generate(pair(vllm), PROMPT, max_new_tokens=30)
    vllm.asked.clear()
    vllm.fault = lambda body: (500, b"out of memory") if len(vllm.asked) > 3 else None
    with pytest.raises(RemoteError, match="out of memory") as error:
        specdec.generate(pair(vllm), PROMPT, max_new_tokens=30)
    assert untimed(error.value.trace.rounds) == untimed(whole.rounds[:2])


def test_a_server_that_closes_idle_connections_is_asked_again(vllm: Served) -> None:
    model = remote(vllm)
    model.rows([[3, 4]], 5)
    vllm.dead = True
    with pytest.raises(RemoteError):
        model.rows([[3, 4]], 5)
    vllm.dead = False
    assert model.rows([[3, 4]], 5)
    model.connection._http.sock.shutdown(socket.SHUT_RDWR)  # as when it was closed while idle
    assert model.rows([[3, 4]], 5)


def test_a_slow_server_is_not_waited_for(vllm: Served) -> None:
    model, over = remote(vllm, timeout=0.1), threading.Event()
    vllm.fault = lambda body: (over.wait(20), None)[1]
    with pytest.raises(RemoteError, match=r"did not answer within 0\.1 s"):
        model.rows([[3, 4]], 5)
    over.set()


def test_nobody_at_the_address() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with pytest.raises(RemoteError, match="cannot be reached"):
        RemoteModel(f"http://127.0.0.1:{port}", vocab_size=V)


@pytest.mark.parametrize("address", ["localhost:8080", "http://", "http://host:port", "ftp://a"])
def test_what_is_no_address_is_said(address: str) -> None:
    with pytest.raises(ValueError, match="is no address of a server"):
        RemoteModel(address, vocab_size=V)


def test_what_a_server_serves_is_listed(vllm: Served) -> None:
    assert remote(vllm, name="toy").served == "toy"
    with pytest.raises(RemoteError, match="no model 'big'; it lists toy"):
        remote(vllm, name="big")


def test_a_size_that_nobody_tells_is_asked_for(vllm: Served) -> None:
    with pytest.raises(ValueError, match="give vocab_size"):
        RemoteModel(vllm.address)


# ---- whether the two belong together ------------------------------------------------------------


class Renamed(ByteTokenizer):
    """The same ids, two of them for each other's text."""

    def __init__(self) -> None:
        super().__init__()
        a, b = (self.ids[x] for x in (b"e", b"a"))
        self.ids[b"e"], self.ids[b"a"] = b, a
        self.pieces[a], self.pieces[b] = self.pieces[b], self.pieces[a]


def belongs(served: Served, tokenizer: ByteTokenizer, size: int = V) -> None:
    check_tokenizer(remote(served), tokenizer, Texts(tokenizer), size)


@pytest.mark.parametrize("offers", [True, False])
def test_the_same_tokenizer_is_one(served: Served, offers: bool) -> None:
    served.offers_tokenize = offers
    belongs(served, TOKENIZER)


def test_another_tokenizer_is_found_by_its_split(vllm: Served) -> None:
    with pytest.raises(RemoteError, match="splits a probe otherwise"):
        belongs(vllm, Renamed())


def test_another_tokenizer_is_found_by_a_text_that_is_written() -> None:
    ids = TOKENIZER.ids
    writes = Model(V, lambda state, n: log_probs(np.eye(V)[ids[b"e"]] * 9), context=200)
    with serving(writes, TOKENIZER) as server:
        server.offers_tokenize = False
        with pytest.raises(RemoteError, match=r"its token \d+ is 'e', here 'a'"):
            belongs(server, Renamed())


def test_more_tokens_here_than_there_are_said(vllm: Served) -> None:
    with pytest.raises(RemoteError, match=f"knows {V} tokens, and the tokenizer here {V + 1}"):
        belongs(vllm, TOKENIZER, V + 1)


def test_a_text_that_several_tokens_have_is_no_name() -> None:
    names = Names(Texts(TOKENIZER), V)
    assert names("e") == TOKENIZER.ids[b"e"]
    with pytest.raises(RemoteError, match="several tokens"):
        names("\ufffd")
    with pytest.raises(RemoteError, match="no token here"):
        names("nowhere")


def test_other_weights_are_found_by_known_rows(vllm: Served) -> None:
    ids = TOKENIZER.encode(PROMPT)
    rounding = 0.1 * np.random.default_rng(0).normal(size=(len(ids), V))
    known = np.array([TARGET.after(ids[: i + 1]) for i in range(len(ids))])
    check_weights(remote(vllm), ids, known + rounding + 3.0)  # logits: log-probs plus anything
    other = random_model(V, seed=8, sharpness=9.0)
    wrong = np.array([other.after(ids[: i + 1]) for i in range(len(ids))])
    with pytest.raises(RemoteError, match="other weights than expected"):
        check_weights(remote(vllm), ids, wrong)


def test_without_a_drafter_lookup_works_and_the_rest_is_said(vllm: Served) -> None:
    alone = Pair(remote(vllm), NoModel(V), stop_ids=())
    assert specdec.generate(alone, PROMPT, drafter="lookup", max_new_tokens=5).token_ids
    with pytest.raises(ValueError, match="draft with 'lookup'"):
        specdec.generate(alone, PROMPT)


def test_a_folder_without_a_tokenizer_is_said(vllm: Served, tmp_path) -> None:
    with pytest.raises(ValueError, match="has no tokenizer"):
        load(f"{vllm.address}+{tmp_path}", None, None)
