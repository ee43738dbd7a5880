"""A target on a server: what is written there is what would be written here, token for token."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

import specdec
from specdec.decode import speculate
from specdec.drafters import ModelDrafter, Tree
from specdec.law import Sampling
from specdec.models.remote import RemoteModel
from specdec.models.remote_pair import RemotePair
from specdec.models.remote_scorer import needed
from specdec.trace import Round, Trace
from tests.completions_server import (
    FORMS,
    PROMPT,
    SMALL,
    TARGET,
    TOKENIZER,
    Served,
    V,
    form,
    pair,
    remote,
    served,
    serving,
    untimed,
    vllm,
)
from tests.pairs_np import Pair, still

pytestmark = pytest.mark.long


def same(a: Trace, b: Trace) -> bool:
    return untimed(a.rounds) == untimed(b.rounds) and a.prompt == b.prompt


# ---- what is written there is what would be written here ----------------------------------------

LAWS = [
    {},
    {"temperature": 1.0, "top_k": 20},
    {"temperature": 0.7, "top_k": 3, "top_p": 0.8},
    {"temperature": 1.3, "top_k": 12, "min_p": 0.1},
    {"temperature": 1.0, "top_k": 1},
]


@pytest.mark.parametrize("law", LAWS, ids=str)
def test_a_run_over_http_is_the_local_run_bit_for_bit(served: Served, law: dict) -> None:
    served.reversed = True  # answers are told apart by their index
    there, here = pair(served), Pair(TARGET, SMALL, stop_ids=())
    for options in ({"k": 4}, {"k": 0}, {"k": 3, "drafter": "lookup"}, {"k": 5, "drafter": "tree"}):
        asked = {"max_new_tokens": 24, "seed": 5, **options, **law}
        assert same(
            specdec.generate(there, PROMPT, **asked), specdec.generate(here, PROMPT, **asked)
        )


@pytest.mark.parametrize("rule", ["match", "block"])
def test_the_other_rules_too(vllm: Served, rule: str) -> None:
    asked = {"max_new_tokens": 24, "temperature": 1.0, "top_k": 9, "rule": rule}
    there, here = pair(vllm), Pair(TARGET, SMALL, stop_ids=())
    assert same(*(specdec.generate(pair, PROMPT, **asked) for pair in (there, here)))


def test_a_round_is_one_request_with_a_prompt_for_every_token(vllm: Served) -> None:
    trace = specdec.generate(pair(vllm), PROMPT, k=4, max_new_tokens=12)
    prefill, *rounds = vllm.asked
    text = [token.id for token in trace.prompt]
    assert prefill["prompt"] == [text[:-1]]
    assert len(rounds) == trace.target_passes
    for r, body in zip(trace.rounds, rounds):
        draft = [token.id for token in r.drafted]
        assert body["prompt"] == [text + draft[:i] for i in range(len(draft) + 1)]
        assert (body["max_tokens"], body["logprobs"], body["model"]) == (1, 5, "toy")
        text += [token.id for token in r.written]


def test_the_text_ends_where_the_servers_context_does(served: Served) -> None:
    for n in (89, 90, 93, 94):
        trace = specdec.generate(pair(served), list(range(2, 2 + n)), k=4, max_new_tokens=50)
        assert trace.stop_reason == "context"
        assert n + len(trace.token_ids) == TARGET.context - 1


def prompts(served: Served) -> list[list[list[int]]]:
    return [body["prompt"] for body in served.asked]


def test_a_long_text_is_scored_in_several_requests(vllm: Served) -> None:
    ids = [int(i) for i in np.random.default_rng(3).integers(0, V, 70)]
    rows = remote(vllm).scorer().score(ids)
    assert [len(part) for part in prompts(vllm)] == [32, 32, 6]
    for i in (0, 31, 32, 69):
        known = np.flatnonzero(rows[i] > -np.inf)
        assert (rows[i][known] == TARGET.after(ids[: i + 1])[known]).all() and len(known) == 20


def test_an_address_may_have_a_path_and_a_key(vllm: Served, monkeypatch) -> None:
    monkeypatch.setenv("SPECDEC_API_KEY", "secret")
    model = RemoteModel(vllm.address + "/base/v1/", vocab_size=V)
    assert model.rows([[1, 2]], 5)[0]
    assert model.connection._headers["Authorization"] == "Bearer secret"


def test_a_tree_keeps_one_path() -> None:
    with serving(TARGET, TOKENIZER) as server:
        scorer, local = remote(server).scorer(), TARGET.scorer()
        for cache in (scorer, local):
            cache.score([4, 5])
            cache.score([7, 8, 9, 10], [-1, -1, 1, 2])
            cache.keep([1, 2])
        with pytest.raises(ValueError, match="no path"):
            scorer.keep([1])
        rows, expected = scorer.score([11]), local.score([11])
        assert scorer.length == local.length == 5
        assert (rows[rows > -np.inf] == expected[rows > -np.inf]).all()
        assert np.isfinite(rows).sum() == 20


def test_trees_are_judged_as_local_ones(vllm: Served) -> None:
    def rounds(target):
        drafter = Tree(ModelDrafter(SMALL.scorer()), 2)
        options = {"sampling": Sampling(1.0, top_k=7), "max_new_tokens": 20, "clock": still}
        return list(speculate(target.scorer(), drafter, [3, 4, 5], k=6, **options))

    assert rounds(remote(vllm)) == rounds(TARGET)


# ---- what a server cannot tell ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sampling", "many"),
    [
        (Sampling(), 1),
        (Sampling(0.7, top_k=40), 40),
        (Sampling(0.7, top_k=40, top_p=0.9), 40),
        (Sampling(0.7), None),
        (Sampling(0.7, top_p=0.9), None),
        (Sampling(0.7, top_k=4, presence_penalty=1.0), None),
        (Sampling(logit_bias=((3, 1.0),)), None),
        (Sampling(allowed=(3, 4)), None),
    ],
    ids=str,
)
def test_how_many_of_the_likeliest_decide_the_law(sampling: Sampling, many: int | None) -> None:
    assert needed(sampling) == many
    if many is None:
        return
    full = np.asarray(TARGET.after([5, 6]))
    known = np.argsort(-full, kind="stable")[:many]
    cut = np.full(V, -np.inf, np.float32)
    cut[known] = full[known]
    assert (sampling.law(full) == sampling.law(cut)).all()


@pytest.mark.parametrize(
    ("law", "words"),
    [
        ({"temperature": 0.7}, "decode greedily, or with top_k"),
        ({"temperature": 0.7, "top_p": 0.9}, "decode greedily, or with top_k"),
        ({"presence_penalty": 0.5}, "decode greedily, or with top_k"),
        ({"repetition_penalty": 1.2}, "repetition_penalty scales logits"),
    ],
    ids=str,
)
def test_a_law_of_more_is_refused_before_any_pass(vllm: Served, law: dict, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        specdec.generate(pair(vllm), PROMPT, **law)
    assert vllm.asked == []
    if "repetition_penalty" in law:
        with pytest.raises(ValueError, match=words):
            specdec.generate(pair(vllm, partial=20), PROMPT, **law)


def test_partial_is_the_law_cut_to_the_likeliest_and_says_what_is_missing(served: Served) -> None:
    asked = {"max_new_tokens": 24, "seed": 2, "temperature": 0.8, "top_p": 0.95}
    there, here = pair(served, partial=11), Pair(TARGET, SMALL, stop_ids=())
    plain, exact = (
        specdec.plain(there, PROMPT, **asked),
        specdec.plain(here, PROMPT, **asked, top_k=11),
    )
    assert plain.token_ids == exact.token_ids and exact.source.missing is None
    assert [t.p for t in plain.written] == pytest.approx([t.p for t in exact.written], rel=1e-12)
    cut = specdec.generate(there, PROMPT, k=4, **asked)
    expected = max(missing_mass(r, cut) for r in cut.rounds)
    assert cut.source.missing == pytest.approx(expected, abs=1e-6) and 0 < expected < 1
    assert Trace.from_json(cut.to_json()) == cut


def missing_mass(r: Round, trace: Trace) -> float:
    """The most that a row of this round lacks of the whole law, by the model itself."""
    text = ([t.id for t in trace.prompt] + list(trace.token_ids))[: r.start]
    draft = [token.id for token in r.drafted]
    rows = [np.sort(TARGET.after(text + draft[:i]))[:-11] for i in range(len(draft) + 1)]
    return max(float(np.exp(row.astype(float)).sum()) for row in rows)


def test_where_the_law_is_exact_nothing_is_said_to_be_missing(vllm: Served) -> None:
    for law in LAWS:
        for partial in (0, 20):
            trace = specdec.generate(pair(vllm, partial=partial), PROMPT, max_new_tokens=6, **law)
            assert trace.source.missing is None


def test_the_label_says_where_the_target_is(vllm: Served) -> None:
    there = RemotePair("", "", remote(vllm), SMALL, TOKENIZER, ())
    trace = specdec.generate(there, PROMPT, max_new_tokens=4)
    source = trace.source
    assert (source.target, source.device, source.memory) == ("toy", "remote", None)
    assert source.machine == vllm.address.removeprefix("http://")


def test_a_fixed_shape_is_refused(vllm: Served) -> None:
    with pytest.raises(ValueError, match="one shape"):
        specdec.generate(pair(vllm), PROMPT, rows=8)
