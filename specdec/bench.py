"""One table, one process: our decoding, its bare forwards, and transformers, in turn."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from specdec import run
from specdec.compare import check
from specdec.law import Sampling
from specdec.measure import Costs, costs, predicted_speedup, replay
from specdec.models.fetch import target_folder
from specdec.presets import Preset
from specdec.trace import Trace

SAMPLED = Sampling(temperature=0.8, top_k=50, top_p=0.95)


@dataclass(frozen=True)
class Arm:
    """One way to decode: its speed against our fastest plain decoding, and what it did."""

    name: str
    tokens_per_s: float
    speedup: float  # median over repeats of (our plain seconds per token ÷ this arm's)
    spread: tuple[float, float]  # smallest and largest of these
    predicted: float | None = None
    alpha: float | None = None
    draft_yield: float | None = None
    tokens_per_pass: float | None = None
    target_passes: int | None = None
    draft_passes: int | None = None
    equal: bool | None = None  # to plain decoding, every prompt; ours at one shape where ties part


@dataclass(frozen=True)
class Report:
    """A whole bench; times hold for this machine only, ratios travel better."""

    machine: str
    dtype: str
    k: int
    max_new_tokens: int
    repeats: int
    overhead: float  # our greedy loop ÷ the bare forwards of the same run
    overhead_sampling: float
    costs: Costs
    arms: tuple[Arm, ...]


@dataclass
class _Samples:
    seconds: list[float] = field(default_factory=list)  # per repeat, over all prompts
    tokens: int = 0
    results: list[Any] = field(default_factory=list)  # last repeat: a Trace or ids, per prompt


def bench(
    pair: Any,
    prompts: Sequence[Preset],
    *,
    k: int = 4,
    max_new_tokens: int = 96,
    repeats: int = 5,
    peers: bool = True,
    say: Callable[[str], None] = lambda words: None,
) -> Report:
    """Run all arms in turn, `repeats` times over all prompts, greedy; the first time warms up."""
    arms = _arms(pair, k, max_new_tokens, peers)
    samples = {name: _Samples() for name in arms}
    for repeat in range(repeats + 1):
        say(f"decoding, {repeat} of {repeats}" if repeat else "warming up")
        for name, decode in arms.items():
            _sample(samples[name], decode, prompts, keep=repeat > 0)
    say("measuring passes")
    measured = costs(pair, k)
    say("measuring the loop's own share")
    greedy, sampled = (
        _overhead(pair, prompts[0], k, max_new_tokens, sampling, repeats)
        for sampling in (Sampling(), SAMPLED)
    )
    plain = samples["plain"]
    return Report(
        pair.hardware[2],
        pair.hardware[0],
        k,
        max_new_tokens,
        repeats,
        greedy,
        sampled,
        measured,
        tuple(
            _arm(name, s, plain, measured, _equal(pair, prompts, s, plain))
            for name, s in samples.items()
        ),
    )


def _arms(pair: Any, k: int, n: int, peers: bool) -> dict[str, Callable[[Preset], Any]]:
    def ours(**options: Any) -> Callable[[Preset], Trace]:
        return lambda p: run.generate(
            pair, p.prompt, chat=p.chat, max_new_tokens=n, tops=0, **options
        )

    arms: dict[str, Callable[[Preset], Any]] = {
        "plain": ours(k=0),
        "model": ours(k=k),
        "lookup": ours(k=k, drafter="lookup"),
    }
    if peers:
        arms["transformers"] = _transformers(pair, n)
    return arms


def _transformers(pair: Any, n: int) -> Callable[[Preset], list[int]]:
    import torch
    from transformers import AutoModelForCausalLM

    model = AutoModelForCausalLM.from_pretrained(target_folder(), dtype=pair.target.dtype)

    def decode(preset: Preset) -> list[int]:
        ids = torch.tensor([run.encode(pair.tokenizer, preset.prompt, chat=preset.chat)])
        with torch.inference_mode():
            out = model.generate(
                ids,
                attention_mask=torch.ones_like(ids),
                max_new_tokens=n,
                do_sample=False,
                eos_token_id=list(pair.stop_ids),
                pad_token_id=pair.stop_ids[0],
            )
        return out[0, ids.shape[1] :].tolist()

    return decode


def _sample(samples: _Samples, decode: Callable, prompts: Sequence[Preset], *, keep: bool) -> None:
    began = time.perf_counter()
    results = [decode(preset) for preset in prompts]
    if keep:
        samples.seconds.append(time.perf_counter() - began)
        samples.results, samples.tokens = results, sum(len(_ids(r)) for r in results)


def _equal(pair: Any, prompts: Sequence[Preset], samples: _Samples, plain: _Samples) -> bool:
    """The same tokens as plain decoding; where near ties part our own, at one fixed shape."""
    for preset, mine, other in zip(prompts, samples.results, plain.results):
        if _ids(mine) == _ids(other):
            continue
        if not isinstance(mine, Trace):
            return False
        fixed = check(pair, preset.prompt, mine, other).fixed
        if fixed is None or not fixed.equal:
            return False
    return True


def _arm(name: str, samples: _Samples, plain: _Samples, measured: Costs, equal: bool) -> Arm:
    ratios = [
        (p / plain.tokens) / (s / samples.tokens) for p, s in zip(plain.seconds, samples.seconds)
    ]
    speed = samples.tokens / statistics.median(samples.seconds)
    arm = (name, speed, statistics.median(ratios), (min(ratios), max(ratios)))
    if not isinstance(samples.results[0], Trace):
        return Arm(*arm, equal=equal)
    first = samples.results[0]
    pooled = Trace(
        (), tuple(r for t in samples.results for r in t.rounds), first.settings, first.source
    )
    return Arm(
        *arm,
        predicted_speedup(pooled, measured),
        pooled.alpha,
        pooled.draft_yield,
        pooled.tokens_per_pass,
        pooled.target_passes,
        pooled.draft_passes,
        equal,
    )


def _overhead(pair: Any, preset: Preset, k: int, n: int, sampling: Sampling, repeats: int) -> float:
    """Median of (our loop ÷ its bare forwards), each replayed right after its own run."""
    ratios = []
    for _ in range(repeats + 1):
        trace = run.generate(
            pair, preset.prompt, chat=preset.chat, k=k, max_new_tokens=n, sampling=sampling, tops=0
        )
        room = len(trace.prompt) + n + k + 1
        target, draft = pair.target.scorer(capacity=room), pair.draft.scorer(capacity=room)
        bare = replay(target, draft, trace, time.perf_counter)
        target.close(), draft.close()
        ratios.append(trace.seconds.total / bare)
    return statistics.median(ratios[1:])


def _ids(result: Any) -> list[int]:
    return list(result.token_ids) if isinstance(result, Trace) else result
