"""A training that is stopped and taken up gives the weights of one that was not."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from specdec.distill import begin, log, weights
from specdec.distill.schedule import Schedule
from specdec.distill.settings import Settings
from specdec.distill.start import Drafter
from specdec.distill.topics import Held
from tests.distilling import HELD, tiny_config, tiny_folder, write_texts
from tests.tiny import one_thread

pytestmark = pytest.mark.long

SETTINGS = Settings(batch=5, starts=6, depths=3, sampled=8, rate=3e-3)
ASKED = {"heads": Drafter("heads", 40, taps=(1,)), "small": Drafter("small", 40, (0, -1))}


@pytest.fixture(autouse=True)
def _one_thread():
    with one_thread():
        yield


@pytest.fixture(scope="module")
def target(tmp_path_factory) -> tuple[Path, Path]:
    """A target's folder, and one of its texts."""
    root = tmp_path_factory.mktemp("target")
    with one_thread():
        write_texts(tiny_folder(root / "model"), root / "text", tokens=300)
    return root / "model", root / "text"


def trained(target, out: Path, drafter: Drafter, steps: int, **more: Any) -> Path:
    schedule = Schedule(warm=2, steps=steps, decay_steps=more.pop("decay_steps", 0))
    schedule = more.pop("schedule", schedule)
    how = {"settings": SETTINGS, "held": HELD, "store": out.parent / "features"} | more
    return begin.run(target[0], [target[1]], out, drafter, schedule=schedule, **how)


def after(steps: int):
    """A reader who asks to stop when so many steps are done."""
    asked = iter([False] * steps + [True])
    return lambda: next(asked)


def equal(a: Path, b: Path) -> bool:
    """Whether two files hold the same weights and facts (in a header of any order)."""
    one, two = weights.load(a), weights.load(b)
    return same(one.state, two.state) and torch.equal(one.ids, two.ids) and one.facts == two.facts


def states(folder: Path) -> list[dict]:
    return [torch.load(f, weights_only=True) for f in sorted(folder.glob("*.pt"))]


def same(a: Any, b: Any) -> bool:
    if isinstance(a, torch.Tensor):
        return torch.equal(a, b)
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same(a[k], b[k]) for k in a)
    if isinstance(a, list):
        return len(a) == len(b) and all(map(same, a, b))
    return a == b


@pytest.mark.parametrize("kind", ASKED)
def test_stopped_and_taken_up_gives_the_same_weights(kind, target, tmp_path) -> None:
    whole = trained(target, tmp_path / "whole", ASKED[kind], 7)
    for stop in (3, 2):  # steps before it is asked to stop; then to the end
        trained(target, tmp_path / "broken", ASKED[kind], 7, asked=after(stop))
    broken = trained(target, tmp_path / "broken", ASKED[kind], 7)
    assert equal(whole, broken)
    assert same(states(tmp_path / "whole"), states(tmp_path / "broken"))
    held = [[x for x in log.read(f.parent / log.NAME) if "held" in x] for f in (whole, broken)]
    assert held[0][-1] == held[1][-1] and [x["step"] for x in held[1]] == [0, 3, 5, 7]
    lines = [x for x in log.read(whole.parent / log.NAME) if "loss" in x]
    assert [x["step"] for x in lines] == [7] and len(lines[0]["loss"]) == (
        3 if kind == "heads" else 1
    )
    first, last = held[0][0]["held"], held[0][-1]["held"]
    assert first["judged"][0] > 0 and first != last


def test_a_decay_is_taken_up_and_a_longer_training_begins_before_it(target, tmp_path) -> None:
    whole = trained(target, tmp_path / "whole", ASKED["small"], 8, decay_steps=4)
    trained(target, tmp_path / "broken", ASKED["small"], 6, decay_steps=4, asked=after(5))
    assert (tmp_path / "broken" / "decay.pt").is_file()
    trained(target, tmp_path / "broken", ASKED["small"], 6, decay_steps=4)
    shorter = trained(target, tmp_path / "short", ASKED["small"], 6, decay_steps=4)
    broken = tmp_path / "broken" / "small.safetensors"
    assert equal(shorter, broken) and not equal(whole, broken)
    assert not (tmp_path / "broken" / "decay.pt").exists()
    trained(target, tmp_path / "broken", ASKED["small"], 8, decay_steps=4)
    assert equal(broken, whole), "as if there had been no decay before"


def test_a_file_asks_for_the_decay(target, tmp_path) -> None:
    """Without any end; the decay here takes no time."""
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "decay").touch()
    schedule = Schedule(warm=2, decay_seconds=0.0)
    file = trained(target, tmp_path / "run", ASKED["small"], 0, schedule=schedule)
    assert weights.load(file).facts["step"] == "1"
    assert not (tmp_path / "run" / "decay").exists()


@pytest.mark.parametrize("kind", ASKED)
def test_training_brings_the_drafter_nearer_to_the_target(kind, target, tmp_path) -> None:
    said = []
    say = lambda fraction, words: said.append(words)  # noqa: E731
    trained(target, tmp_path / "run", ASKED[kind], 12, progress=say)
    losses = [float(re.search(r"loss ([\d.]+)", words)[1]) for words in said if "loss" in words]
    assert len(losses) == 12 and np.mean(losses[-3:]) < 0.97 * np.mean(losses[:3])


def test_features_kept_or_made_anew_train_the_same(target, tmp_path) -> None:
    kept = trained(target, tmp_path / "kept", ASKED["heads"], 3)
    fly = trained(target, tmp_path / "fly", ASKED["heads"], 3, store=None)
    assert equal(kept, fly) and (tmp_path / "features").is_dir()


def test_training_in_bf16_is_near_that_in_fp32(target, tmp_path) -> None:
    """Where a machine multiplies bf16 fast; the weights themselves stay fp32 until the end."""
    low, high = (
        weights.load(trained(target, tmp_path / name, ASKED["heads"], 2, dtype=name, store=None))
        for name in ("bf16", "fp32")
    )
    assert not same(low.state, high.state)
    for name, weight in high.state.items():
        assert torch.allclose(low.state[name].float(), weight.float(), atol=0.02)


def test_a_run_knows_its_data_and_remains_what_it_was_begun_as(target, tmp_path) -> None:
    trained(target, tmp_path / "run", ASKED["small"], 1, tokens=100)
    about = json.loads((tmp_path / "run" / "run.json").read_text())
    assert 100 <= about["tokens"] < 112 and about["columns"] == 40 and about["held_texts"] > 0
    assert about["held_out"] == "prompts about w37, w48" and 0.5 < about["coverage"] <= 1
    with pytest.raises(ValueError, match=r"begun with layers = \[0, -1\], not \[0, 1\]"):
        trained(target, tmp_path / "run", Drafter("small", 40, (0, 1)), 2)


def test_a_drafter_can_begin_with_anothers_weights(target, tmp_path) -> None:
    file = trained(target, tmp_path / "a", Drafter("heads", 30, taps=()), 2, store=None)
    with_taps = trained(target, tmp_path / "b", Drafter("heads", taps=(1, 2), init=file), 0)
    first, second = weights.load(file), weights.load(with_taps)
    assert second.taps == (1, 2) and second.ids.tolist() == first.ids.tolist()
    assert all(torch.equal(second.state[n], w) for n, w in first.state.items())
    assert second.state["mix.weight"].abs().sum() == 0
    with pytest.raises(ValueError, match="holds the kind 'heads', not 'small'"):
        trained(target, tmp_path / "c", Drafter("small", init=file), 0)


def test_without_anything_said_two_layers_are_tapped(target, tmp_path) -> None:
    assert weights.load(trained(target, tmp_path / "a", Drafter("heads", 30), 0)).taps == (1, 2)


@pytest.mark.parametrize(
    ("drafter", "words"),
    [
        (Drafter("small", layers=(0, 3)), r"layers is 3; it must be in \[-3, 3\)"),
        (Drafter("heads", taps=(2, 1)), r"The taps are \(2, 1\)"),
        (Drafter("heads", 0), "vocabulary is 0"),
        (Drafter("heads", init=Path("nothing.safetensors")), "There is no file nothing"),
    ],
)
def test_wrong_drafters_are_a_sentence(drafter, words, target, tmp_path) -> None:
    with pytest.raises(ValueError, match=words):
        trained(target, tmp_path / "run", drafter, 1)


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ({"depths": 2, "weights": (1.0,)}, "There are 1 weights for 2 depths"),
        ({"depths": 0}, "depths is 0"),
        ({"batch": 0}, "batch is 0"),
        ({"hard": 1.5}, "hard is 1.5"),
        ({"rate": 0.0}, "rate is 0.0"),
        ({"sampled": -1}, "sampled is -1"),
    ],
)
def test_wrong_settings_are_a_sentence(how, words) -> None:
    with pytest.raises(ValueError, match=words):
        Settings(**how)


def test_texts_of_another_model_are_refused(target, tmp_path) -> None:
    other = tiny_folder(tmp_path / "other", tiny_config(hidden_size=24, intermediate_size=40))
    with pytest.raises(ValueError, match="Another model wrote these texts"):
        trained((other, target[1]), tmp_path / "run", ASKED["small"], 1)
    small = tiny_folder(tmp_path / "small", tiny_config(vocab_size=50))
    with pytest.raises(ValueError, match=r"the target's vocabulary is \[0, 50\)"):
        trained((small, target[1]), tmp_path / "run", ASKED["small"], 1)


def test_all_about_held_out_topics_is_a_sentence(target, tmp_path) -> None:
    words = tuple(f"w{i}" for i in range(30, 70))
    with pytest.raises(ValueError, match="nothing to train on"):
        trained(target, tmp_path / "run", ASKED["small"], 1, held=Held((), words))


def test_a_line_cut_short_by_a_crash_is_left_out(tmp_path) -> None:
    file = tmp_path / log.NAME
    file.write_text('{"step": 1}\n{"step": 2}\n{"st')
    assert log.read(file) == [{"step": 1}, {"step": 2}]
    log.Log(tmp_path, 1).say(step=5)
    assert log.read(file) == [{"step": 1}, {"step": 5}]


def test_no_global_generator_is_touched(target, tmp_path) -> None:
    before, torch_before = np.random.get_state()[1].copy(), torch.get_rng_state()
    trained(target, tmp_path / "run", ASKED["heads"], 1)
    assert np.array_equal(np.random.get_state()[1], before)
    assert torch.equal(torch.get_rng_state(), torch_before)
