"""Text by the target: it is what the engine writes, and nothing is left half-written."""

from __future__ import annotations

import math
import signal
import time

import numpy as np
import pytest
import torch
from transformers import LlamaConfig, Qwen3Config

from specdec import decode
from specdec.distill import ends, files, prompts, texts, topics
from specdec.distill.batched import common_prefix, hidden_rows
from specdec.distill.generate import drawn, write_batch
from specdec.distill.vocabulary import most_frequent
from specdec.law import Sampling
from specdec.models.llama import Llama
from specdec.presets import presets
from tests.distilling import ENDS, text, tiny_folder, tiny_model, write_texts
from tests.tiny import SIZES, build, one_thread

pytestmark = pytest.mark.long

PROMPTS = [[5, 6, 7], [5, 6, 9, 11, 3], [5, 6], [5, 6, 7, 8, 20, 31, 40]]


@pytest.fixture(autouse=True)
def _one_thread():
    with one_thread():
        yield


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tiny_folder(tmp_path_factory.mktemp("target"))


CONFIGS = {
    "llama with biases": lambda: LlamaConfig(**SIZES | ENDS, attention_bias=True, mlp_bias=True),
    "scaled": lambda: LlamaConfig(
        **SIZES | ENDS,
        rope_parameters={
            "rope_type": "yarn",
            "rope_theta": 1e4,
            "factor": 4.0,
            "original_max_position_embeddings": 16,
        },
    ),
    "qwen3": lambda: Qwen3Config(**SIZES | ENDS, head_dim=16),
}


@pytest.mark.parametrize("kind", CONFIGS)
@pytest.mark.parametrize("taps", [(), (1, 2)], ids=str)
def test_rows_of_many_sequences_are_those_of_each_alone(kind, taps) -> None:
    """Padding is not seen, and what they begin with is computed once and right."""
    config = CONFIGS[kind]()
    model = Llama(config, build(config).state_dict(), dtype="fp32", device="cpu")
    together = hidden_rows(model, PROMPTS, taps)
    model.taps = taps
    for ids, rows in zip(PROMPTS, together, strict=True):
        scorer = model.scorer()
        scorer.score(ids)
        assert np.allclose(rows.numpy(), scorer.features, atol=1e-4)


def test_a_common_prefix_leaves_every_sequence_a_token() -> None:
    assert common_prefix(PROMPTS) == [5]
    assert common_prefix([[5, 6], [5, 6]]) == [5]
    assert common_prefix([[1], [2]]) == []


def laws_of(model, prompt: list[int], written: np.ndarray, sampling: Sampling) -> list[np.ndarray]:
    scorer = model.scorer()
    logits = scorer.score([*prompt, *written.tolist()])
    return [sampling.law(row) for row in logits[len(prompt) - 1 : -1]]


def test_greedy_texts_are_the_engines(folder) -> None:
    """Also where texts end early and the batch shrinks."""
    model, stop_ids = tiny_model(folder), tuple(range(0, 97, 7))
    uniforms = np.random.default_rng(0).random((20, 4))
    made = write_batch(model, PROMPTS, np.zeros(4), uniforms, stop_ids)
    assert len({len(x.written) for x in made}) > 1 and min(len(x.written) for x in made) < 20
    for prompt, x in zip(PROMPTS, made, strict=True):
        rounds = decode.speculate(
            model.scorer(),
            None,
            prompt,
            k=0,
            sampling=Sampling(),
            max_new_tokens=20,
            stop_ids=stop_ids,
        )
        assert x.written.tolist() == [r.written[0].id for r in rounds]
        assert x.prompt.tolist() == prompt and x.temperature == 0


def test_sampled_texts_follow_the_law_and_keep_its_head(folder) -> None:
    """Every token is the one that its uniform draws, the likeliest first."""
    model, temperatures = tiny_model(folder), np.array([0.6, 1.0, 1.0, 2.0])
    uniforms = np.random.default_rng(1).random((10, 4))
    made = write_batch(model, PROMPTS, temperatures, uniforms, (), top_k=20)
    for i, x in enumerate(made):
        laws = laws_of(model, PROMPTS[i], x.written, Sampling(temperatures[i], top_k=20))
        full = laws_of(model, PROMPTS[i], x.written, Sampling(1.0))
        for step, (law, whole) in enumerate(zip(laws, full, strict=True)):
            order = np.argsort(-law, kind="stable")
            at = int(np.searchsorted(law[order].cumsum(), uniforms[step, i], side="right"))
            assert x.written[step] == order[at]
            head = np.argsort(-whole, kind="stable")[:8]
            assert x.top[step].tolist() == head.tolist()
            assert np.allclose(x.p[step], whole[head], atol=1e-3)


def test_a_tie_goes_to_the_lowest_id() -> None:
    logits = torch.tensor([[0.0, 3.0, 1.0, 3.0, 3.0]])
    assert drawn(logits, torch.zeros(1).double(), torch.tensor([0.99]).double()).item() == 1


def test_the_measure_of_every_id_is_its_probability() -> None:
    logits = torch.tensor([[0.0, 1.0, 2.0, -1.0]])
    law = Sampling(0.7, top_k=3).law(logits[0].numpy())
    n = 4000
    u = (torch.arange(n) + 0.5).double() / n
    ids = drawn(logits.expand(n, -1), torch.full((n,), 0.7).double(), u, 3)
    assert np.abs(np.bincount(ids.numpy(), minlength=4) / n - law).max() <= 1 / n


def equal(a: list[texts.Text], b: list[texts.Text]) -> bool:
    names = ("prompt", "written", "top", "p", "temperature")
    return len(a) == len(b) and all(
        np.array_equal(getattr(x, n), getattr(y, n)) for x, y in zip(a, b) for n in names
    )


def test_a_stopped_writer_goes_on_where_it_was(folder, tmp_path) -> None:
    whole = write_texts(folder, tmp_path / "whole")

    def stop(fraction: float, words: str) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_texts(folder, tmp_path / "broken", progress=stop)
    assert len(list((tmp_path / "broken").iterdir())) == 1
    kept = {f.name: f.stat().st_mtime_ns for f in (tmp_path / "broken").iterdir()}
    assert equal(write_texts(folder, tmp_path / "broken"), whole)
    assert all((tmp_path / "broken" / n).stat().st_mtime_ns == t for n, t in kept.items())
    assert texts.written_tokens(whole) >= 200


def test_another_seed_writes_other_texts(folder, tmp_path) -> None:
    write_texts(folder, tmp_path, tokens=60)
    both = write_texts(folder, tmp_path, tokens=60, seed=1)
    halves = [[x for x in both if x.file.startswith(f"s{seed}_")] for seed in (0, 1)]
    assert all(halves) and not equal(*halves)


def test_a_writer_ends_with_its_time(folder, tmp_path) -> None:
    with pytest.raises(ValueError, match="There are no texts"):
        write_texts(folder, tmp_path, end=time.time() - 1)


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ({"batch": 0}, "batch is 0"),
        ({"temperatures": ()}, "temperatures is nan"),
        ({"temperatures": (-1.0,)}, "temperatures is -1.0"),
        ({"new": 0}, "n is 0"),
        ({"longest": 2}, "No prompt of a batch has at most 2 tokens"),
    ],
)
def test_wrong_settings_are_a_sentence(how, words, folder, tmp_path) -> None:
    with pytest.raises(ValueError, match=words):
        write_texts(folder, tmp_path, **how)


def test_an_error_leaves_no_file(tmp_path) -> None:
    with pytest.raises(RuntimeError), files.whole(tmp_path / "a" / "x.npz") as making:
        making.write_text("half")
        raise RuntimeError
    assert not list((tmp_path / "a").iterdir())


def test_the_format_is_the_published_one(tmp_path) -> None:
    """Files made without our writer, by the description of their fields."""
    np.savez_compressed(
        tmp_path / "second_00.npz",
        pl=np.array([2, 1], np.uint16),
        ol=np.array([1, 3], np.uint16),
        p=np.array([7, 8, 9], np.uint16),
        o=np.array([2, 4, 5, 2], np.uint16),
        k=np.arange(32, dtype=np.uint16).reshape(4, 8),
        q=np.full((4, 8), 0.125, np.float16),
        t=np.array([0.0, 0.6], np.float32),
    )
    (tmp_path / "s0_00000.npz.making").write_text("left by a killed writer")
    one, two = texts.read([tmp_path])
    assert (one.prompt.tolist(), one.written.tolist(), two.prompt.tolist()) == ([7, 8], [2], [9])
    assert two.ids.tolist() == [9, 4, 5, 2] and two.top[2].tolist() == list(range(24, 32))
    assert (one.temperature, two.file, two.row) == (0.0, "second_00", 1)
    texts.save(tmp_path / "again" / "x.npz", [one, two], 97)
    assert equal(texts.read([tmp_path / "again"]), [one, two])
    assert texts.count(tmp_path / "again" / "x.npz") == 4


def test_many_long_texts_are_counted_beyond_what_their_lengths_hold(tmp_path) -> None:
    long = text([1], [3] * 40_000)
    texts.save(tmp_path / "x.npz", [long, long], 97)
    assert texts.count(tmp_path / "x.npz") == 80_000
    assert len(texts.read([tmp_path])[1].written) == 40_000


def test_a_large_vocabulary_keeps_its_ids(tmp_path) -> None:
    texts.save(tmp_path / "x.npz", [text([100_000], [5])], 150_000)
    assert texts.read([tmp_path])[0].prompt.tolist() == [100_000]


def test_damaged_and_doubled_files_are_a_sentence(tmp_path) -> None:
    (tmp_path / "x.npz").write_bytes(b"PK no zip")
    with pytest.raises(ValueError, match="is no file of texts, or is damaged"):
        texts.read([tmp_path])
    for name in "ab":
        texts.save(tmp_path / name / "x.npz", [text([1], [5])], 97)
    with pytest.raises(ValueError, match="the same name"):
        texts.read([tmp_path / "a", tmp_path / "b"])


def test_no_preset_can_be_trained_on() -> None:
    held = topics.held()
    assert all(held.is_preset(p.prompt) for p in presets())
    templates = [x for name in ("chat", "code", "raw", "maths") for x in topics.lists()[name]]
    assert not any(held.is_preset(x) or held.is_evaluation(x) for x in templates)


def test_every_prompt_of_the_evaluation_is_held_out(tmp_path) -> None:
    held = topics.held()
    asked = topics.questions(held)
    assert all(held.is_preset(q.prompt) or held.is_evaluation(q.prompt) for q in asked)
    assert {q.kind for q in asked} >= {"chat", "story", "code", "maths", "plain text"}
    (tmp_path / "topics").write_text("Ferns\n\nmoss\n")
    own = topics.held(tmp_path / "topics")
    assert all(
        own.is_preset(q.prompt) or own.is_evaluation(q.prompt) for q in topics.questions(own)
    )
    assert topics.questions(own, ["On moss"])[-1] == topics.Question("own", "On moss")
    with pytest.raises(ValueError, match="'On fire' has no held-out topic"):
        topics.questions(own, ["On fire"])


def test_texts_are_parted_by_the_topics_of_their_prompts() -> None:
    held = topics.Held(("cello",), ("volcano",))
    some = [text([1], [i, i]) for i in range(5)]
    asked = ["on Volcanoes", "a cello on a volcano", "rain", "a CELLO", "wind"]
    parts = topics.split(some, asked, held)
    assert [x.written[0] for x in parts.train] == [2, 4]
    assert [x.written[0] for x in parts.held] == [0] and parts.left_out == 2
    with pytest.raises(ValueError, match="'cello' is in 60% of the prompts"):
        topics.split(some, [*asked[:4], "cello"], held)


def test_without_the_topics_whole_prompts_are_held_out() -> None:
    some = [text([1], [3, 3]) for _ in range(400)]
    asked = [f"prompt {i // 2}" for i in range(400)]
    parts = topics.split(some, asked, topics.Held(("cello",), ("volcano",)))
    which = {asked[some.index(x)] for x in parts.held}
    assert 0 < len(parts.held) < 40 and len(parts.held) == 2 * len(which)
    assert "one prompt in 50" in parts.how


def test_prompts_are_addressed_and_every_line_comes_once_a_turn(tmp_path) -> None:
    (tmp_path / "p.txt").write_text("one\n\ntwo\\nlines\nthe cello\nthree\n")
    source = prompts.of_file(tmp_path / "p.txt", 3, topics.held())
    taken = [line for i in range(2) for line in source.batch(i, 3)[0]]
    assert sorted(taken[:3]) == sorted(taken[3:]) == ["one", "three", "two\nlines"]
    own = prompts.Prompts(0, topics.held())
    assert own.batch(7, 5) == own.batch(7, 5) != own.batch(8, 5)
    kinds = [own.batch(i, 20) for i in range(40)]
    assert {chat for _, chat in kinds} == {True, False}
    assert not any(topics.held().is_preset(p) for some, _ in kinds for p in some)
    assert any(topics.held().is_evaluation(p) for some, _ in kinds for p in some)
    (tmp_path / "p.txt").write_text("the cello\n")
    with pytest.raises(ValueError, match="has no prompt"):
        prompts.of_file(tmp_path / "p.txt", 3, topics.held())


def test_the_draft_vocabulary_is_what_the_laws_need_most() -> None:
    one = text([1], [9, 9], top=np.array([[9, 4], [9, 3]]), p=np.array([[0.5, 0.5], [0.75, 0.25]]))
    found = most_frequent([one], 2, 97)
    assert found.ids.tolist() == [4, 9] and found.coverage([one]) == 0.875
    assert found.columns[[3, 4, 9]].tolist() == [-1, 0, 1]
    assert most_frequent([one], 4, 97).ids.tolist() == [0, 3, 4, 9]
    assert len(most_frequent([one], 8192, 97).ids) == 97


def test_an_end_is_the_sooner_one() -> None:
    now = time.mktime((2025, 3, 1, 17, 30, 0, 0, 0, -1))
    assert ends.end("17:55", None, now) == now + 25 * 60
    assert ends.end("17:30", None, now) == time.mktime((2025, 3, 2, 17, 30, 0, 0, 0, -1))
    assert ends.end("17:55", 10, now) == now + 600
    assert ends.end(None, None, now) == math.inf
    for until, minutes, words in ((None, -1.0, "minutes is -1"), ("25:00", None, "'25:00'")):
        with pytest.raises(ValueError, match=words):
            ends.end(until, minutes, now)


def test_a_first_signal_asks_and_a_second_interrupts() -> None:
    before = signal.getsignal(signal.SIGTERM)
    with ends.asked_to_stop() as asked:
        assert not asked()
        signal.raise_signal(signal.SIGTERM)
        assert asked()
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
    assert signal.getsignal(signal.SIGTERM) is before
