"""One table, one process: our decoding, its bare forwards, and other engines, in turn."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any

from specdec import run
from specdec.bench_arms import Arm, Ours, Output, ours
from specdec.bench_peers import transformers
from specdec.bench_results import Result, medians, result
from specdec.law import Sampling
from specdec.measure import Costs, costs, replay
from specdec.presets import Preset

LAWS = (Sampling(), Sampling(temperature=0.8, top_k=50, top_p=0.95))  # of the loop's own share
WARM = 16  # tokens that each arm writes before anything counts


@dataclass(frozen=True)
class Report:
    """A whole bench; times hold for this machine only, ratios travel better."""

    machine: str
    dtype: str
    pair: str
    k: int
    max_new_tokens: int
    prompts: tuple[str, ...]
    repeats: int
    overhead: float  # our greedy speculation ÷ its own bare forwards, prefills left out
    overhead_sampling: float
    costs: Costs  # of passes
    length: int  # tokens cached there: as many as halfway through the runs
    arms: tuple[Result, ...]
    left_out: tuple[tuple[str, str], ...] = ()  # arms that cannot run here, and why


def bench(
    pair: Any,
    prompts: Sequence[Preset],
    *,
    k: int = 4,
    max_new_tokens: int = 96,
    repeats: int = 5,
    drafters: Sequence[str] | None = None,
    policies: Sequence[str] = (),
    peers: bool | Sequence[Arm] = True,
    say: Callable[[str], None] = lambda words: None,
) -> Report:
    """Every arm decodes each prompt greedily, one arm after another, `repeats` times over.

    `drafters` None: all that the pair has. `policies`: each of them also with k as they say
    ("ema"). `peers`: the arms of transformers, or any others. ValueError if a number is out of
    range, or a prompt too long.
    """
    _check(k, max_new_tokens, repeats, prompts)
    ids = [run.encode(pair.tokenizer, preset.prompt, chat=preset.chat) for preset in prompts]
    length, warm = _halfway(pair, ids, k, max_new_tokens), min(WARM, max_new_tokens)
    say("warming up")
    arms = ours(pair, k, drafters, policies)
    for arm in arms:
        arm.run(ids[0], warm)
    able, left_out = _able(transformers(pair, k) if peers is True else peers or (), ids[0], warm)
    turns, measured, overheads = [], [], []
    for repeat in range(repeats):
        say(f"decoding, {repeat + 1} of {repeats}")
        turns.append(_turn([*arms, *able], ids, max_new_tokens))
        say("measuring passes, and the loop's own share")
        measured.append(costs(pair, k, length=length, repeats=5))
        prompt = ids[repeat % len(ids)]
        overheads.append([overhead(pair, prompt, k, max_new_tokens, law) for law in LAWS])
    passes = medians(measured)
    outputs = {name: [turn[name] for turn in turns] for name in turns[0]}
    figures = (result(pair, ids, n, o, outputs["plain"], passes) for n, o in outputs.items())
    return Report(
        pair.hardware[2],
        pair.hardware[0],
        getattr(pair, "name", ""),
        k,
        max_new_tokens,
        tuple(preset.name for preset in prompts),
        repeats,
        *map(statistics.median, zip(*overheads)),
        passes,
        length,
        tuple(figures),
        left_out,
    )


def _turn(arms: Sequence[Arm], prompts: Sequence[Sequence[int]], n: int) -> dict[str, list[Output]]:
    """All arms on a prompt, one after another, then on the next; by arm, the prompts in order."""
    outputs: dict[str, list[Output]] = {arm.name: [] for arm in arms}
    for prompt in prompts:
        for arm in arms:
            outputs[arm.name].append(arm.run(prompt, n))
    return outputs


def overhead(pair: Any, prompt: Sequence[int], k: int, n: int, sampling: Sampling) -> float:
    """A run of ours ÷ the same forward passes with nothing between them, right after it.

    All of the run counts, from the prompt's ids to the texts of the tokens, but the prefill.
    """
    output = Ours("model", pair, {"k": k, "sampling": sampling}).run(prompt, n)
    room = len(prompt) + n + k + 1
    target, draft = pair.target.scorer(capacity=room), pair.draft.scorer(capacity=room)
    try:
        bare = replay(target, draft, output.trace, perf_counter)
    finally:
        target.close(), draft.close()
    return (output.seconds - output.trace.seconds.prefill) / bare


def _able(
    arms: Sequence[Arm], prompt: Sequence[int], n: int
) -> tuple[list[Arm], tuple[tuple[str, str], ...]]:
    """The arms that can decode this, warm now; the others' names, each with its own reason."""
    able, left_out = [], []
    for arm in arms:
        try:
            arm.run(prompt, n)
            able.append(arm)
        except (RuntimeError, ValueError) as error:
            left_out.append((arm.name, str(error).partition("\n")[0]))
    return able, tuple(left_out)


def _halfway(pair: Any, prompts: Sequence[Sequence[int]], k: int, n: int) -> int:
    """Tokens of a sequence halfway through the runs. ValueError if one of them does not fit."""
    contexts = [getattr(model, "context", None) or math.inf for model in (pair.target, pair.draft)]
    longest = max(map(len, prompts))
    if longest + n > contexts[0]:
        raise ValueError(
            f"A prompt of {longest} tokens and {n} more exceed the target's context of "
            f"{contexts[0]}."
        )
    middle = round(statistics.mean(map(len, prompts))) + n // 2
    return max(1, min(middle, *(context - k - 1 for context in contexts)))


def _check(k: int, n: int, repeats: int, prompts: Sequence[Preset]) -> None:
    for name, value in {"k": k, "the number of tokens": n, "repeats": repeats}.items():
        if value < 1:
            raise ValueError(f"{name} is {value}; a bench needs 1 or more.")
    if not prompts:
        raise ValueError("There are no prompts to decode.")
