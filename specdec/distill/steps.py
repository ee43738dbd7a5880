"""From the command line's options to the steps; nothing heavy is loaded before one is run."""

from __future__ import annotations

import argparse
import time

from specdec.models.job import Progress

PROMPTS = 32  # that an export finds its rows with


def write(o: argparse.Namespace, progress: Progress) -> str:
    """Step 1."""
    from specdec.distill import prompts, target, topics
    from specdec.distill import write as step
    from specdec.distill.ends import end
    from specdec.models.llama import Llama
    from specdec.models.vocabulary import read_tokenizer, stops

    until, held = end(o.until, o.minutes, time.time()), topics.held(o.held_out)
    source = prompts.Prompts(o.seed, held)
    if o.prompts:
        source = prompts.of_file(o.prompts, o.seed, held, o.raw)
    folder = target.folder_of(o.target, progress)
    tokenizer = read_tokenizer(folder)
    total = step.write(
        Llama.load(folder, dtype=o.dtype, device=o.device),
        tokenizer,
        stops(folder, tokenizer),
        o.out,
        source,
        batch=o.batch,
        new=o.n,
        temperatures=o.temperatures,
        top_k=o.top_k,
        tokens=o.tokens,
        end=until,
        progress=progress,
    )
    return f"{total} tokens of seed {o.seed} are in {o.out}"


def train(o: argparse.Namespace, progress: Progress) -> str:
    """Step 2."""
    from specdec.distill import begin, target, topics
    from specdec.distill.ends import asked_to_stop, end
    from specdec.distill.schedule import Schedule
    from specdec.distill.settings import Settings
    from specdec.distill.start import Drafter

    names = ("rate", "batch", "starts", "depths", "weights", "hard", "sampled", "average", "seed")
    settings = Settings(**{name: getattr(o, name) for name in names})
    decay = (o.steps or 0) // 10 if o.decay_steps is None else o.decay_steps
    until = end(o.until, o.minutes, time.time())
    schedule = Schedule(o.warm, o.steps, decay, until, 60 * o.decay_minutes)
    with asked_to_stop() as asked:
        file = begin.run(
            target.folder_of(o.target, progress),
            o.text,
            o.out,
            Drafter(o.kind, o.vocabulary, o.layers, o.taps, o.init),
            settings,
            schedule,
            topics.held(o.held_out),
            tokens=o.tokens,
            store=(o.feature_folder or o.out / "features") if o.features == "store" else None,
            every=60 * o.every,
            dtype=o.dtype,
            device=o.device,
            progress=progress,
            asked=asked,
        )
    return str(file)


def evaluate(o: argparse.Namespace, progress: Progress) -> str:
    """Step 3."""
    from specdec.distill import evaluate as step
    from specdec.distill import prompts, target, topics

    lines = prompts.lines_of(o.prompts) if o.prompts else None
    return str(
        step.evaluate(
            target.folder_of(o.target, progress),
            o.drafter,
            topics.questions(topics.held(o.held_out), lines),
            k=o.k,
            n=o.n,
            seed=o.seed,
            dtype=o.dtype,
            device=o.device,
            log=o.log,
            progress=progress,
        )
    )


def export(o: argparse.Namespace, progress: Progress) -> str:
    """The last step, for those who want it."""
    from specdec.distill import export as step
    from specdec.distill import prompts, target, topics

    progress(0.0, "Making a checkpoint")
    lines, _ = prompts.Prompts(0, topics.held()).batch(0, PROMPTS)
    return str(step.export(target.folder_of(o.target, progress), o.drafter, o.out, lines))
