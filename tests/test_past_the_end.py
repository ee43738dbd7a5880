"""The end inside a draft: the lab's loop writes past it, the engine never does, whatever k is."""

from __future__ import annotations

from dataclasses import replace

import pytest

from specdec import recordings, toy
from specdec.lab import past_the_end
from specdec.lab.past_the_end import Ends
from specdec.trace import Token, Trace
from specdec.ui import tables

pytestmark = pytest.mark.long

KINDS = {"eos": Ends(30, 1), "stop": Ends(30, string="c a"), "length": Ends(17)}
SEEDS = range(5)
WORDS = ("a", "b", "c")


def told(seed: int) -> Trace:
    """A random text of 40 words after 20 of the prompt, which a lookup can copy from."""
    model = toy.random_model(seed, vocab=WORDS)
    whole = toy.speculative_greedy(model, model, 60, k=0)
    prompt = tuple(Token(t.id, t.text) for t in whole.written[:20])
    return replace(whole, prompt=whole.prompt + prompt, rounds=whole.rounds[20:])


def due(plain: Trace, ends: Ends) -> int:
    """The tokens that a loop of one token a pass writes: what the end means."""
    text = ""
    for i, token in enumerate(plain.written, 1):
        text += token.text
        if i == ends.n or token.id == ends.token or (ends.string and ends.string in text):
            return i
    raise AssertionError("the recording is too short")


def sharpened(plain: Trace, name: str) -> Ends:
    ends = KINDS[name]
    return ends if ends.token is None else replace(ends, token=plain.written[6].id)


@pytest.mark.parametrize("drafter", past_the_end.DRAFTERS)
@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("k", range(1, 9))
def test_the_engine_ends_where_one_token_a_pass_would(name, k, drafter):
    for seed in SEEDS:
        plain = told(seed)
        ends = sharpened(plain, name)
        case = past_the_end.run(plain, ends, k=k, drafter=drafter)
        assert case.ours.token_ids == plain.token_ids[: due(plain, ends)]
        assert "".join(t.text for t in case.ours.written) == "".join(
            t.text for t in plain.written[: len(case.ours.written)]
        )


@pytest.mark.parametrize("drafter", past_the_end.DRAFTERS)
@pytest.mark.parametrize("name", KINDS)
def test_the_naive_loop_is_really_broken(name, drafter):
    """It is right where the end happens to be the last token of its round, and only there."""
    past = 0
    for seed in SEEDS:
        for k in range(1, 9):
            plain = told(seed)
            ends = sharpened(plain, name)
            case = past_the_end.run(plain, ends, k=k, drafter=drafter)
            assert case.naive.token_ids == plain.token_ids[: len(case.naive.written)]
            last = case.before.rounds[-1]
            lucky = len(last.written) == len(case.ours.rounds[-1].written)
            assert bool(case.surplus) == (not lucky)
            past += bool(case.surplus)
    assert past >= 5


def test_both_loops_make_the_same_rounds_until_the_end():
    for seed in SEEDS:
        case = past_the_end.run(told(seed), Ends(17), k=4, drafter="lookup")
        same = len(case.ours.rounds) - 1
        ours, naive = ([(r.drafted, r.written) for r in t.rounds] for t in (case.ours, case.naive))
        assert ours[:same] == naive[:same]
        assert [t.id for t in ours[same][0]] == [t.id for t in naive[same][0]]


def test_counts_before_the_cut_take_in_what_the_text_never_got():
    plain = told(0)
    case = past_the_end.run(plain, Ends(6), k=3, drafter="oracle")
    # Rounds of 4 and 2: of the second's three drafts two are written, the third is cut away.
    assert [len(r.written) for r in case.ours.rounds] == [4, 2]
    assert (case.ours.alpha, case.ours.draft_yield) == (1.0, 1.0)
    assert [r.accepted for r in case.ours.rounds] == [3, 2]
    assert [r.accepted for r in case.before.rounds] == [3, 3]
    assert (case.ours.tokens_per_pass, case.before.tokens_per_pass) == (3.0, 4.0)


def test_the_kiln_s_drafts_run_over_the_end():
    kiln = toy.table(tables.TARGET)
    plain = toy.speculative_greedy(kiln, kiln, 24, k=0)
    [end] = {t.id for t in plain.written if t.text.strip() == toy.END}
    case = past_the_end.run(plain, Ends(12, end), k=4, drafter="oracle")
    assert case.ours.text == "the kiln held its heat overnight"
    assert (case.ours.stop_reason, len(case.ours.written)) == ("eos", 7)
    assert len(case.surplus) == 3  # the round's last three words


def test_the_time_of_a_table_does_not_pose_as_the_model_s():
    case = past_the_end.run(told(0), Ends(6), k=3)
    assert case.ours.seconds.total == case.naive.seconds.total == 0


def test_a_recorded_text_is_written_again_word_for_word():
    plain = recordings.load("copy", "lookup").plain
    for k in (1, 4, 8):
        case = past_the_end.run(plain, Ends(30), k=k)
        assert case.ours.token_ids == plain.token_ids[:30]
        assert case.ours.written[0].text == plain.written[0].text


@pytest.mark.parametrize(
    ("ends", "options", "said"),
    [
        (Ends(5), {"k": 0}, "n \\+ k must be"),
        (Ends(0), {"k": 1}, "n \\+ k must be"),
        (Ends(38), {"k": 3}, "n \\+ k must be"),
        (Ends(5), {"k": 1, "drafter": "model"}, "no drafter 'model' here"),
    ],
)
def test_what_cannot_be_played_is_said(ends, options, said):
    with pytest.raises(ValueError, match=said):
        past_the_end.run(told(0), ends, **options)


def test_the_engine_does_not_know_the_naive_loop():
    import specdec
    from specdec import decode, run

    for module in (specdec, decode, run):
        assert not hasattr(module, "naive") and not hasattr(module, "past_the_end")
