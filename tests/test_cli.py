"""The command line on NumPy models: text to stdout, a summary beside it, errors in a sentence."""

from __future__ import annotations

import io
import json
from itertools import pairwise

import pytest

import specdec
from specdec.__main__ import main
from specdec.drafters import PromptLookup
from specdec.law import Sampling
from specdec.models.fetch import target_folder
from specdec.telling import telling
from specdec.trace import Trace
from tests.pairs_np import ByteTokenizer, Pair, Scorer, drafting, random_model


@pytest.fixture(autouse=True)
def pair(monkeypatch):
    target = random_model(len(ByteTokenizer()), name="large")
    pair = Pair(target, drafting(target, error=0.5))

    def load(name, dtype=None, progress=None):
        progress(1.0, "Loading the two models: 0.30 GB of memory; 9.00 GB are free")
        return pair

    monkeypatch.setattr(specdec, "load_pair", load)
    return pair


def test_generate_streams_the_text_and_writes_the_trace(pair, tmp_path, capsys):
    file = tmp_path / "run.json"
    assert main(["generate", "the kiln", "--raw", "-n", "9", "--k", "3", "--json", str(file)]) == 0
    out, err = capsys.readouterr()
    trace = Trace.from_json(file.read_text(encoding="utf-8"))
    assert len(trace.token_ids) == 9 and "9 tokens in" in err
    assert err.startswith("100%  Loading the two models: 0.30 GB of memory"), "said before the text"
    plain = specdec.plain(pair, "the kiln", chat=False, max_new_tokens=9)
    assert trace.token_ids == plain.token_ids
    assert out.rstrip("\n") == "".join(token.text for token in plain.written).rstrip("\n")


def test_several_prompts_are_decoded_together_each_as_it_is_alone(pair, tmp_path, capsys):
    prompts = ["the kiln", "a sky"]
    assert main(["generate", *prompts, "--raw", "-n", "7", "--k", "2"]) == 0
    out, err = capsys.readouterr()
    for prompt in prompts:
        alone = specdec.generate(pair, prompt, chat=False, max_new_tokens=7, k=2)
        assert f"# {prompt}\n{alone.text}\n" in out
    assert err.count("7 tokens in") == 2
    assert main(["generate", *prompts, "--json", str(tmp_path / "x.json")]) == 1
    assert "one prompt" in capsys.readouterr().err


def test_a_run_that_fails_keeps_what_it_wrote(pair, tmp_path, capsys, monkeypatch):
    file, score = tmp_path / "run.json", Scorer.score
    whole = specdec.generate(pair, "the kiln", chat=False, max_new_tokens=20, k=2)

    def failing(scorer, tokens, parents=None):
        if len(scorer.fed) == 4 and scorer.model is pair.target:
            raise RuntimeError("The server is gone.")
        return score(scorer, tokens, parents)

    monkeypatch.setattr(Scorer, "score", failing)
    asked = ["--raw", "-n", "20", "--k", "2", "--json", str(file)]
    assert main(["generate", "the kiln", *asked]) == 1
    out, err = capsys.readouterr()
    trace = Trace.from_json(file.read_text(encoding="utf-8"))
    assert trace.token_ids == tuple(t.id for r in whole.rounds[:3] for t in r.written)
    assert trace.text.strip().startswith(out.strip()) and trace.stop_reason == "cancelled"
    assert err.endswith("generate: The server is gone.\n") and "in 3 target passes" in err


def test_k_0_is_plain_and_has_no_alpha(capsys):
    assert main(["generate", "the kiln", "--raw", "-n", "4", "--k", "0"]) == 0
    assert "α n/a" in capsys.readouterr().err


def test_every_setting_of_the_law_and_of_k_has_its_option(tmp_path, capsys):
    file = tmp_path / "run.json"
    given = {
        "temperature": 0.9,
        "top-k": 40,
        "min-p": 0.02,
        "repetition-penalty": 1.2,
        "presence-penalty": 0.3,
        "frequency-penalty": 0.1,
        "k": "ema c=0.2",
        "confidence": 0.1,
    }
    options = [f"--{name}={value}" for name, value in given.items()]
    options += ["--logit-bias", "5=-2.5", "--logit-bias", "7=1"]
    assert main(["generate", "the kiln", "--raw", "-n", "9", "--json", str(file), *options]) == 0
    settings = Trace.from_json(file.read_text(encoding="utf-8")).settings
    assert settings.sampling == Sampling(
        0.9,
        40,
        min_p=0.02,
        repetition_penalty=1.2,
        presence_penalty=0.3,
        frequency_penalty=0.1,
        logit_bias={5: -2.5, 7: 1},
    )
    assert (settings.k, settings.adaptive) == (16, "ema c=0.2 v=0.03")
    assert settings.confidence == 0.1
    assert ", k 2–" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "lookup"),
    [
        (["--ngram", "5"], PromptLookup(5)),
        (["--recent"], PromptLookup(recent=True)),
        (["--ngram", "1", "--recent"], PromptLookup(1, recent=True)),
    ],
)
def test_a_lookup_copies_as_its_options_say(pair, options, lookup, tmp_path):
    file = tmp_path / "run.json"
    command = ["generate", "the the sky the", "--raw", "-n", "12", "--drafter", "lookup"]
    assert main([*command, "--json", str(file), *options]) == 0
    wanted = specdec.generate(
        pair, "the the sky the", drafter=lookup, chat=False, max_new_tokens=12
    )
    trace = Trace.from_json(file.read_text(encoding="utf-8"))
    assert [[t.id for t in r.drafted] for r in trace.rounds] == [
        [t.id for t in r.drafted] for r in wanted.rounds
    ]


def test_options_of_a_lookup_are_refused_for_another_drafter(capsys):
    assert main(["generate", "x", "--recent"]) == 1
    assert "the drafter is 'model'" in capsys.readouterr().err
    assert main(["generate", "x", "--drafter", "lookup", "--ngram", "0"]) == 1
    assert "max_ngram is 0" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--k", "-1"], "k is -1"),
        (["--k", "fast"], "There is no policy 'fast' for k"),
        (["--confidence", "2"], "confidence is 2.0"),
        (["--repetition-penalty", "0"], "repetition_penalty is 0.0"),
        (["--logit-bias", "999999=1"], "logit_bias has the id 999999"),
        (["--drafter", "oracle"], "There is no drafter 'oracle'"),
        (["--temperature", "-2"], "temperature is -2.0"),
        (["-n", "0"], "max_new_tokens is 0"),
        (["--stop", ""], "stop strings"),
    ],
)
def test_wrong_options_are_a_sentence(options, words, capsys):
    assert main(["generate", "the kiln", "--raw", *options]) == 1
    err = capsys.readouterr().err
    assert words in err and "Traceback" not in err


def test_a_bias_that_is_none_is_said_so(capsys):
    with pytest.raises(SystemExit):
        main(["generate", "the kiln", "--logit-bias", "5:3"])
    assert "--logit-bias: '5:3' is not like 5=-2.5" in capsys.readouterr().err


def test_trace_records_a_preset_in_every_way(tmp_path, capsys):
    assert main(["trace", "--preset", "copy", "--out", str(tmp_path), "-n", "6"]) == 0
    names = {file.name for file in tmp_path.iterdir()}
    assert {"copy.model.json", "copy.sampled.plain.json", "copy.lookup.check.json"} <= names
    assert json.loads((tmp_path / "copy.model.check.json").read_text())["natural"]["first"] is None
    assert main(["trace", "--preset", "nothing", "--out", str(tmp_path)]) == 1
    assert "There is no preset 'nothing'" in capsys.readouterr().err


class Terminal(io.StringIO):
    def isatty(self):
        return True


def told(out):
    """What is written of a task in three phases that looks at its child ten times a percent."""
    with telling(out) as progress:
        for i in range(751):
            progress(i / 1000, f"Downloading: {i // 10} of 75 MB")
        for _ in range(100):
            progress(0.75, "Checking")
        for i in range(250):
            progress(0.75 + i / 1000, f"Expanding: {i * 100 // 250}%")
    return out.getvalue()


def test_off_a_terminal_progress_is_a_line_per_phase_or_ten_percent():
    lines = told(io.StringIO()).splitlines()
    assert lines[:2] == ["  0%  Downloading: 0 of 75 MB", " 10%  Downloading: 10 of 75 MB"]
    assert lines[8:] == [
        " 75%  Checking",
        " 75%  Expanding: 0%",
        " 80%  Expanding: 20%",
        " 90%  Expanding: 60%",
    ]


def test_on_a_terminal_progress_is_one_line_written_when_it_changes():
    text = told(Terminal())
    shown = text.removesuffix("\n").split("\r")[1:]
    assert "\n" not in text[:-1] and text.endswith("\n"), "an error after it begins a line"
    assert all(a != b for a, b in pairwise(shown)) and len(set(map(len, shown))) == 1
    assert shown[-1].rstrip() == "100%  Expanding: 99%"


def test_fetch_says_where_the_target_is(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("SPECDEC_HOME", str(tmp_path))
    target_folder().mkdir()
    for name in ("config.json", "model.safetensors", "tokenizer.json"):
        (target_folder() / name).touch()
    assert main(["fetch"]) == 0
    said = f"100%  The target is there.\nThe default target is ready in {target_folder()}\n"
    assert capsys.readouterr().err == said
