"""A drafter of another tokenizer: its text crosses, its ids do not."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from specdec.drafters.bridged import ROOM, Bridged
from specdec.law import Sampling
from tests.pairs_np import LawScorer, ids_of, plain_ids, random_model, run_rounds, scripted
from tests.tokenizers_np import ByteTokenizer

OURS = ByteTokenizer()
PROMPT, TEXT = "the sky is", " held by the kiln 😀 and its heat 字 abba" * 2
ANY = st.text(st.characters(codec="utf-8", exclude_characters="\ufffd"), max_size=12)


class Letters(ByteTokenizer):
    """Another tokenizer: single bytes under other ids, and nothing longer."""

    def __init__(self) -> None:
        super().__init__()
        self.pieces = [b"<eos>", *(bytes([b]) for b in reversed(range(256)))]
        self.ids = {piece: i for i, piece in enumerate(self.pieces) if i}
        self.longest = 1


class Words(Letters):
    """Strings too, others than ours, which end elsewhere."""

    def __init__(self) -> None:
        super().__init__()
        for piece in (" held b", "y the", " kiln", " 😀 and", " its he", "at 字", " abba"):
            self.ids[piece.encode()] = len(self.pieces)
            self.pieces.append(piece.encode())
        self.longest = max(map(len, self.ids))


OWN, WORDS = Letters(), Words()


def writer(text: str, own: Letters = OWN) -> LawScorer:
    """Continues the prompt by this text, however what stands there is split; then ends."""
    whole = (PROMPT + text).encode()

    def laws(ids: tuple[int, ...]) -> list[float]:
        so_far = b"".join(own.pieces[i] for i in ids)
        rest = whole[len(so_far) :] if whole.startswith(so_far) else b""
        chosen = first(own, rest) if rest else 0
        return [float(i == chosen) for i in range(len(own))]

    return LawScorer(laws, len(own))


def first(own: Letters, data: bytes) -> int:
    """The first token of these bytes."""
    return next(own.ids[data[:n]] for n in range(own.longest, 0, -1) if data[:n] in own.ids)


def bridged(scorer, own: Letters = OWN) -> Bridged:
    """Its drafter for a target over pieces."""
    return Bridged(scorer, own, OURS, stop_ids=[0])


def propose(drafter: Bridged, text: str | Sequence[int], k: int):
    """A draft after this text."""
    ids = OURS.encode(text) if isinstance(text, str) else text
    return drafter.propose(ids, k, Sampling(), lambda *address: 0.5)


@pytest.mark.parametrize("k", [1, 2, 5, 9])
def test_what_it_would_write_is_drafted_in_the_targets_tokens(k: int) -> None:
    draft = propose(bridged(writer(TEXT, WORDS), WORDS), PROMPT, k)
    assert list(draft.tokens) == OURS.encode(TEXT)[:k] and draft.laws is None
    assert draft.passes <= ROOM * (k + 1)
    letters = propose(bridged(writer(TEXT)), PROMPT, k)  # where a split still changes: the text
    assert len(letters.tokens) == k and TEXT.startswith(OURS.decode(letters.tokens))


@pytest.mark.parametrize("k", [1, 3, 4])
def test_where_a_drafter_agrees_only_the_split_can_be_rejected(k: int) -> None:
    ids = OURS.encode(TEXT)
    target = scripted(len(OURS), ids, len(OURS.encode(PROMPT)))
    drafter = bridged(writer(TEXT, WORDS), WORDS)
    rounds = run_rounds(target, drafter, OURS.encode(PROMPT), k=k, n=24)
    assert ids_of(rounds) == ids[:24]
    at = 0
    for r in rounds:
        drafted = OURS.decode([token.id for token in r.drafted]).rstrip("\ufffd")
        assert OURS.decode(ids[at:]).startswith(drafted)  # its text is always right
        at += len(r.written)
    verdicts = [token.verdict for r in rounds for token in r.drafted]
    assert verdicts.count("accepted") > 4 * verdicts.count("rejected")


@given(seed=st.integers(0, 50), k=st.integers(1, 6), prompt=ANY.filter(bool))
@settings(max_examples=40)
def test_the_text_is_the_targets_whatever_it_drafts(seed: int, k: int, prompt: str) -> None:
    target, small = random_model(len(OURS), seed), random_model(len(OWN), seed + 1)
    ids = OURS.encode(prompt)
    rounds = run_rounds(target, bridged(small.scorer()), ids, k=k, n=12)
    assert ids_of(rounds) == plain_ids(target, ids, 12)


@given(texts=st.lists(ANY.filter(bool), min_size=1, max_size=5), k=st.integers(1, 4))
@settings(max_examples=60)
def test_its_cache_holds_the_text_as_it_splits_it(texts: list[str], k: int) -> None:
    """Whatever the text changes to, the favourite is that of the whole text without a cache."""
    model = random_model(len(OWN), 3)
    drafter = bridged(model.scorer())
    for text in texts:
        draft = propose(drafter, text, k)
        assert drafter.scorer.cached[: len(OWN.encode(text))] == OWN.encode(text)
        fresh = propose(bridged(model.scorer()), text, k)
        assert (list(draft.tokens), draft.passes) == (list(fresh.tokens), fresh.passes)


def test_half_a_character_is_not_drafted_on() -> None:
    ids = OURS.encode(PROMPT) + OURS.bytes_of("😀")[:2]
    draft = propose(bridged(writer(TEXT)), ids, 3)
    assert list(draft.tokens) == [] and draft.passes == 0


def test_only_whole_characters_are_read_again() -> None:
    """After each of its four bytes there is no character yet, so there is no token either."""
    tokens = propose(bridged(writer("😀")), PROMPT, 1).tokens
    assert list(tokens) == OURS.encode("😀")[:1]


@pytest.mark.parametrize(("text", "context"), [(" is", None), (TEXT, len(PROMPT) + 3)])
def test_it_stops_where_its_text_or_its_context_ends(text: str, context: int | None) -> None:
    scorer = writer(text)
    scorer.context = context
    draft = propose(bridged(scorer), PROMPT, 8)
    assert draft.passes == 3 and OURS.decode(draft.tokens) == text[:3]


def test_an_empty_text_has_nothing_to_be_continued() -> None:
    assert list(propose(bridged(writer(TEXT)), [], 3).tokens) == []


def test_a_part_of_its_vocabulary_is_enough() -> None:
    known = np.array(sorted({0, *OWN.encode(" is")}))
    scorer = writer(" is")
    whole = scorer.laws
    scorer.laws, scorer.token_ids = (lambda ids: [whole(ids)[i] for i in known]), known
    assert OURS.decode(propose(bridged(scorer), PROMPT, 2).tokens) == " is"


def test_it_is_closed() -> None:
    scorer = random_model(len(OWN)).scorer()
    drafter = bridged(scorer)
    propose(drafter, PROMPT, 2)
    drafter.close()
    assert scorer.closed
