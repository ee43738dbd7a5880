"""The command line on NumPy models: text to stdout, a summary beside it, errors in a sentence."""

from __future__ import annotations

import json

import pytest

import specdec
from specdec.__main__ import main
from specdec.trace import Trace
from tests.pairs_np import ByteTokenizer, Pair, drafting, random_model


@pytest.fixture(autouse=True)
def pair(monkeypatch):
    target = random_model(len(ByteTokenizer()), name="large")
    pair = Pair(target, drafting(target, error=0.5))
    monkeypatch.setattr(specdec, "load_pair", lambda name, dtype=None: pair)
    return pair


def test_generate_streams_the_text_and_writes_the_trace(pair, tmp_path, capsys):
    file = tmp_path / "run.json"
    assert main(["generate", "the kiln", "--raw", "-n", "9", "--k", "3", "--json", str(file)]) == 0
    out, err = capsys.readouterr()
    trace = Trace.from_json(file.read_text(encoding="utf-8"))
    assert len(trace.token_ids) == 9 and "9 tokens in" in err
    plain = specdec.plain(pair, "the kiln", chat=False, max_new_tokens=9)
    assert trace.token_ids == plain.token_ids
    assert out.rstrip("\n") == "".join(token.text for token in plain.written).rstrip("\n")


def test_k_0_is_plain_and_has_no_alpha(capsys):
    assert main(["generate", "the kiln", "--raw", "-n", "4", "--k", "0"]) == 0
    assert "α n/a" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--k", "-1"], "k is -1"),
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


def test_trace_records_a_preset_in_every_way(tmp_path, capsys):
    assert main(["trace", "--preset", "copy", "--out", str(tmp_path), "-n", "6"]) == 0
    names = {file.name for file in tmp_path.iterdir()}
    assert {"copy.model.json", "copy.sampled.plain.json", "copy.lookup.check.json"} <= names
    assert json.loads((tmp_path / "copy.model.check.json").read_text())["natural"]["first"] is None
    assert main(["trace", "--preset", "nothing", "--out", str(tmp_path)]) == 1
    assert "There is no preset 'nothing'" in capsys.readouterr().err
