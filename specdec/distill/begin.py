"""From options to a training: the target, its texts, the draft vocabulary, the first weights."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Any

import torch

from specdec.distill import target, texts, weights
from specdec.distill.batches import batch_of
from specdec.distill.features import Features
from specdec.distill.files import whole
from specdec.distill.schedule import Schedule
from specdec.distill.settings import Data, Settings
from specdec.distill.start import Drafter, chosen, first_weights, told
from specdec.distill.state import State, adam, has_state
from specdec.distill.topics import Held
from specdec.distill.train import train
from specdec.distill.vocabulary import DraftVocabulary
from specdec.models import checkpoint
from specdec.models.job import Progress
from specdec.models.llama import Llama
from specdec.models.parts import as_dtype, default_dtype

RUN = "run.json"
SAME = ("kind", "fingerprint", "settings", "taps", "layers", "init")  # what a run cannot change


def run(
    folder: Path,
    text: Sequence[Path],
    out: Path,
    drafter: Drafter,
    settings: Settings,
    schedule: Schedule,
    held: Held,
    *,
    tokens: float = math.inf,
    store: Path | None = None,
    every: float = 300.0,
    dtype: str | None = None,
    device: str | None = None,
    progress: Progress = lambda fraction, words: None,
    asked: Callable[[], bool] = lambda: False,
) -> Path:
    """Train a drafter of the target in `folder`, or go on with it; the file of its weights.

    At most the first `tokens` written tokens are used. `store`: where heads keep the target's
    features; None: they are computed anew every time.
    """
    device = torch.device(device or ("cuda" if torch.cuda.is_available() else "cpu"))
    config, state = checkpoint.read(folder)
    if drafter.kind == "small":
        settings = replace(
            settings, depths=1, weights=()
        )  # its own drafts are texts like any other
    model = Llama.load(folder, dtype=dtype, device=device)
    progress(0.0, "Reading the texts")
    found = texts.read(text)
    parts = chosen(found, folder, held, tokens)
    target.check_texts(model, parts.train)
    file, resumed = out / f"{drafter.kind}.safetensors", has_state(out)
    first = (
        weights.load(file)
        if resumed
        else first_weights(config, state, parts, drafter, settings.seed)
    )
    vocabulary = DraftVocabulary(first.ids.numpy(), config.vocab_size)
    about = target.facts(folder) | asdict(drafter) | {"settings": asdict(settings)}
    about |= {"init": drafter.init and str(drafter.init), "taps": first.taps, "dtype": str(dtype)}
    about |= told(parts, vocabulary)
    _keep(out / RUN, about, resumed)
    net = first.net(config, state["model.embed_tokens.weight"]).to(device)
    running = State(net, adam(net, settings.rate))
    running.load(out)
    features = None
    if drafter.kind == "heads":
        features = Features(model, first.taps, store, found, about["fingerprint"]).of

    def write() -> None:
        facts = target.facts(folder) | {"step": running.step, "text": running.text}
        weights.save(file, running.average, first.ids, first.taps, facts)

    if not resumed:
        write()
    make = partial(batch_of, vocabulary=vocabulary, features=features, device=device)
    bf16 = (as_dtype(dtype) or default_dtype(device)) == torch.bfloat16
    data = Data(parts.train, parts.held, make, bf16)
    how = {"every": every, "progress": progress, "asked": asked}
    train(running, data, settings, schedule, out, write, **how)
    return file


def _keep(file: Path, about: dict[str, Any], resumed: bool) -> None:
    """Write down what the run is. ValueError if it was begun as another."""
    about = json.loads(json.dumps(about))
    before = target.read_json(file)
    changed = [name for name in SAME if resumed and before.get(name) != about[name]]
    if changed:
        name = changed[0]
        raise ValueError(
            f"This run was begun with {name} = {before.get(name)}, not {about[name]}; continue it "
            "with the same, or name another folder for --out."
        )
    with whole(file) as making:
        making.write_text(json.dumps(about, indent=1), encoding="utf-8")
