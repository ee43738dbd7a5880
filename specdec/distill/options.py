"""The options of `python -m specdec distill write | train | evaluate | export`."""

from __future__ import annotations

import argparse
import math
from pathlib import Path

from specdec.distill import steps


def add(parser: argparse.ArgumentParser) -> None:
    """The four steps."""
    commands = parser.add_subparsers(dest="step", required=True)
    for name, words, options, do in (
        ("write", "text by the target, with its laws", _write, steps.write),
        ("train", "heads or a small model on that text", _train, steps.train),
        ("evaluate", "decode held-out prompts, write the model card", _evaluate, steps.evaluate),
        ("export", "a small model as a checkpoint of transformers", _export, steps.export),
    ):
        step = commands.add_parser(name, help=words)
        step.add_argument("target", help='a folder with config.json and safetensors, or "default"')
        options(step)
        step.set_defaults(run=do)


def _write(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--out", type=Path, required=True, help="folder for the texts")
    parser.add_argument("--prompts", type=Path, help="a file, one a line; else prompts of our own")
    parser.add_argument("--raw", action="store_true", help="continue the lines, no chat template")
    parser.add_argument("--seed", type=int, default=0, help="another for every process")
    parser.add_argument("--batch", type=int, default=32, help="texts at once")
    parser.add_argument("-n", type=int, default=144, help="tokens of a text at most")
    parser.add_argument(
        "--temperatures", type=numbers, default=(0.0, 0.0, 0.6, 0.8, 1.0), help="drawn from evenly"
    )
    parser.add_argument(
        "--top-k", type=int, default=64, help="ids that texts are drawn from; 0: all"
    )
    parser.add_argument("--tokens", type=int, default=1_000_000, help="in all, of this seed")
    _held_out(parser)
    _ends(parser)
    _machine(parser)


def _train(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--kind", choices=("heads", "small"), required=True)
    add("--text", type=Path, action="append", required=True, help="a folder of texts (repeatable)")
    add("--out", type=Path, required=True, help="folder of the run: weights, log, checkpoints")
    add("--vocabulary", type=int, default=8192, help="ids of the head, the text's most frequent")
    add(
        "--layers",
        type=whole_numbers,
        default=(0, 1, -1),
        help="small: of the target, to begin with",
    )
    add("--taps", type=whole_numbers, help="heads: layers read too; two evenly spread by default")
    add("--init", type=Path, help="a drafter's safetensors to begin with")
    add("--depths", type=int, default=4, help="heads: steps on their own predictions")
    add("--weights", type=numbers, default=(), help="heads: of each depth's loss; 1,0.9,0.81,…")
    add("--hard", type=float, default=0.5, help="share of the loss for the likeliest token alone")
    add("--batch", type=int, default=12, help="texts a step")
    add("--starts", type=int, default=64, help="heads: places in each text")
    add("--sampled", type=int, default=1024, help="columns for all that a batch lacks; 0: all")
    add("--rate", type=float, default=8e-4)
    add("--warm", type=int, default=40, help="steps")
    add("--average", type=float, default=0.99, help="of the weights written, per step")
    add("--tokens", type=float, default=math.inf, help="use only the first so many")
    add("--features", choices=("store", "fly"), default="store", help="heads: kept, or made anew")
    add("--feature-folder", type=Path, help="where they are kept; OUT/features by default")
    add("--seed", type=int, default=0)
    add("--steps", type=int, help="in all; with none of the three it goes on until Ctrl-C")
    add("--decay-steps", type=int, help="at the end of --steps; a tenth of them by default")
    add("--decay-minutes", type=float, default=12.0, help="before --until, or from OUT/decay on")
    add("--every", type=float, default=5.0, help="minutes between checkpoints")
    _held_out(parser)
    _ends(parser)
    _machine(parser)


def _evaluate(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("drafter", type=Path, help="its safetensors")
    parser.add_argument("--prompts", type=Path, help="a file, one a line, about held-out topics")
    parser.add_argument("--k", type=int, default=4, help="drafted tokens a round")
    parser.add_argument("-n", type=int, default=64, help="tokens a prompt")
    parser.add_argument("--seed", type=int, default=0, help="of the runs at temperature 1")
    parser.add_argument("--log", type=Path, help="the training's, if it is not beside the weights")
    _held_out(parser)
    _machine(parser)


def _export(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("drafter", type=Path, help="a small model's safetensors")
    parser.add_argument("--out", type=Path, required=True, help="a new folder")


def _held_out(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--held-out", type=Path, help="a file of topics, one a line, instead of our own"
    )


def _ends(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--until", metavar="HH:MM", help="end at this time of day")
    parser.add_argument("--minutes", type=float, help="end after so many")


def _machine(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--dtype", help="fp32 or bf16")
    parser.add_argument("--device", help="cpu or cuda")


def numbers(text: str) -> tuple[float, ...]:
    """(0.0, 0.8) from "0,0.8"."""
    try:
        return tuple(float(part) for part in text.split(",") if part.strip())
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not like 0,0.8") from None


def whole_numbers(text: str) -> tuple[int, ...]:
    """(0, 1, -1) from "0,1,-1"."""
    try:
        return tuple(int(part) for part in text.split(",") if part.strip())
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not like 0,1,-1") from None
