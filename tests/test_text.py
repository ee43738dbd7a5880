"""Texts of tokens: whole characters in a stream, stop strings wherever they are completed."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from specdec import run
from specdec.text import Texts
from specdec.trace import Trace
from tests.pairs_np import text_pair
from tests.tokenizers_np import ByteTokenizer, FallbackTokenizer

pytestmark = pytest.mark.long

BYTES = ByteTokenizer()
FALLBACK = FallbackTokenizer()
TRICKY = [
    "the kiln held its heat",
    "😀",
    "a 😀 b",
    "字字字字 the 字",
    "é字😀é字😀",
    "😀😀😀",
    "مرحبا",
    "👩‍👩‍👧 e\u0301",
    "<script>alert(1)</script>",
    "",
]


def stream(case, k: int = 4, **options) -> tuple[list[str], Trace]:
    """The chunks of a run as they come, and its trace."""
    options = {"max_new_tokens": len(case.script), "chat": False, "k": k} | options
    running = run.rounds(case.pair, case.prompt, **options)
    chunks = ["".join(token.text for token in r.written) for r in running]
    return chunks, running.trace


def whole(case, ids: Sequence[int]) -> str:
    return case.tokenizer.decode(ids)


# ---- texts of a sequence ---------------------------------------------------------------------


@pytest.mark.parametrize("text", TRICKY)
@pytest.mark.parametrize(
    ("tokenizer", "encode"),
    [(BYTES, BYTES.encode), (BYTES, BYTES.bytes_of), (FALLBACK, FALLBACK.encode)],
    ids=["pieces", "bytes", "fallback"],
)
def test_joined_texts_are_the_decoded_text(tokenizer, encode: Callable, text: str) -> None:
    ids = encode("the" + text)
    for start in (0, len(encode("the"))):
        texts, settled = Texts(tokenizer).of(ids, start)
        assert "".join(texts) == ("the" + text if start == 0 else text)
        assert settled == len(ids)


def test_a_character_stands_on_its_first_token() -> None:
    texts, _ = Texts(BYTES).of(BYTES.bytes_of("a😀é"), 0)
    assert texts == ["a", "😀", "", "", "", "é", ""]


def test_an_unfinished_character_waits() -> None:
    ids = BYTES.bytes_of("a😀")[:-1]
    assert Texts(BYTES).of(ids, 0, final=False) == (["a", "", "", ""], 1)
    assert Texts(BYTES).of(ids, 0) == (["a", "\ufffd", "", ""], 4)


@settings(max_examples=150)
@given(st.lists(st.integers(0, len(BYTES) - 1), max_size=14))
def test_any_ids_at_all_have_texts_that_join(ids: list[int]) -> None:
    """Also bytes that are no character, in any order."""
    texts, _ = Texts(BYTES).of(ids, 0)
    assert len(texts) == len(ids)
    assert "".join(texts) == BYTES.decode(ids)


@pytest.mark.parametrize("text", ["字字字字字", "字é字é字a", "a字字字", "😀字😀字"])
def test_a_run_of_byte_tokens_is_read_from_a_characters_border(text: str) -> None:
    """Where a whole run must be UTF-8, looking at its last four bytes alone reads garbage."""
    texts, _ = Texts(FALLBACK).of(FALLBACK.encode("the" + text), 1)
    assert [piece for piece in texts if piece] == list(text)


def test_the_space_before_a_word_is_kept() -> None:
    """Some tokenizers drop it at the start of a text, but these words are not at the start."""
    ids = FALLBACK.encode("the kiln kiln")
    assert FALLBACK.decode(ids[1:]) == "kiln kiln"
    assert Texts(FALLBACK).of(ids, 1)[0] == [" kiln", " kiln"]
    assert Texts(FALLBACK).piece(ids[1]) == " kiln"


def test_pieces_of_single_tokens() -> None:
    texts = Texts(BYTES)
    assert texts.piece(BYTES.encode(" kiln")[0]) == " kiln"
    assert texts.piece(BYTES.bytes_of("😀")[0]) == "\ufffd"
    assert texts.piece(1) == "<eos>"


# ---- streams ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("k", "drafter"),
    [(0, "model"), *((k, drafter) for k in (1, 2, 4, 7) for drafter in ("model", "lookup"))],
)
@pytest.mark.parametrize("text", TRICKY[:-1])
def test_concatenated_chunks_are_the_decoded_ids(text: str, k: int, drafter: str) -> None:
    """One byte a token, and the drafter wrong now and then: characters cross round borders."""
    case = text_pair(text, in_bytes=True, error_at=(1, 5, 6, 11))
    chunks, trace = stream(case, k, drafter=drafter)
    assert "".join(chunks) == whole(case, trace.token_ids) == text + "<eos>"
    assert not any("\ufffd" in chunk for chunk in chunks)
    assert trace.text == text
    assert "".join(t.text for t in trace.written) == text + "<eos>"
    assert len(chunks) == trace.target_passes


@pytest.mark.parametrize("parts", ["a 😀 b", "字 the 😀字"])
def test_an_emoji_in_two_tokens_shows_once(parts: str) -> None:
    for k in range(6):
        for wrong in range(6 if k else 1):
            case = text_pair(parts, error_at=(wrong,))
            chunks, trace = stream(case, k)
            assert "".join(chunks).removesuffix("<eos>") == trace.text == parts


@pytest.mark.parametrize("k", [0, 1, 4])
def test_runs_of_byte_tokens_stream_too(k: int) -> None:
    text = "字字字 kiln é字😀字"
    case = text_pair(text, tokenizer=FALLBACK, error_at=(2, 7))
    chunks, trace = stream(case, k)
    assert "".join(chunks) == text + "<eos>"
    assert trace.text == text


def test_all_of_several_accepted_tokens_are_shown() -> None:
    case = text_pair("the kiln held its heat")
    chunks, _ = stream(case, 3)
    assert chunks == ["the kiln held its", " heat<eos>"]


@pytest.mark.parametrize("k", [0, 1, 3, 6])
def test_the_trace_of_a_run_that_goes_on_shows_no_half_character(k: int) -> None:
    case = text_pair("字😀é😀字", in_bytes=True, error_at=(2, 6))
    running = run.rounds(case.pair, case.prompt, k=k, max_new_tokens=len(case.script), chat=False)
    shown = ""
    for r in running:
        shown += "".join(token.text for token in r.written)
        assert "\ufffd" not in running.trace.text
        assert running.trace.text == shown.removesuffix("<eos>")
    assert running.trace.text == "字😀é😀字"


def test_a_text_cut_inside_a_character_says_so_at_its_end() -> None:
    case = text_pair("a😀", in_bytes=True)
    chunks, trace = stream(case, 2, max_new_tokens=3)
    assert "".join(chunks) == trace.text == whole(case, trace.token_ids) == "a\ufffd"


def test_the_end_token_after_half_a_character_is_not_text() -> None:
    half = BYTES.bytes_of("a😀")[:3]
    for k in range(5):
        case = text_pair(half)
        chunks, trace = stream(case, k, max_new_tokens=20)
        assert trace.stop_reason == "eos"
        assert "".join(chunks) == whole(case, trace.token_ids)
        assert trace.text == "a\ufffd"


@settings(max_examples=60)
@given(st.lists(st.integers(2, len(BYTES) - 1), min_size=1, max_size=12), st.integers(0, 5))
def test_any_ids_stream_as_their_decoded_text(ids: list[int], k: int) -> None:
    case = text_pair(ids, error_at=(2, 3))
    chunks, trace = stream(case, k)
    assert "".join(chunks) == whole(case, trace.token_ids)
    assert "".join(t.text for t in trace.written) == whole(case, trace.token_ids)
    assert trace.text == whole(case, ids)


def test_drafted_tokens_and_alternatives_have_texts() -> None:
    case = text_pair("the kiln held", error_at=(1,))
    _, trace = stream(case, 2)
    first = trace.rounds[0]
    assert [t.text for t in first.drafted] == ["the", "#"]
    assert first.drafted[0].p_top.entries[0][1] == "the"
    assert first.drafted[1].q_top.entries[0][1] == "#"
    assert first.drafted[1].residual_top.entries[0][1] == " kiln"
    assert first.written[1].p_top.entries[0][1] == " kiln"
    assert "".join(t.text for t in trace.prompt) == case.prompt


# ---- stop strings ----------------------------------------------------------------------------


def expected(case, stop: Sequence[str]) -> tuple[list[int], str]:
    """The shortest run of tokens whose text has a stop string, and that text before it."""
    for n in range(1, len(case.script)):
        text = whole(case, case.script[:n])
        found = [at for s in stop if (at := text.find(s)) >= 0]
        if found:
            return case.script[:n], text[: min(found)]
    return case.script, whole(case, case.script[:-1])


WAYS = [("model", ()), ("model", (1, 4)), ("lookup", ())]


@pytest.mark.parametrize(
    ("k", "drafter", "error_at"), [(0, *WAYS[0]), *((k, *way) for k in (1, 3, 6) for way in WAYS)]
)
@pytest.mark.parametrize(
    ("text", "stop"),
    [
        ("the kiln held its heat", (" held",)),  # one token
        ("the kiln held its heat", ("n he",)),  # across tokens
        ("the kiln held its heat", ("kiln held its",)),  # over three, and over rounds
        ("the kiln held its heat", ("l",)),  # inside a token
        ("the kiln held its heat", ("t",)),  # in the very first
        ("ababab xab", ("bab",)),
        ("the kiln held its heat", ("zzz",)),  # never
        ("the kiln held its heat", ("heat", "kiln")),  # the earlier of two
        ("a😀b", ("😀",)),  # the last byte completes it
        ("字é字😀", ("字😀",)),
        ("字é字😀", ("é字",)),
        ("a😀b字", ("b",)),
        ("é😀 the", (" ",)),
    ],
)
@pytest.mark.parametrize("in_bytes", [False, True], ids=["pieces", "bytes"])
def test_a_stop_string_ends_the_text_where_it_is_completed(
    text: str, stop: tuple[str, ...], k: int, drafter: str, error_at: tuple, in_bytes: bool
) -> None:
    """The ids keep the whole token that completes it; the text has nothing of it."""
    case = text_pair(text, in_bytes=in_bytes, error_at=error_at)
    ids, before = expected(case, stop)
    chunks, trace = stream(case, k, stop=stop, drafter=drafter)
    assert list(trace.token_ids) == ids
    assert trace.text == before
    assert trace.stop_reason == ("eos" if ids == case.script else "stop")
    assert "".join(chunks) == whole(case, ids)
    assert all(token.p > 0.9 for token in trace.written)
    assert trace.rounds[-1].lengths.target[1] == len(trace.prompt) + len(ids) - 1


def test_the_second_of_six_accepted_tokens_completes_it() -> None:
    case = text_pair("xab the kiln held its heat")
    _, trace = stream(case, 6, stop="ab")
    assert list(trace.token_ids) == case.script[:1]
    case = text_pair("the kiln held its heat the kiln")
    _, trace = stream(case, 6, stop="e kil")
    assert list(trace.token_ids) == case.script[:2]
    assert trace.text == "th"
    assert [t.verdict for t in trace.rounds[0].drafted] == ["accepted"] * 2 + ["discarded"] * 4
    assert (trace.alpha, trace.tokens_per_pass) == (1, 2)


def test_a_stop_string_in_the_prompt_is_not_one_in_the_text() -> None:
    case = text_pair(" kiln held", prompt="the sky is")
    assert stream(case, 3, stop="sky")[1].text == " kiln held"
    assert stream(case, 3, stop="is kiln")[1].text == " kiln held"  # begun in the prompt


def test_a_stop_string_longer_ago_than_a_few_tokens() -> None:
    text = "the kiln held its heat the kiln held its heat"
    case = text_pair(text, in_bytes=True)
    _, trace = stream(case, 2, stop=text[3:41])
    assert trace.text == "the"
    assert len(trace.token_ids) == 41


@settings(max_examples=60)
@given(
    text=st.text(alphabet="ab 字😀", min_size=1, max_size=8),
    stop=st.text(alphabet="ab 字😀", min_size=1, max_size=3),
    k=st.integers(0, 5),
    wrong=st.integers(0, 8),
    in_bytes=st.booleans(),
)
@example(text="a 😀", stop=" ", k=2, wrong=0, in_bytes=False)  # completed inside a character
def test_stop_strings_anywhere(text: str, stop: str, k: int, wrong: int, in_bytes: bool) -> None:
    case = text_pair(text, in_bytes=in_bytes, error_at=(wrong,))
    ids, before = expected(case, (stop,))
    chunks, trace = stream(case, k, stop=stop)
    assert list(trace.token_ids) == ids
    assert trace.text == before
    assert "".join(chunks) == whole(case, ids)
