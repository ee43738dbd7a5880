"""The article's round, its 300 trials, and both endings, on models one can read."""

from __future__ import annotations

import random

import pytest

from specdec import toy

TARGET = {
    "": "the",
    "the": "kiln",
    "the kiln": "held",
    "the kiln held": "its",
    "the kiln held its": "heat",
    "the kiln held its heat": "overnight",
}
DRAFT = {
    "": "the",
    "the": "kiln",
    "the kiln": "cooled",
    "the kiln cooled": "slowly",
    "the kiln held": "its",
    "the kiln held its": "heat",
    "the kiln held its heat": "all",
    "the kiln held its heat all": "night",
}


def written(trace) -> list[str]:
    return [token.text.strip() for token in trace.written]


def alone(model, n: int) -> list[str]:
    """One word after another, without the engine."""
    words = []
    for _ in range(n):
        words.append(model(words))
    return words


def test_the_kiln_round_and_its_two_lines() -> None:
    trace = toy.speculative_greedy(toy.table(TARGET), toy.table(DRAFT), 6, k=4)
    assert toy.lines(trace) == [
        "drafted ['the', 'kiln', 'cooled', 'slowly'] kept 2 -> the kiln held",
        "drafted ['its', 'heat', 'all', 'night'] kept 2 -> the kiln held its heat overnight",
    ]
    assert trace.text == "the kiln held its heat overnight"
    assert (trace.target_passes, trace.draft_passes, len(trace.written)) == (2, 8, 6)
    assert trace.tokens_per_pass == 3
    assert trace.alpha == 4 / 6
    assert trace.stop_reason == "length"
    first = trace.rounds[0]
    assert [t.verdict for t in first.drafted] == ["accepted", "accepted", "rejected", "discarded"]
    assert [t.kind for t in first.written] == ["accepted", "accepted", "corrected"]
    assert [t.threshold for t in first.drafted[:3]] == [1, 1, 0]
    assert toy.Trace.from_json(trace.to_json()) == trace


def test_a_weak_drafter_gives_one_token_a_pass() -> None:
    weak = toy.table({})  # always "<end>"
    trace = toy.speculative_greedy(toy.table(TARGET), weak, 6, k=4)
    assert trace.text == "the kiln held its heat overnight"
    assert trace.target_passes == 6
    assert trace.tokens_per_pass == 1
    assert trace.alpha == 0


@pytest.mark.parametrize(("k", "passes"), [(1, 3), (2, 2), (4, 2), (5, 1), (8, 1)])
def test_a_perfect_drafter_gives_k_plus_one_tokens_a_pass(k: int, passes: int) -> None:
    model = toy.table(TARGET)
    trace = toy.speculative_greedy(model, toy.table(TARGET), 6, k=k)
    assert trace.text == "the kiln held its heat overnight"
    assert trace.target_passes == passes
    assert trace.alpha == 1


def test_where_the_table_is_silent_the_text_ends() -> None:
    model = toy.table({"": "a"})
    assert model([]) == "a"
    assert model(["a"]) == model(["b", "c"]) == toy.END
    assert toy.speculative_greedy(model, model, 3).text == "a <end> <end>"


def test_three_hundred_seeded_pairs() -> None:
    """Whatever the drafter: the words of the target alone, and never more passes than words."""
    rng = random.Random(29)
    kept = {}
    for trial in range(300):
        agree = rng.choice([0.0, 0.5, 0.9, 1.0])
        target = toy.random_model(trial)
        draft = toy.random_model(-1 - trial, follow=target, agree=agree)
        n, k = rng.randint(1, 30), rng.randint(1, 6)
        trace = toy.speculative_greedy(target, draft, n, k)
        assert written(trace) == alone(target, n)
        assert trace.target_passes <= n
        if agree == 1.0:
            assert trace.target_passes == -(-n // (k + 1))
        a, judged = kept.get(agree, (0, 0))
        new = sum(r.accepted for r in trace.rounds), sum(r.rejected for r in trace.rounds)
        kept[agree] = (a + new[0], judged + sum(new))
    alphas = [a / judged for _, (a, judged) in sorted(kept.items())]
    assert alphas == sorted(alphas)  # α follows the agreement
    assert alphas[0] == pytest.approx(1 / 4, abs=0.06)  # by chance, of four words; n > 500
    assert alphas[-1] == 1


def test_a_random_model_is_drawn_once_and_for_all() -> None:
    one, again, other = (toy.random_model(seed) for seed in (3, 3, 4))
    prefixes = [alone(one, n) for n in range(12)]
    assert [one(p) for p in prefixes] == [again(p) for p in prefixes]
    assert [one(p) for p in prefixes] != [other(p) for p in prefixes]
    state = random.getstate()
    one(["a"])
    assert random.getstate() == state  # nobody's generator was touched


def test_follow_agrees_as_often_as_asked() -> None:
    """300 prefixes, agreement .7 + .3 / 4 = .775, within 4σ (σ = .024)."""
    target = toy.random_model(1)
    draft = toy.random_model(2, follow=target, agree=0.7)
    prefixes = [[str(i)] for i in range(300)]
    share = sum(draft(p) == target(p) for p in prefixes) / 300
    assert share == pytest.approx(0.775, abs=0.1)


def test_words_may_be_any_text() -> None:
    words = {"": "<script>", "<script>": "字", "<script> 字": "😀", "<script> 字 😀": "مرحبا"}
    model = toy.table(words)
    trace = toy.speculative_greedy(model, toy.table({}), 4)
    assert trace.text == " ".join(words.values())


def test_no_words_asked_is_refused_in_words() -> None:
    with pytest.raises(ValueError, match="1 or more"):
        toy.speculative_greedy(toy.table(TARGET), toy.table(DRAFT), 0)
