"""Options of the command line that say how to decode, by the names that Python has for them."""

from __future__ import annotations

import argparse

from specdec.drafters import Drafter, PromptLookup

LAW = ("min_p", "repetition_penalty", "presence_penalty", "frequency_penalty", "logit_bias")


def models(parser: argparse.ArgumentParser) -> None:
    """Pair and precision."""
    parser.add_argument(
        "--pair",
        default="default",
        help="folder+folder, org/target+org/drafter of the hub, or http://host:port+drafter",
    )
    parser.add_argument("--dtype", help="fp32 or bf16")
    parser.add_argument(
        "--bridge", action="store_true", help="the two tokenizers may differ: text crosses"
    )


def decoding(parser: argparse.ArgumentParser) -> None:
    """Pair, precision, length, seed, temperature, top-k, top-p."""
    models(parser)
    parser.add_argument(
        "--partial",
        type=int,
        default=0,
        metavar="TOKENS",
        help="with a target on a server: its law may be cut to so many of the likeliest; 0: no",
    )
    parser.add_argument("-n", type=int, default=64, help="tokens at most")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--temperature", type=float, default=0.0, help="0: greedy")
    parser.add_argument("--top-k", type=int, default=0, help="0: off")
    parser.add_argument("--top-p", type=float, default=1.0)


def law(parser: argparse.ArgumentParser) -> None:
    """What else changes the law."""
    parser.add_argument("--min-p", type=float, default=0.0, help="against the maximum; 0: off")
    parser.add_argument(
        "--repetition-penalty", type=float, default=1.0, help="of prompt and text; 1: off"
    )
    parser.add_argument("--presence-penalty", type=float, default=0.0, help="of the text, once")
    parser.add_argument(
        "--frequency-penalty", type=float, default=0.0, help="of the text, each time"
    )
    parser.add_argument(
        "--logit-bias",
        type=id_and_bias,
        action="append",
        default=[],
        metavar="ID=BIAS",
        help="add to the logit of a token (repeatable)",
    )


def lookup(parser: argparse.ArgumentParser) -> None:
    """Which copy a prompt lookup takes."""
    parser.add_argument(
        "--ngram", type=int, metavar="N", help="lookup: match the last N tokens at most (else 3)"
    )
    parser.add_argument(
        "--recent", action="store_true", help="lookup: copy from the last match, not the first"
    )


def drafter(o: argparse.Namespace) -> str | Drafter:
    """The drafter's name, or a lookup as the options want it; ValueError for another drafter."""
    if o.ngram is None and not o.recent:
        return o.drafter
    if o.drafter != "lookup":
        raise ValueError(f"--ngram and --recent are of the lookup; the drafter is {o.drafter!r}.")
    return PromptLookup(3 if o.ngram is None else o.ngram, recent=o.recent)


def chosen(o: argparse.Namespace) -> dict:
    """The keywords of `specdec.rounds` that these options stand for."""
    settings = {name: getattr(o, name) for name in LAW if hasattr(o, name)}
    return settings | {
        "max_new_tokens": o.n,
        "seed": o.seed,
        "temperature": o.temperature,
        "top_k": o.top_k,
        "top_p": o.top_p,
    }


def number_or_name(text: str) -> int | str:
    """4, or "ema"."""
    try:
        return int(text)
    except ValueError:
        return text


def id_and_bias(text: str) -> tuple[int, float]:
    """(5, -2.5) from "5=-2.5"."""
    token, _, bias = text.partition("=")
    try:
        return int(token), float(bias)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not like 5=-2.5") from None
