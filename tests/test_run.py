"""From text to trace: settings, prompts, caches, errors in words."""

from __future__ import annotations

from itertools import zip_longest

import numpy as np
import pytest

from specdec import run
from specdec.drafters import FixedDrafter, ModelDrafter
from specdec.law import Sampling
from specdec.trace import Settings, Trace
from tests.pairs_np import (
    closed,
    plain_ids,
    random_pair,
    text_pair,
)
from tests.tokenizers_np import ByteTokenizer, ChatTokenizer

PROMPT = ByteTokenizer().encode("the sky")

# ---- what a trace says -----------------------------------------------------------------------


def test_settings_and_source_are_what_was_asked() -> None:
    pair = random_pair()
    sampling = Sampling(0.5, 7, 0.9)
    trace = run.generate(
        pair,
        "the sky",
        k=3,
        drafter="model",
        sampling=sampling,
        temperature=0.7,
        max_new_tokens=9,
        stop="zzz",
        seed=5,
        chat=False,
        rows=8,
    )
    assert trace.settings == Settings(
        3, "model", Sampling(0.7, 7, 0.9), 9, 5, "pq", ("zzz",), False, 8
    )
    assert (trace.source.kind, trace.source.target, trace.source.drafter) == (
        "live",
        "big",
        "small",
    )
    assert (trace.source.dtype, trace.source.device) == ("float64", "cpu")
    assert trace.source.machine == "a test"
    assert [token.id for token in trace.prompt] == PROMPT
    assert len(trace.token_ids) == 9
    assert Trace.from_json(trace.to_json()) == trace
    again = run.generate(pair, "the sky", **trace.settings.options())
    assert (again.settings, again.token_ids) == (trace.settings, trace.token_ids)


@pytest.mark.parametrize(
    ("options", "setting", "source"),
    [
        ({}, "model", "small"),
        ({"drafter": "lookup"}, "lookup", "prompt lookup"),
        ({"k": 0}, "none", "none"),
        ({"drafter": FixedDrafter([3])}, "FixedDrafter", "FixedDrafter"),
    ],
    ids=["model", "lookup", "plain", "own"],
)
def test_the_drafters_name(options: dict, setting: str, source: str) -> None:
    trace = run.generate(random_pair(), "the sky", max_new_tokens=4, **options)
    assert (trace.settings.drafter, trace.source.drafter) == (setting, source)


def test_numbers_of_numpy_are_numbers() -> None:
    trace = run.generate(
        random_pair(),
        np.array(PROMPT),
        k=np.int64(2),
        max_new_tokens=np.int64(5),
        seed=np.uint64(7),
        temperature=np.float32(0.5),
        top_k=np.int32(9),
    )
    assert Trace.from_json(trace.to_json()) == trace
    options = {"k": 2, "max_new_tokens": 5, "seed": 7, "temperature": 0.5, "top_k": 9}
    assert run.generate(random_pair(), PROMPT, **options).token_ids == trace.token_ids


def test_a_whole_number_may_be_written_with_a_point() -> None:
    trace = run.generate(random_pair(), "the sky", k=2.0, max_new_tokens=5.0)
    assert (trace.settings.k, len(trace.token_ids)) == (2, 5)
    assert Trace.from_json(trace.to_json()) == trace


@pytest.mark.parametrize("drafter", ["model", "lookup"])
@pytest.mark.parametrize("k", [1, 4, 7])
def test_greedy_generation_is_plain_generation(drafter: str, k: int) -> None:
    pair = random_pair()
    options = {"max_new_tokens": 25, "chat": False}
    plain = run.plain(pair, "the sky", **options)
    fast = run.generate(pair, "the sky", k=k, drafter=drafter, **options)
    assert list(fast.token_ids) == list(plain.token_ids) == plain_ids(pair.target, PROMPT, 25)
    assert fast.text == plain.text
    assert {token.kind for token in plain.written} == {"bonus"}
    assert plain.target_passes == 25
    assert closed(pair)


def test_the_rounds_are_those_of_the_trace() -> None:
    running = run.rounds(random_pair(), "the sky", k=3, max_new_tokens=20, temperature=1.0)
    rounds = list(running)
    ids = tuple(token.id for r in rounds for token in r.written)
    assert running.trace.token_ids == ids
    assert [r.drafted for r in running.trace.rounds] == [r.drafted for r in rounds]
    assert running.trace.stop_reason == "length"


def test_a_trace_grows_with_its_run() -> None:
    running = run.rounds(random_pair(), "the sky", k=2, max_new_tokens=12, chat=False)
    assert running.prompt_tokens == len(PROMPT)
    trace = running.trace
    assert (trace.rounds, trace.stop_reason, trace.text, trace.alpha) == ((), None, "", None)
    for n, r in enumerate(running, 1):
        assert len(running.trace.rounds) == n
        assert running.trace.stop_reason == r.stop_reason
    assert running.trace.stop_reason == "length"


@pytest.mark.parametrize("tops", [0, 3])
def test_as_many_heads_as_asked(tops: int) -> None:
    trace = run.generate(random_pair(), "the sky", max_new_tokens=4, tops=tops, temperature=1.0)
    heads = {None if t.p_top is None else len(t.p_top.entries) for t in trace.written}
    assert heads == {tops or None}


# ---- prompts ---------------------------------------------------------------------------------


def test_the_prompt_is_encoded_once_and_gets_one_start_token() -> None:
    pair = random_pair(ByteTokenizer(adds_bos=True))
    trace = run.generate(pair, "Hello world", chat=False, max_new_tokens=8)
    ids = [token.id for token in trace.prompt]
    assert ids == [0, *pair.tokenizer.encode("Hello world")]
    assert pair.tokenizer.decode(ids[1:]) == "Hello world"
    assert list(trace.token_ids) == plain_ids(pair.target, ids, 8)


def test_a_message_goes_into_the_template() -> None:
    tokenizer = ChatTokenizer()
    pair = random_pair(tokenizer)
    ids = [0, *tokenizer.encode("the sky\n")]
    assert [t.id for t in run.generate(pair, "the sky", max_new_tokens=1).prompt] == ids
    plain = run.generate(pair, "the sky", max_new_tokens=1, chat=False)
    assert [t.id for t in plain.prompt] == PROMPT
    given = run.generate(pair, PROMPT, max_new_tokens=1)
    assert [t.id for t in given.prompt] == PROMPT  # ids are taken as they are


@pytest.mark.parametrize("prompt", ["😀", "字 字", "<script>alert(1)</script>", "مرحبا", "\x00"])
def test_any_text_is_a_prompt(prompt: str) -> None:
    trace = run.generate(random_pair(), prompt, max_new_tokens=3, chat=False)
    assert "".join(token.text for token in trace.prompt) == prompt


def test_an_empty_prompt_is_the_start_token_or_a_sentence() -> None:
    assert [t.id for t in run.generate(random_pair(), "", max_new_tokens=2).prompt] == [0]
    bare = ByteTokenizer()
    bare.bos_token_id = None
    pair = random_pair(bare)
    with pytest.raises(ValueError, match="prompt has no tokens"):
        run.generate(pair, "")
    assert closed(pair)


def test_a_prompt_longer_than_the_context_is_a_sentence() -> None:
    pair = random_pair()
    pair.target.context = 5
    with pytest.raises(ValueError, match="7 tokens; the model's context ends at 5"):
        run.generate(pair, "a" * 7, chat=False)
    assert closed(pair)
    short = run.generate(pair, "aaa", chat=False)
    assert (len(short.token_ids), short.stop_reason) == (2, "context")


# ---- ends ------------------------------------------------------------------------------------


def test_an_end_token_ends_and_no_end_token_runs_to_the_cap() -> None:
    case = text_pair("the kiln held", error_at=(1,))
    trace = run.generate(case.pair, case.prompt, chat=False)
    assert (trace.text, trace.stop_reason) == ("the kiln held", "eos")
    assert trace.token_ids[-1] == case.tokenizer.eos_token_id
    endless = text_pair("the kiln held", error_at=(1,), stop_ids=())
    trace = run.generate(endless.pair, endless.prompt, chat=False, max_new_tokens=11)
    assert (len(trace.token_ids), trace.stop_reason) == (11, "length")


@pytest.mark.parametrize("n", range(1, 11))
def test_the_caches_are_large_enough_and_the_length_exact(n: int) -> None:
    """The toy's caches have exactly the room that the run asks for."""
    for k in range(9):
        for rows in (None, 12):
            pair = random_pair()
            trace = run.generate(pair, PROMPT, k=k, max_new_tokens=n, rows=rows)
            assert len(trace.token_ids) == n
            assert pair.target.scorers[0].asked == (rows, len(PROMPT) + n + (rows or k + 1))


# ---- caches ----------------------------------------------------------------------------------


def test_a_cancelled_run_frees_its_caches_and_keeps_what_it_has() -> None:
    pair = random_pair()
    running = run.rounds(pair, "the sky", k=3, max_new_tokens=30)
    first = [next(running), next(running)]
    assert not closed(pair)
    running.close()
    running.close()
    assert closed(pair)
    assert len(pair.scorers) == 2
    assert next(running, None) is None
    trace = running.trace
    assert trace.stop_reason == "cancelled"
    assert trace.token_ids == tuple(token.id for r in first for token in r.written)
    assert Trace.from_json(trace.to_json()) == trace


def test_a_run_cancelled_before_its_first_round() -> None:
    pair = random_pair()
    running = run.rounds(pair, "the sky")
    running.close()
    assert closed(pair)
    assert next(running, None) is None
    assert (running.trace.rounds, running.trace.stop_reason) == ((), "cancelled")


def test_caches_are_free_as_soon_as_the_text_ends() -> None:
    pair = random_pair()
    for r in (running := run.rounds(pair, "the sky", max_new_tokens=9)):
        assert closed(pair) == (r.stop_reason is not None)
    assert running.trace.stop_reason == "length"


def test_an_error_inside_a_round_frees_the_caches() -> None:
    pair = random_pair()
    logits = pair.target.logits
    pair.target.logits = lambda state, n: logits(state, n) * (np.nan if n > 12 else 1)
    running = run.rounds(pair, PROMPT, max_new_tokens=50)
    with pytest.raises(ValueError, match="logits"):
        for _ in running:
            pass
    assert closed(pair)
    assert len(running.trace.token_ids) > 0


def test_two_readers_share_the_models_and_nothing_else() -> None:
    options = {"max_new_tokens": 20, "temperature": 1.0, "k": 3}

    def ids(trace: Trace) -> tuple[int, ...]:
        return trace.token_ids

    alone = [ids(run.generate(random_pair(), "the sky", seed=s, **options)) for s in (1, 2)]
    pair = random_pair()
    running = [run.rounds(pair, "the sky", seed=s, **options) for s in (1, 2)]
    for _ in zip_longest(*running):  # in turns
        pass
    assert [ids(r.trace) for r in running] == alone
    assert alone[0] != alone[1]


def test_a_drafter_of_ones_own() -> None:
    pair = random_pair()
    own = ModelDrafter(pair.target.scorer())
    trace = run.generate(pair, PROMPT, drafter=own, max_new_tokens=10, k=4)
    assert trace.alpha == 1
    assert trace.target_passes == 2
