"""Two real tokenizers of one text: aligned by characters, garbled, compared, bridged."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from specdec import foreign
from specdec.foreign import Swapped, aligned, bridge, garbled, shared, spelled, split, verdict
from specdec.lab import foreign_toys
from specdec.models.fetch import target_folder

pytestmark = pytest.mark.long

TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\ufffd\r\t\n"), max_size=30)
TOKENIZERS = pytest.mark.parametrize("name", ["target", "trained"])


@TOKENIZERS
@given(text=TEXTS)
@settings(max_examples=50)
def test_the_pieces_of_a_text_are_the_text(name: str, text: str) -> None:
    tokens = getattr(foreign, name)()
    text = spelled(text, [tokens])
    cut = split(tokens, text)
    assert "".join(cut.texts) == text and len(cut.ids) == len(cut.texts)


@given(text=TEXTS.filter(bool), width=st.integers(1, 40))
@settings(max_examples=50)
def test_characters_stand_below_each_other(text: str, width: int) -> None:
    """Without its bars each line is the text, and the bars of a line are its tokens' ends."""
    both = (foreign.target(), foreign.trained())
    text = spelled(text, both)
    if not text or any(bar in text for bar in "│║"):
        return
    splits = [split(tokens, text) for tokens in both]
    lines = ["".join(line) for line in zip(*aligned(text, splits, width))]
    assert len({len(line) for line in lines}) == 1
    for line, cut in zip(lines, splits):
        at, ends = 0, set()
        for own, other in zip(line, lines[1] if line is lines[0] else lines[0]):
            if own in "│║":
                ends.add(at)
                assert (own == other) is (own == "║")
            elif other not in "│║":
                assert own == other == text[at]
                at += 1
            else:
                assert own == " "
        assert ends == set(cut.ends) and at == len(text)


def test_what_a_tokenizer_cannot_spell_is_left_out() -> None:
    both = (foreign.target(), foreign.trained())
    assert spelled("a\U00040000b", both) == "ab"
    assert spelled("Größe 😀 字", both) == "Größe 😀 字"
    assert split(foreign.target(), "a\U00040000").texts[0] == "a"


def test_shared_ends_by_hand() -> None:
    one, other = foreign.Split((1, 2), ("ab", "cd")), foreign.Split((1, 2, 3), ("a", "b", "cd"))
    assert shared(one, other) == (1, 2)
    assert shared(one, one) == (1, 1)
    assert aligned("abcd", (one, other), 99) == [["a b║cd║", "a│b║cd║"]]


def test_ids_of_one_are_no_text_to_the_other() -> None:
    ours, theirs = foreign.target(), foreign.trained()
    text = "The kiln held its heat overnight."
    for one, other in ((ours, theirs), (theirs, ours)):
        ids = one.encode(text)
        read, unknown = garbled(ids, other)
        assert read != text
        assert unknown == sum(i >= len(other) for i in ids)
        assert garbled(ids, one) == (text, 0)


def test_what_the_checks_say() -> None:
    ours, theirs = foreign.target(), foreign.trained()
    assert verdict(ours, ours) == ""
    assert "the target's has 49152 tokens, the drafter's 1024" in verdict(ours, theirs)
    said = verdict(ours, Swapped(ours, 300, 400))
    assert "2 ids mean different ones; id 300 is" in said
    assert foreign.verdict_by_size(9, 9) == ""
    assert "the two vocabularies differ" in foreign.verdict_by_size(9, 8)


def test_training_again_gives_the_same_tokenizer() -> None:
    first = foreign.trained().own.to_str()
    foreign.trained.cache_clear()
    assert foreign.trained().own.to_str() == first
    assert len(foreign.trained()) == foreign.SIZE


def test_the_small_copy_is_the_whole_tokenizer() -> None:
    text = foreign.target().own.to_str()
    assert json.loads(foreign.unpacked(foreign.packed(text))) == json.loads(text)
    with pytest.raises(ValueError, match="in order"):
        data = json.loads(text)
        data["model"]["merges"].reverse()
        foreign.packed(json.dumps(data))


@pytest.mark.model
def test_the_small_copy_is_the_default_target_s(default_pair) -> None:
    from tokenizers import Tokenizer

    whole = Tokenizer.from_file(str(target_folder() / "tokenizer.json"))
    assert foreign.target().own.to_str() == whole.to_str()


def test_a_bridge_reads_every_token_and_takes_back_what_changed() -> None:
    ours, theirs = foreign.target(), foreign.trained()
    text = "The kiln held its heat overnight."
    for one, other in ((ours, theirs), (theirs, ours), (ours, ours)):
        found = bridge(text, one, other)
        assert found.tokens == len(one.encode(text)) and found.own == len(other.encode(text))
        assert found.fed - found.dropped == found.own
    assert bridge(text, ours, ours).dropped == 0
    assert bridge(text, theirs, ours).dropped > 0  # " h" and "e" before " heat"
    assert bridge("", ours, theirs) == foreign.Bridge(0, 0, 0, 0)


def test_half_a_letter_is_not_bridged() -> None:
    ours, theirs = foreign.target(), foreign.trained()
    found = bridge(" 字", ours, theirs)
    assert found.tokens > 1 and found.fed == found.own and not found.dropped


def test_moved_ids_keep_the_text_and_lose_the_acceptance() -> None:
    for seed in range(1, 6):
        same, moved = foreign_toys.unchecked(seed)
        assert same.same_text and moved.same_text
        assert (moved.target_rows, moved.drafter_rows) == (same.target_rows, same.drafter_rows)
        assert moved.speculative.alpha < same.speculative.alpha / 2


def test_padding_changes_nothing() -> None:
    for seed in range(1, 6):
        same, _ = foreign_toys.unchecked(seed)
        for wide in foreign_toys.padded(seed):
            assert wide.target_rows != wide.drafter_rows
            assert wide.speculative.token_ids == same.speculative.token_ids
            assert [r.accepted for r in wide.speculative.rounds] == [
                r.accepted for r in same.speculative.rounds
            ]
