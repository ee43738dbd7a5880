"""The real pair: greedy speculation is plain decoding, in fp32 and, at one shape, in bf16."""

from __future__ import annotations

import pytest

import specdec
from specdec.presets import presets

pytestmark = pytest.mark.model

PROMPTS = [
    *((p.prompt, p.chat) for p in presets()),
    ("The capital of France is", False),
    ("List three fruits, then repeat the list backwards.", True),
    ("1, 1, 2, 3, 5, 8,", False),
    ("Écris une phrase sur la mer. 😀", True),
    ("def add(a, b):\n", False),
]
DRAFTERS = ("model", "lookup")
WAYS = [(d, k) for d in DRAFTERS for k in range(1, 8)] + [("heads", 3), ("combined", 5)]
N = 16


@pytest.fixture(scope="module")
def pair_fp32(default_pair):
    pair = specdec.load_pair(dtype="fp32")
    yield pair
    pair.close()


@pytest.mark.parametrize(("prompt", "chat"), PROMPTS)
def test_fp32_writes_plain_decoding_token_by_token(pair_fp32, prompt, chat):
    options = {"chat": chat, "max_new_tokens": N, "tops": 0}
    plain = specdec.plain(pair_fp32, prompt, **options)
    for drafter, k in WAYS:
        fast = specdec.generate(pair_fp32, prompt, k=k, drafter=drafter, **options)
        assert fast.token_ids == plain.token_ids, (drafter, k)


@pytest.fixture
def pair_bf16(default_pair):
    if default_pair.hardware[0] == "bfloat16":
        return default_pair
    return specdec.load_pair(dtype="bf16")


@pytest.fixture
def rows_seen(monkeypatch):
    """Position → bits of the last target logits computed there, while a run goes on."""
    from specdec.models.scorer import LlamaScorer

    seen: dict[int, bytes] = {}
    score = LlamaScorer.score

    def noted(self, tokens, parents=None):
        at, logits = self.length, score(self, tokens, parents)
        if self.rows:
            seen.update({at + i: row.tobytes() for i, row in enumerate(logits)})
        return logits

    monkeypatch.setattr(LlamaScorer, "score", noted)
    return seen


@pytest.mark.parametrize(("prompt", "chat"), PROMPTS)
def test_bf16_is_bit_for_bit_the_same_at_one_shape(pair_bf16, rows_seen, prompt, chat):
    options = {"chat": chat, "max_new_tokens": N, "tops": 0, "rows": 8}

    def run(**more):
        rows_seen.clear()
        trace = specdec.generate(pair_bf16, prompt, **options, **more)
        end = len(trace.prompt) + len(trace.token_ids) - 1  # the last token was not fed
        return trace.token_ids, {at: bits for at, bits in rows_seen.items() if at < end}

    plain = run(k=0)
    assert len(plain[1]) == len(plain[0])
    for drafter, k in WAYS:
        assert run(k=k, drafter=drafter) == plain, (drafter, k)


def test_the_rows_of_this_machine_are_exact(pair_bf16):
    assert pair_bf16.target.rows_are_exact(8)


def test_a_seed_replays_a_sampled_run_and_another_does_not(default_pair):
    def ids(seed, **more):
        options = {"temperature": 1.0, "top_p": 0.95, "max_new_tokens": 20, "seed": seed}
        return specdec.generate(default_pair, "Tell me a story.", **options, **more).token_ids

    assert ids(1) == ids(1) and ids(1) != ids(2)
    assert ids(1, rule="match", rows=8) == ids(1, k=0, rows=8), "match is plain decoding's draws"


def test_texts_join_to_what_the_tokenizer_decodes(default_pair):
    trace = specdec.generate(default_pair, "Write five emoji and 漢字.", temperature=1.2, seed=3)
    joined = "".join(token.text for token in trace.written)
    assert joined == default_pair.tokenizer.decode(list(trace.token_ids))


def test_a_draft_for_itself_takes_the_fewest_passes(pair_fp32):
    from specdec.decode import speculate
    from specdec.drafters import ModelDrafter

    target = pair_fp32.target
    made = speculate(
        target.scorer(),
        ModelDrafter(target.scorer()),
        [1, 2, 3],
        k=4,
        sampling=specdec.Sampling(),
        max_new_tokens=40,
    )
    rounds = list(made)
    assert len(rounds) == 8 and all(r.accepted == 4 for r in rounds)
