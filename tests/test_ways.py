"""Every way to draft by its name: one text, its words on the screen, what it weighs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from specdec import run, ways
from specdec.drafters import Tree
from specdec.trace import Memory, Trace
from tests.heads import tiny_heads, tiny_target
from tests.pairs_np import closed, drafting, random_pair
from tests.tiny import one_thread
from tests.tokenizers_np import ByteTokenizer

pytestmark = pytest.mark.long

WITHOUT_LAYERS = [name for name in ways.DRAFTERS if name not in ("heads", "early-exit")]
SAID = {
    "model": "small",
    "lookup": "prompt lookup",
    "tree": "a tree by small",
    "combined": "prompt lookup, else small",
    "random": "random tokens",
}


@pytest.mark.parametrize("name", WITHOUT_LAYERS)
@pytest.mark.parametrize("k", [1, 4, 9])
def test_every_name_writes_the_targets_text(name: str, k: int) -> None:
    pair = random_pair()
    options = {"max_new_tokens": 20, "chat": False}
    plain = run.plain(pair, "the sky", **options)
    trace = run.generate(pair, "the sky", k=k, drafter=name, **options)
    assert trace.token_ids == plain.token_ids and trace.text == plain.text
    assert (trace.settings.drafter, trace.source.drafter) == (name, SAID[name])
    assert Trace.from_json(trace.to_json()) == trace
    again = run.generate(pair, "the sky", **trace.settings.options())
    assert again.token_ids == trace.token_ids
    assert closed(pair)


@pytest.mark.parametrize("name", WITHOUT_LAYERS)
def test_the_caches_have_exactly_the_room_that_a_way_needs(name: str) -> None:
    """The toy's caches have the room that the run asks for, and no more."""
    for n in (1, 2, 3, 7):
        for k in (1, 2, 8):
            trace = run.generate(random_pair(), "the sky", k=k, drafter=name, max_new_tokens=n)
            assert len(trace.token_ids) == n


def llama_pair(heads_file: Path | None = None) -> SimpleNamespace:
    """A tiny Llama, its first layers as the small model, heads if there is a file for them."""
    tokenizer = ByteTokenizer()
    pair = random_pair(tokenizer)
    target = tiny_target(len(tokenizer), seed=5)
    target.name, small = "big", target.first(2)
    small.name = "small"
    return SimpleNamespace(
        target=target,
        draft=small,
        heads=tiny_heads(target, list(range(40, 90))),
        heads_file=heads_file,
        memory=Memory(100, 50, 10, 5),
        **{n: getattr(pair, n) for n in ("tokenizer", "texts", "stop_ids", "hardware")},
    )


@pytest.mark.parametrize("name", ways.DRAFTERS)
def test_every_name_runs_on_a_llama(name: str) -> None:
    with one_thread():
        pair = llama_pair()
        options = {"max_new_tokens": 16, "chat": False}
        plain = run.plain(pair, "the sky", **options)
        trace = run.generate(pair, "the sky", k=4, drafter=name, **options)
        assert trace.token_ids == plain.token_ids
    assert (trace.draft_passes > 0) == ways.WAYS[name].passes


def test_heads_are_combined_where_there_are_any(tmp_path: Path) -> None:
    pair = llama_pair()
    assert ways.named("combined", pair) is ways.WAYS["combined"]
    file = tmp_path / "heads.safetensors"
    pair.heads_file = file
    assert not ways.has_heads(pair)
    file.write_bytes(b"")
    assert ways.named("combined", pair).words == "prompt lookup, else heads"
    assert ways.named("tree", pair).words == "a tree by heads"
    with one_thread():
        options = {"max_new_tokens": 12, "chat": False}
        plain = run.plain(pair, "the sky", **options)
        for name in ("tree", "combined"):
            trace = run.generate(pair, "the sky", k=5, drafter=name, **options)
            assert trace.token_ids == plain.token_ids
    assert trace.source.memory == replace(
        pair.memory,
        drafter_weights=pair.heads.parameters_bytes,
        drafter_token=pair.heads.cache_bytes_per_token,
    )


def test_what_a_way_adds_to_memory() -> None:
    pair = SimpleNamespace(memory=Memory(100, 50, 10, 5), draft=None)
    for name, weighs in {
        "model": 50,
        "tree": 50,
        "lookup": 0,
        "early-exit": 0,
        "random": 0,
    }.items():
        settings = run.Settings(4, name, run.Sampling(), 9, 0)
        assert run.memory_of(pair, settings).drafter_weights == weighs


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"drafter": "tree", "rule": "block"}, "a tree of guesses is judged by 'pq' alone"),
        ({"drafter": "tree", "confidence": 0.5}, "'tree' does not take it"),
        ({"drafter": "random", "confidence": 0.5}, "'random' does not take it"),
        ({"drafter": "early-exit"}, "Scorer cannot be left early"),
        ({"drafter": "oracle"}, "'oracle'; there are model, lookup, heads, tree, early-exit"),
    ],
    ids=str,
)
def test_what_a_way_cannot_do_is_a_sentence_before_any_forward(options: dict, named: str) -> None:
    pair = random_pair()
    with pytest.raises(ValueError, match=named):
        run.generate(pair, "the sky", **options)
    assert all(scorer.fed == [] for scorer in pair.scorers)


def test_an_adaptive_k_knows_which_drafts_are_free() -> None:
    for name, c in {"lookup": 0.0, "random": 0.0, "model": 0.13, "tree": 0.13}.items():
        trace = run.generate(random_pair(), "the sky", k="ema", drafter=name, max_new_tokens=4)
        assert trace.settings.adaptive == f"ema c={c} v=0.03"


def test_a_tree_of_ones_own() -> None:
    pair = random_pair()
    small = drafting(pair.target, error=0.2)
    own = Tree(ways.ModelDrafter(small.scorer()), 3, "spine")
    trace = run.generate(pair, "the sky", drafter=own, k=6, max_new_tokens=12, temperature=1.0)
    assert trace.settings.drafter == trace.source.drafter == "Tree"
    assert any(r.rejected > 1 for r in trace.rounds)
