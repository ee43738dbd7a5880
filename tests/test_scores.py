"""Penalties, bias and constraints, against a slow definition and against transformers."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from specdec.constraint import Constraint, NothingAllowed
from specdec.drafters import ModelDrafter
from specdec.law import Sampling
from specdec.trace import Settings, Source, Token, Trace
from specdec.uniforms import Uniforms
from tests.pairs_np import LawScorer

V = 7
ODD = Constraint("another parity each time", lambda written: range(len(written) % 2, V, 2))


def slowly(logits: Sequence[float], history: Sequence[int], s: Sampling) -> list[float]:
    """The definition, an id at a time."""
    written = list(history)[s.prompt_length :]
    counts, bias, result = Counter(written), dict(s.logit_bias), []
    for i, x in enumerate(logits):
        x += bias.get(i, 0.0)
        if i in history:
            x = x / s.repetition_penalty if x > 0 else x * s.repetition_penalty
        if counts[i]:
            x -= s.presence_penalty
        x -= s.frequency_penalty * counts[i]
        banned = s.allowed is not None and i not in s.allowed
        banned |= s.constraint is not None and i not in set(s.constraint.allows(written))
        result.append(-math.inf if banned else x)
    return result


ids = st.integers(0, V - 1)
EDITED = st.builds(
    Sampling,
    repetition_penalty=st.sampled_from([1.0, 0.8, 1.5]),
    presence_penalty=st.sampled_from([0.0, 0.7, -0.3]),
    frequency_penalty=st.sampled_from([0.0, 0.4, -0.2]),
    logit_bias=st.dictionaries(ids, st.floats(-3, 3), max_size=3),
    allowed=st.none() | st.sets(ids, min_size=6),  # one odd and one even id at least
    constraint=st.none() | st.just(ODD),
    prompt_length=st.integers(0, 5),
)
LOGITS = st.lists(st.floats(-5, 5), min_size=V, max_size=V)
HISTORY = st.lists(ids, max_size=12)


@settings(max_examples=100)
@given(LOGITS, HISTORY, EDITED)
def test_the_scores_are_the_definition(logits: list, history: list, s: Sampling) -> None:
    found = s.scores(np.array(logits), history)
    assert np.allclose(found, slowly(logits, history, s), rtol=1e-12, atol=1e-12)


@settings(max_examples=100)
@given(LOGITS, HISTORY, EDITED, st.sampled_from([0.0, 0.8]))
def test_a_part_of_the_vocabulary_has_its_own_columns(
    logits: list, history: list, s: Sampling, temperature: float
) -> None:
    """A drafter that knows five of the ids: as if all others had no chance."""
    known = np.array([0, 2, 3, 5, 6])
    s = replace(s, temperature=temperature)
    part = s.law(np.array(logits)[known], history, known)
    whole = np.full(V, -np.inf)
    whole[known] = np.array(logits)[known]
    assert np.allclose(part, s.law(whole, history)[known], rtol=1e-12)


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_the_law_is_that_of_transformers_processors(kind: type) -> None:
    """Those that it has, in the order of its own generate(); penalties count the prompt there."""
    import torch
    from transformers.generation import logits_process as hf

    rng = np.random.default_rng(0)
    allowed = sorted(rng.choice(200, 150, replace=False).tolist())
    settings = {
        "logit_bias": {
            int(i): float(x) for i, x in zip(rng.permutation(200)[:9], rng.normal(size=9))
        },
        "repetition_penalty": 1.3,
        "temperature": 0.7,
        "top_k": 40,
        "top_p": 0.9,
        "min_p": 0.02,
    }
    chain = [
        hf.SequenceBiasLogitsProcessor({(i,): x for i, x in settings["logit_bias"].items()}),
        hf.RepetitionPenaltyLogitsProcessor(1.3),
        hf.PrefixConstrainedLogitsProcessor(lambda batch, seen: allowed, num_beams=1),
        hf.TemperatureLogitsWarper(0.7),
        hf.TopKLogitsWarper(40),
        hf.TopPLogitsWarper(0.9),
        hf.MinPLogitsWarper(0.02),
    ]
    for _ in range(50):
        logits = (3 * rng.normal(size=200)).astype(kind)
        history = rng.integers(0, 200, 30).tolist()
        theirs = torch.from_numpy(logits)[None]
        for processor in chain:
            theirs = processor(torch.tensor([history]), theirs)
        ours = Sampling(**settings, allowed=allowed).law(logits, history)
        assert np.allclose(ours, theirs.double().softmax(-1)[0].numpy(), rtol=1e-5, atol=1e-12)
        penalised = Sampling(repetition_penalty=1.3).law(logits, history)
        best = hf.RepetitionPenaltyLogitsProcessor(1.3)(
            torch.tensor([history]), torch.from_numpy(logits)[None]
        )
        assert penalised.argmax() == best.argmax()
        assert penalised.sum() == penalised.max() == 1


def test_only_repetition_counts_the_prompt() -> None:
    """vLLM's sum by hand: 0 and 1 stand in the prompt, 1 once and 2 twice in the text."""
    logits = np.array([1.0, -1.0, 2.0, 3.0])
    s = Sampling(
        repetition_penalty=2.0, presence_penalty=0.5, frequency_penalty=0.25, prompt_length=2
    )
    assert s.scores(logits, [0, 1, 2, 1, 2]).tolist() == [0.5, -2.75, 0.0, 3.0]


def test_bias_comes_before_the_penalties() -> None:
    """−1 + 3 is divided; −1 would be multiplied, and 3 added to that."""
    s = Sampling(repetition_penalty=2.0, logit_bias={0: 3.0})
    assert s.scores(np.array([-1.0, 0.0]), [0]).tolist() == [1.0, 0.0]


def test_history_and_logits_are_left_as_they_were() -> None:
    logits, history = np.arange(4.0), [1, 2]
    logits.flags.writeable = False
    s = Sampling(repetition_penalty=2.0, frequency_penalty=1.0, logit_bias={3: -9.0}, allowed={1})
    s.scores(logits, history)
    assert (logits.tolist(), history) == ([0, 1, 2, 3], [1, 2])


def test_ids_that_a_smaller_vocabulary_lacks_are_passed_over() -> None:
    s = Sampling(repetition_penalty=2.0, logit_bias={9: 5.0}, allowed={1, 9})
    assert s.law(np.array([4.0, 2.0]), [1, 8]).tolist() == [0, 1]


# ---- constraints -----------------------------------------------------------------------------


def test_what_is_not_allowed_has_no_chance() -> None:
    logits = np.log([0.5, 0.2, 0.2, 0.1])
    assert Sampling(1.0, allowed={1, 3}).law(logits) == pytest.approx([0, 2 / 3, 0, 1 / 3])
    only = Constraint("odd", lambda written: np.array([3, 1]))
    assert Sampling(1.0, constraint=only).law(logits) == pytest.approx([0, 2 / 3, 0, 1 / 3])
    assert Sampling(allowed={1, 2}, constraint=only).law(logits).tolist() == [0, 1, 0, 0]


def test_a_rule_sees_the_written_tokens_alone() -> None:
    seen = []
    rule = Constraint("any", lambda written: seen.append(list(written)) or range(9))
    Sampling(constraint=rule, prompt_length=2).law(np.zeros(9), [7, 8, 1, 2])
    assert seen == [[1, 2]]


@pytest.mark.parametrize(
    ("edit", "words"),
    [
        ({"constraint": Constraint("none", lambda w: ())}, "After 2 written tokens the constraint"),
        ({"allowed": [1], "constraint": Constraint("2", lambda w: {2})}, "leaves none"),
        ({"allowed": [3]}, "list of allowed tokens leaves none"),  # it has no chance
        ({"allowed": [11]}, "list of allowed tokens leaves none"),  # there is no such token
    ],
    ids=str,
)
@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_nothing_allowed_is_said_in_words(edit: dict, words: str, temperature: float) -> None:
    with pytest.raises(NothingAllowed, match=words):
        Sampling(temperature, **edit).law(np.array([0.5, 0.25, 0.25, -np.inf]), [1, 2])


def test_a_constraint_hides_no_broken_logits() -> None:
    with pytest.raises(ValueError, match="logits have no finite maximum"):
        Sampling(allowed={1}).law(np.array([np.nan, 1.0]))


def test_a_drafter_that_knows_nothing_allowed_drafts_no_more() -> None:
    scorer = LawScorer(lambda prefix: [0.5, 0.5], 2)
    scorer.token_ids = np.array([0, 2])
    rule = Constraint("2, then 1", lambda written: {1} if written else {2})
    sampling = Sampling(1.0, constraint=rule, prompt_length=1)
    draft = ModelDrafter(scorer, 3).propose([0], 3, sampling, Uniforms(0))
    assert (draft.tokens, draft.laws.tolist(), draft.passes) == ([2], [[0, 0, 1]], 2)


# ---- as settings -----------------------------------------------------------------------------


def traced(sampling: Sampling) -> Trace:
    settings = Settings(2, "model", sampling, 9, 3)
    return Trace((Token(0, "x"),), (), settings, Source("live", "big", "small"))


def test_every_edit_comes_back_from_json_and_a_rule_as_its_name() -> None:
    s = Sampling(
        1.0,
        repetition_penalty=1.5,
        presence_penalty=0.5,
        frequency_penalty=-0.5,
        logit_bias={np.int64(3): 1, 1: 2.5},
        allowed=np.array([5, 1, 5]),
        constraint=ODD,
    )
    assert (s.logit_bias, s.allowed) == (((1, 2.5), (3, 1.0)), (1, 5))
    trace = traced(s)
    back = Trace.from_json(trace.to_json())
    assert (back, hash(back)) == (trace, hash(trace))
    assert back.settings.sampling.constraint == ODD
    with pytest.raises(ValueError, match="'another parity each time' is known by its name only"):
        back.settings.sampling.law(np.zeros(9))


def test_a_file_from_before_there_were_penalties_is_read() -> None:
    data = json.loads(traced(Sampling(0.5, 3, 0.9, 0.1)).to_json())
    old = ("temperature", "top_k", "top_p", "min_p")
    kept = {name: data["settings"]["sampling"][name] for name in old}
    data["settings"]["sampling"] = kept
    assert Trace.from_json(json.dumps(data)).settings.sampling == Sampling(0.5, 3, 0.9, 0.1)


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("repetition_penalty", 0),
        ("repetition_penalty", -1.5),
        ("repetition_penalty", math.nan),
        ("presence_penalty", math.inf),
        ("frequency_penalty", math.nan),
        ("logit_bias", {1: math.inf}),
        ("logit_bias", {-1: 1.0}),
        ("logit_bias", [(1, 2.0), (1, 3.0)]),
        ("logit_bias", [(1,)]),
        ("logit_bias", 5),
        ("logit_bias", {"a": 1.0}),
        ("allowed", []),
        ("allowed", [-1, 2]),
        ("allowed", ["a"]),
        ("allowed", 5),
        ("prompt_length", -1),
    ],
)
def test_a_setting_that_cannot_be_is_named(setting: str, value: object) -> None:
    with pytest.raises(ValueError, match=f"{setting} is .*; it must be"):
        Sampling(**{setting: value})
