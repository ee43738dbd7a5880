"""A trace goes to JSON and back, and what is no trace is refused in words."""

from __future__ import annotations

import json
from dataclasses import FrozenInstanceError
from typing import get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from specdec import trace as traces
from specdec.constraint import Constraint
from specdec.law import Sampling
from specdec.schema import build, parse
from specdec.trace import (
    Drafted,
    Lengths,
    Round,
    Seconds,
    Settings,
    Source,
    Token,
    Top,
    Trace,
    Written,
)

share = st.floats(0, 1)
small = st.integers(0, 50)
text = st.text(max_size=4)
seconds = st.builds(Seconds, *[st.floats(0, 1e3)] * 4)
tops = st.none() | st.builds(
    Top, st.lists(st.tuples(small, text, share), max_size=3).map(tuple), share
)
drafted = st.builds(
    Drafted,
    id=small,
    text=text,
    q=share,
    p=share,
    u=st.none() | share,
    threshold=share,
    verdict=st.sampled_from(get_args(traces.Verdict)),
    parent=st.integers(-1, 3),
    p_top=tops,
    q_top=tops,
    residual_top=tops,
    mended=st.none()
    | st.builds(traces.Mended, share, st.none() | share, share, st.booleans(), tops),
)
written = st.builds(
    Written,
    id=small,
    text=text,
    p=share,
    u=st.none() | share,
    kind=st.sampled_from(get_args(traces.Kind)),
    p_top=tops,
)
lengths = st.tuples(small, small)
stop_reasons = st.none() | st.sampled_from(get_args(traces.StopReason))
rounds = st.builds(
    Round,
    index=small,
    start=small,
    k=small,
    rule=st.just("pq"),
    drafted=st.lists(drafted, max_size=3).map(tuple),
    written=st.lists(written, max_size=3).map(tuple),
    seconds=seconds,
    lengths=st.builds(Lengths, lengths, st.none() | lengths),
    draft_passes=small,
    stop_reason=stop_reasons,
)
samplings = st.builds(
    Sampling,
    st.floats(0, 5),
    st.integers(0, 100),
    st.floats(0, 1, exclude_min=True),
    st.floats(0, 1),
    repetition_penalty=st.floats(0.1, 9),
    presence_penalty=st.floats(-2, 2),
    frequency_penalty=st.floats(-2, 2),
    logit_bias=st.dictionaries(small, st.floats(-9, 9), max_size=2),
    allowed=st.none() | st.sets(small, min_size=1, max_size=3),
    constraint=st.none() | st.builds(Constraint, text),
)
every_trace = st.builds(
    Trace,
    prompt=st.lists(st.builds(Token, small, text), max_size=3).map(tuple),
    rounds=st.lists(rounds, max_size=3).map(tuple),
    settings=st.builds(
        Settings,
        k=small,
        drafter=text,
        sampling=samplings,
        max_new_tokens=small,
        seed=st.integers(0, 2**64 - 1),
        stop=st.lists(text, max_size=2).map(tuple),
        chat=st.booleans(),
        rows=st.none() | small,
        adaptive=st.none() | text,
        confidence=share,
    ),
    source=st.builds(
        Source,
        st.sampled_from(get_args(traces.Origin)),
        text,
        text,
        memory=st.none() | st.builds(traces.Memory, *[small] * 4),
    ),
    stop_reason=stop_reasons,
)


@settings(max_examples=60)
@given(every_trace)
def test_a_trace_comes_back_from_json_equal(trace: Trace) -> None:
    """Of any types that fit, sensible or not: `sense` is tested on its own."""
    back = build(Trace, parse(trace.to_json()), "trace")
    assert back == trace
    assert hash(back) == hash(trace)  # tuples all the way down
    assert back.to_json() == trace.to_json()
    assert build(Trace, parse(trace.to_json().encode()), "trace") == trace


def a_trace() -> dict:
    """A small trace with every kind of field in it, as JSON data."""
    top = Top(((1, "a", 0.5), (2, "b", 0.25)), 0.25)
    one = Round(
        0,
        1,
        2,
        "pq",
        (Drafted(1, "a", 0.5, 0.5, 0.1, 1.0, "accepted", -1, top, top, top),),
        (Written(1, "a", 0.5, 0.1, "accepted", top), Written(2, "b", 0.25, 0.2, "bonus")),
        Seconds(0.1, 0.2, 0.3, 0.4),
        Lengths((0, 2), (0, 1)),
        2,
        "stop",
    )
    edits = {"logit_bias": {1: 0.5}, "allowed": [1, 2], "constraint": Constraint("any")}
    sampling = Sampling(1.0, 5, 0.9, 0.1, **edits)
    settings = Settings(2, "model", sampling, 9, 3, "pq", ("b",), True, 4, "ema", 0.5)
    source = Source("live", "big", "small", "float32", "cpu", "here", "2030-01-01")
    trace = Trace((Token(0, "x"),), (one,), settings, source, "stop")
    return json.loads(trace.to_json())


def places(data: object, at: tuple = ()) -> list[tuple]:
    """The path to every value inside JSON data."""
    inner = data.items() if isinstance(data, dict) else enumerate(data)
    found = []
    for key, value in inner:
        found.append((*at, key))
        if isinstance(value, (dict, list)):
            found += places(value, (*at, key))
    return found


PLACES = places(a_trace())
junk = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.sampled_from([10**400, -(10**400), 2**64, 1.5, -1])
    | st.floats()
    | text,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(text, inner, max_size=3),
    max_leaves=5,
)


def read(data: object) -> Trace | None:
    """The trace, used in all ways, or None where a sentence says what is wrong; nothing else."""
    try:
        trace = Trace.from_json(data if isinstance(data, (str, bytes)) else json.dumps(data))
    except ValueError as error:
        assert len(str(error)) > 10
        assert "\n" not in str(error)
        return None
    for name, value in vars(Trace).items():
        if isinstance(value, property):
            getattr(trace, name)
    assert Trace.from_json(trace.to_json()) == trace
    return trace


@settings(max_examples=300)
@given(st.sampled_from(PLACES), junk, st.sampled_from(["put", "drop", "add", "twice"]))
def test_a_damaged_trace_is_refused_in_words(place: tuple, value: object, damage: str) -> None:
    data = inner = a_trace()
    for key in place[:-1]:
        inner = inner[key]
    if damage == "drop":
        del inner[place[-1]]
    elif damage == "add" and isinstance(inner, dict):
        inner["surplus"] = value
        assert read(data) is None
    elif damage == "twice" and isinstance(inner, list):
        inner.append(value)
    else:
        inner[place[-1]] = value
    read(data)


@settings(max_examples=200)
@given(st.text(max_size=40) | st.binary(max_size=40) | junk.map(json.dumps))
def test_what_is_no_trace_is_refused_in_words(data: str | bytes) -> None:
    assert read(data) is None


@pytest.mark.parametrize(
    "data",
    ["", "{", "null", "[]", "7", '"trace"', "[" * 100_000, "1" * 5000, b"\xff\xfe", "NaN", "{}"],
    ids=lambda data: repr(data[:8]),
)
def test_files_that_are_no_trace(data: str | bytes) -> None:
    assert read(data) is None


def put(path: str, value: object) -> str:
    """A trace with another value at a dotted path; returns the sentence that refuses it."""
    data = inner = a_trace()
    *way, last = [int(key) if key.isdigit() else key for key in path.split(".")]
    for key in way:
        inner = inner[key]
    inner[last] = value
    with pytest.raises(ValueError) as error:
        Trace.from_json(json.dumps(data))
    return str(error.value)


@pytest.mark.parametrize(
    ("path", "value", "named"),
    [
        ("rounds.0.start", "1", "rounds[0].start"),
        ("rounds.0.start", True, "rounds[0].start"),
        ("rounds.0.start", 1.0, "rounds[0].start"),
        ("rounds.0.seconds.draft", float("nan"), "rounds[0].seconds.draft"),
        ("rounds.0.seconds.draft", float("inf"), "rounds[0].seconds.draft"),
        ("rounds.0.seconds.draft", 10**400, "rounds[0].seconds.draft"),
        ("rounds.0.seconds.draft", None, "rounds[0].seconds.draft"),
        ("rounds.0.lengths.target", [1, 2, 3], "rounds[0].lengths.target"),
        ("rounds.0.drafted.0.verdict", "banana", "rounds[0].drafted[0].verdict"),
        ("rounds.0.written.1.kind", "rejected", "rounds[0].written[1].kind"),
        ("rounds.0.written.1.p_top", {"entries": [[1, "a"]], "rest": 0}, "p_top.entries[0]"),
        ("rounds.0.stop_reason", "bored", "rounds[0].stop_reason"),
        ("stop_reason", "bored", "stop_reason"),
        ("settings.sampling.top_p", 7, "top_p is 7"),
        ("settings.sampling.top_k", -(10**400), "top_k is -1"),
        ("settings.sampling.temperature", -1, "temperature is -1"),
        ("settings.sampling.repetition_penalty", 0, "repetition_penalty is 0"),
        ("settings.sampling.logit_bias", [[1, 2, 3]], "logit_bias[0]"),
        ("settings.sampling.allowed", [], "allowed is ()"),
        ("settings.sampling.constraint", {"name": "any", "rule": 1}, "constraint: unknown field"),
        ("settings.adaptive", 4, "settings.adaptive"),
        ("settings.confidence", 2, "2.0 is not a chance"),
        ("source.kind", "<script>", "source.kind"),
        ("schema", 2, "schema 1"),
        ("schema", True, "schema"),
    ],
    ids=lambda x: repr(x)[:40],
)
def test_the_sentence_names_the_field(path: str, value: object, named: str) -> None:
    assert named in put(path, value)


def test_a_trace_is_frozen() -> None:
    trace = Trace.from_json(json.dumps(a_trace()))
    with pytest.raises(FrozenInstanceError):
        trace.stop_reason = "eos"
