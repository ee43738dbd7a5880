"""Step 3: the engine decodes held-out prompts with the drafter; what came of it is its card."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import specdec
from specdec.distill import target, weights
from specdec.distill.about import Facts
from specdec.distill.begin import RUN
from specdec.distill.card import card
from specdec.distill.files import sha256, whole
from specdec.distill.judge import greedy, sampled
from specdec.distill.log import NAME, read
from specdec.distill.results import Result, Results
from specdec.distill.topics import Question
from specdec.models.job import Progress


def evaluate(
    folder: Path,
    file: Path,
    questions: Sequence[Question],
    *,
    k: int = 4,
    n: int = 64,
    seed: int = 0,
    dtype: str | None = None,
    device: str | None = None,
    log: Path | None = None,
    progress: Progress = lambda fraction, words: None,
) -> Path:
    """Decode every prompt, greedy and at temperature 1; the card, a .md beside the weights.

    `log`: the training's, if it does not lie beside them. A stopped evaluation goes on; other
    weights or settings begin anew.
    """
    drafter = weights.load(file)
    target.check_same(drafter.facts, folder, file.name)
    progress(0.0, "Loading target and drafter")
    pair = specdec.load_pair(f"{folder}+{file}", dtype=dtype, device=device)
    hardware = pair.hardware
    about = {"weights": sha256(file), "k": k, "n": n, "seed": seed, "hardware": hardware}
    results = Results(file.with_suffix(".evaluation.jsonl"), about)
    name = "heads" if drafter.kind == "heads" else "model"
    for i, question in enumerate(questions):
        progress(i / len(questions), f"Decoding: prompt {i + 1} of {len(questions)}")
        if results.has(question.kind, question.prompt):
            continue
        fast = greedy(pair, name, question, k, n)
        soft = sampled(pair, name, question, k, n, seed)
        results.add(Result(question.kind, question.prompt, fast, soft))
    log = log or file.with_name(NAME)
    run = target.read_json(log.with_name(RUN))
    found = [r for r in results.found if (r.kind, r.prompt) in _keys(questions)]
    what = Facts(file.name, drafter, pair, run, read(log), k, n, hardware)
    path = file.with_suffix(".md")
    with whole(path) as making:
        making.write_text(card(what, found), encoding="utf-8")
    pair.close()
    return path


def _keys(questions: Sequence[Question]) -> set[tuple[Any, Any]]:
    return {(question.kind, question.prompt) for question in questions}
