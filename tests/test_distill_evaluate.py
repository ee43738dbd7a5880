"""What an evaluation says of a drafter is what the engine did; an exported one drafts elsewhere."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path

import numpy as np
import pytest
import torch

import specdec
from specdec.__main__ import main
from specdec.decode import speculate
from specdec.distill import evaluate, judge, results, topics, weights
from specdec.distill.begin import run as begin_run
from specdec.distill.export import export
from specdec.distill.nets import first_small
from specdec.distill.schedule import Schedule
from specdec.distill.settings import Settings
from specdec.distill.start import Drafter
from specdec.distill.tables import number
from specdec.drafters import Heads
from specdec.models import checkpoint, sources
from specdec.models.pairs import needed
from specdec.models.plan import numbers_in
from specdec.models.vocabulary import read_tokenizer
from tests.distilling import HELD, LINES, tiny_config, tiny_folder, write_texts
from tests.heads import tiny_heads, tiny_target
from tests.tiny import V, one_thread

pytestmark = pytest.mark.long

ASKED = [topics.Question("own", "w37 w60 w61"), topics.Question("other", "w48 w50", chat=False)]


@pytest.fixture(autouse=True)
def _one_thread():
    with one_thread():
        yield


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    return tiny_folder(tmp_path_factory.mktemp("target"))


@pytest.fixture(scope="module")
def heads(folder, tmp_path_factory) -> Path:
    """Heads after a few steps, with their log."""
    root = tmp_path_factory.mktemp("run")
    with one_thread():
        write_texts(folder, root / "text", tokens=200)
        schedule, settings = Schedule(steps=2), Settings(batch=4, depths=3)
        drafter = Drafter("heads", 40, taps=(1,))
        how = (drafter, settings, schedule, HELD)
        return begin_run(folder, [root / "text"], root / "run", *how)


def small(folder: Path, file: Path, layers: tuple[int, ...], ids: torch.Tensor) -> Path:
    """A small model that was never trained."""
    config, state = checkpoint.read(folder)
    weights.save(file, first_small(config, state, ids, layers), ids)
    return file


def test_a_drafter_that_is_the_target_is_always_right(folder, tmp_path) -> None:
    """All its layers, all ids: every draft is accepted and Σ min(p, q) is 1 at every depth."""
    file = small(folder, tmp_path / "small.safetensors", (0, 1, 2), torch.arange(V))
    card = evaluate.evaluate(folder, file, ASKED, k=3, n=12, dtype="fp32", device="cpu")
    about = {**json.loads((tmp_path / "small.evaluation.jsonl").read_text().splitlines()[0])}
    found = results.Results(tmp_path / "small.evaluation.jsonl", about).found
    assert [r.kind for r in found] == ["own", "other"]
    for r in found:
        assert results.conditional(r.greedy.counts) == [1.0] * 3 and r.greedy.equal
        assert np.allclose(results.overlaps(r.sampled), 1.0, atol=1e-5)
        assert r.greedy.counts.passes == math.ceil(r.greedy.counts.tokens / 4)
    text = card.read_text()
    assert "# A small model for" in text and "in 2 of 2 runs" in text
    assert "Nothing is known of it" in text
    counts = results.total([r.greedy.counts for r in found])
    per_pass = number(counts.tokens / counts.passes)
    assert f"| **all** | 2 | {per_pass} | 1.000 | 1.000 | 1.000 | 1.000 |" in text


def test_overlaps_are_those_of_the_laws(folder, heads) -> None:
    """On 9 ids a trace holds the laws whole: the same run, recorded, gives the same sums."""
    target = tiny_target(9)
    model = tiny_heads(target, [0, 1, 3, 5, 8])

    class Pair:
        tokenizer, stop_ids = None, ()

    Pair.target, Pair.heads = target, model
    counts = judge.sampled(Pair, "heads", topics.Question("a", [1, 2, 3]), 3, 30, seed=4)
    scorer = target.scorer()
    how = {"k": 3, "sampling": judge.SAMPLED, "max_new_tokens": 30, "rng": 4}
    rounds = list(speculate(scorer, Heads(scorer, model), [1, 2, 3], **how))
    sums, n, kept = np.zeros(3), np.zeros(3, int), np.zeros(3, int)
    for r in rounds:
        for depth, token in enumerate(r.drafted):
            if token.verdict != "discarded":
                p, q = ({i: x for i, _, x in top.entries} for top in (token.p_top, token.q_top))
                sums[depth] += sum(min(p[i], q.get(i, 0.0)) for i in p)
                n[depth] += 1
                kept[depth] += token.verdict == "accepted"
    assert np.allclose(counts.overlap, sums) and 0 < sums[1] < n[1]
    assert counts.judged == tuple(n) and counts.accepted == tuple(kept)
    assert counts.drafted[0] >= counts.judged[0] and counts.passes == len(rounds)


def test_depths_are_counted_from_verdicts() -> None:
    one = judge.Counts((4, 4), (4, 2), (2, 1), (1.0, 0.5), 7, 4)
    both = results.total([one, one])
    assert both == judge.Counts((8, 8), (8, 4), (4, 2), (2.0, 1.0), 14, 8)
    assert results.conditional(both) == [0.5, 0.5]
    assert results.cumulative(both) == [0.5, 0.25]
    assert results.overlaps(both) == [0.25, 0.25] and results.alpha(both) == 0.5
    none = judge.Counts((0,), (0,), (0,), (0.0,), 3, 3)
    assert results.conditional(none) == [None] and results.alpha(none) is None


def test_the_card_of_heads_tells_what_was_computed(folder, heads, tmp_path) -> None:
    card = evaluate.evaluate(folder, heads, ASKED, k=3, n=8, dtype="fp32", device="cpu")
    text, run = card.read_text(), json.loads(heads.with_name("run.json").read_text())
    assert card == heads.with_suffix(".md") and "its layers 1 read" in text
    assert f"{run['texts']} texts, {run['tokens']} tokens" in text and "Steps: 2;" in text
    assert "prompts about w37, w48" in text and f"hold {run['coverage']:.1%}" in text
    pair = specdec.load_pair(f"{folder}+{heads}", dtype="fp32", device="cpu")
    ratio = pair.heads.parameters_bytes / pair.target.parameters_bytes
    assert f"reads {ratio:.3f} of the bytes" in text
    log = [json.loads(x) for x in heads.with_name("log.jsonl").read_text().splitlines()]
    for line in (x for x in log if "held" in x):
        rates = [*line["held"]["greedy"], *line["held"]["overlap"]]
        cells = [str(line["text"]), str(line["step"]), *map(number, rates)]
        assert f"| {' | '.join(cells)} |" in text


def test_a_stopped_evaluation_goes_on(folder, heads) -> None:
    seen = []

    def stop(fraction: float, words: str) -> None:
        seen.append(words)
        if words == "Decoding: prompt 2 of 2":
            raise KeyboardInterrupt

    how = {"k": 2, "n": 6, "dtype": "fp32", "device": "cpu"}
    with pytest.raises(KeyboardInterrupt):
        evaluate.evaluate(folder, heads, ASKED, progress=stop, **how)
    file = heads.with_suffix(".evaluation.jsonl")
    before = file.read_text()
    evaluate.evaluate(folder, heads, ASKED, **how)
    assert before.count("\n") == 2 and file.read_text().startswith(before)
    evaluate.evaluate(folder, heads, ASKED, **how | {"n": 5})
    assert not file.read_text().startswith(before), "another length begins anew"


def test_a_drafter_of_another_target_is_refused(folder, heads, tmp_path) -> None:
    other = tiny_folder(tmp_path / "other", tiny_config(rms_norm_eps=1e-4))
    with pytest.raises(
        ValueError, match=f"heads.safetensors was trained for {folder.name}, not for"
    ):
        evaluate.evaluate(other, heads, ASKED)


def test_a_trained_drafter_and_its_target_are_a_pair(folder, heads, tmp_path) -> None:
    file = small(folder, tmp_path / "small.safetensors", (0, 2), torch.arange(0, V, 2))
    how = {"dtype": "fp32", "device": "cpu"}
    pairs = [specdec.load_pair(f"{folder}+{x}", **how) for x in (file, heads)]
    texts = [
        specdec.generate(pair, "w50 w51", k=3, drafter=name, max_new_tokens=12).token_ids
        for pair, name in zip(pairs, ("model", "heads"))
    ]
    assert texts[0] == texts[1] == specdec.plain(pairs[0], "w50 w51", max_new_tokens=12).token_ids
    alone = sources.needed(str(folder), torch.float32, torch.device("cpu"))
    for x in (file, heads):
        assert needed(f"{folder}+{x}", **how) == alone + 4 * numbers_in([x])
    for missing in (f"{folder}+{tmp_path}/no.safetensors", f"{tmp_path}/no+{file}"):
        with pytest.raises(ValueError, match="There is no"):
            specdec.load_pair(missing)


def test_transformers_drafts_with_what_is_exported(folder, tmp_path) -> None:
    """Its assisted text is the target's own, greedy; and the engine reads the checkpoint too."""
    from transformers import AutoModelForCausalLM

    ids = torch.arange(0, V, 3)
    file = small(folder, tmp_path / "small.safetensors", (0, 1), ids)
    out = export(folder, file, tmp_path / "out", LINES[:6])
    assert not list(tmp_path.glob("*.making"))
    read = lambda place: AutoModelForCausalLM.from_pretrained(place, dtype=torch.float32)  # noqa: E731
    target, assistant = read(folder), read(out)
    assert assistant.config.num_hidden_layers == 2 and assistant.config.vocab_size == V
    assert assistant.generation_config.num_assistant_tokens == 4
    for prompt in ([5, 6, 7], [40, 41, 42, 43]):
        inputs = {"input_ids": torch.tensor([prompt]), "attention_mask": torch.ones(1, len(prompt))}
        how = inputs | {"max_new_tokens": 20, "do_sample": False}
        plain = target.generate(**how)
        assert torch.equal(target.generate(**how, assistant_model=assistant), plain)
        pair = specdec.load_pair(f"{folder}+{out}", dtype="fp32", device="cpu")
        own = specdec.generate(pair, prompt, k=4, max_new_tokens=20)
        assert list(own.token_ids) == plain[0, len(prompt) :].tolist()
    logits = assistant(torch.tensor([[5, 6, 7, 30, 31, 32]])).logits[0, 1:]
    small_logits = specdec.load_pair(f"{folder}+{file}", dtype="fp32", device="cpu").draft.scorer()
    known = small_logits.score([5, 6, 7, 30, 31, 32])[1:]
    assert np.allclose(logits[:, ids].detach(), known, atol=1e-4)
    text = (out / "README.md").read_text()
    assert f"{V} rows instead of\n  {len(ids)}" in text and f"{V - len(ids)} ids that it" in text
    assert re.search(r"got \d\.\de[+-]\d\d of the\n  mass", text)
    assert len(read_tokenizer(out)) == V
    with pytest.raises(ValueError, match="is there already"):
        export(folder, file, out, LINES[:6])


def test_missing_ids_stay_far_below_where_rows_are_alike(folder, tmp_path) -> None:
    """The rows are found at positions of these prompts: where most rows lie, no missing id gets
    any mass, and the card says how much they got where it was most."""
    from specdec.distill.export import missing_row
    from specdec.models.llama import Llama
    from specdec.models.pairs import small_model

    file = small(folder, tmp_path / "small.safetensors", (0,), torch.arange(0, V, 3))
    model = small_model(Llama.load(folder, dtype="fp32", device="cpu"), file)
    sequences = [[1, 9, 9, 9, 9, 9], [1, 9, 9, 9]]
    row = missing_row(model, sequences)
    assert row.missing == V - 33 and row.positions == 8 and row.mass < 1e-10
    assert (
        missing_row(
            small_model(
                model_all := Llama.load(folder, dtype="fp32"),
                small(folder, tmp_path / "all.safetensors", (0,), torch.arange(V)),
            ),
            sequences,
        ).mass
        == 0
        and model_all.vocab_size == V
    )


def test_heads_cannot_be_exported(folder, heads, tmp_path) -> None:
    with pytest.raises(ValueError, match="holds heads"):
        export(folder, heads, tmp_path / "out", LINES[:2])


def test_the_command_line_goes_all_the_way(folder, tmp_path, capsys, monkeypatch) -> None:
    """Texts, a small model, its card and its checkpoint, each step by its own words."""
    place, run = str(folder), tmp_path / "run"
    (tmp_path / "prompts.txt").write_text("\n".join(LINES))
    (tmp_path / "topics.txt").write_text("w37\nw48\n")
    held = ["--held-out", str(tmp_path / "topics.txt")]
    said = ["--prompts", str(tmp_path / "prompts.txt")]
    step = lambda *words: main(["distill", *map(str, words)])  # noqa: E731
    text = tmp_path / "text"
    assert not step(
        "write", place, "--out", text, "-n", 10, "--batch", 6, "--tokens", 100, *said, *held
    )
    assert "tokens of seed 0 are in" in capsys.readouterr().out
    how = ["--text", text, "--vocabulary", 40, "--layers", "0,2", "--steps", 2, *held]
    assert not step("train", place, "--kind", "small", "--out", run, *how)
    out, err = capsys.readouterr()
    assert out == f"{run}/small.safetensors\n" and "100%  Training: step 2" in err
    monkeypatch.setattr("specdec.distill.topics.presets", lambda: ())  # too long for this context
    (tmp_path / "own.txt").write_text("w37 w60\n")
    asked = ["--prompts", tmp_path / "own.txt", "--k", 2, "-n", 6, *held]
    assert not step("evaluate", place, run / "small.safetensors", *asked)
    assert capsys.readouterr().out == f"{run}/small.md\n"
    assert not step("export", place, run / "small.safetensors", "--out", tmp_path / "plain")
    assert (tmp_path / "plain" / "model.safetensors").is_file()
    (tmp_path / "own.txt").write_text("w60\n")
    assert step("evaluate", place, run / "small.safetensors", *asked) == 1
    assert "'w60' has no held-out topic" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("write", "nowhere", "--out", "x"), "nowhere has no tokenizer"),
        (("write", "nowhere", "--out", "x", "--prompts", "no.txt"), "There is no file no.txt"),
        (("write", "nowhere", "--out", "x", "--until", "noon"), "until is 'noon'"),
        (
            ("train", "nowhere", "--kind", "heads", "--text", "x", "--out", "x"),
            "no checkpoint folder",
        ),
        (("evaluate", "nowhere", "no.safetensors"), "There is no file no.safetensors"),
        (("export", "nowhere", "no.safetensors", "--out", "x"), "There is no file no.safetensors"),
    ],
)
def test_wrong_words_are_a_sentence(words, said, tmp_path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["distill", *words]) == 1
    err = capsys.readouterr().err
    assert said in err and "Traceback" not in err and not list(tmp_path.iterdir())


def test_numbers_in_a_row_are_read_or_refused(capsys) -> None:
    with pytest.raises(SystemExit):
        main(
            [
                "distill",
                "train",
                "x",
                "--kind",
                "small",
                "--text",
                "a",
                "--out",
                "b",
                "--layers",
                "0;1",
            ]
        )
    assert "'0;1' is not like 0,1,-1" in capsys.readouterr().err
