"""The stage's modules in node, as shipped, and the runs on which they are tested."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from specdec import toy
from specdec.law import Sampling
from specdec.trace import Round, Trace
from specdec.ui import component, stage
from tests.apps import stage_traces as traces

SCRIPT = """
const stage = await import("data:text/javascript," + encodeURIComponent(data.script));
const { input } = data;
const phases = (run, phase) => stage.planOf(run.rounds).filter((s) => s.phase === phase);
const bare = (text) => text.replace(/[\\u2068\\u2069]/g, "").replaceAll("\\u00a0", " ");
give((() => { %s })());
"""


def runner(node: Callable[..., Any]) -> Callable[..., Any]:
    """What a JavaScript function body returns, given `stage` and `input`."""
    script = component.script("stage", stage.MODULES)
    return lambda body, **given: node(SCRIPT % body, {"script": script, "input": given})


def random_toys() -> list[Trace]:
    """Greedy runs with every number of drafted, accepted and cut tokens up to six."""
    made = []
    for seed in range(24):
        target = toy.random_model(seed)
        draft = toy.random_model(seed + 100, follow=target, agree=seed % 5 / 4)
        made.append(toy.speculative_greedy(target, draft, 3 + seed % 7, seed % 7))
    return made


@cache
def all_runs() -> list[Trace]:
    """Toy and sampled, plain and copied, cut and cancelled, under every rule."""
    empty = traces.first(traces.sampled(), 0, "cancelled")
    stops = [traces.sampled(40, 6, seed=seed, stop_ids=(18,)) for seed in range(4)]
    copied = traces.sampled(copied=True, k=5)
    return [
        *random_toys(),
        traces.kiln(),
        traces.sampled(),
        traces.sampled(k=0),
        copied,
        *stops,
        empty,
        *(traces.ruled(rule) for rule in ("match", "block")),
        *(traces.ruled(rule, sampling=Sampling()) for rule in ("match", "block")),
        *cut_blocks(),
    ]


@cache
def cut_blocks() -> list[Trace]:
    """Block runs that end inside a draft, before its last pass or right after it."""
    return [
        *(traces.ruled("block", seed=s, stop_ids=(5,)) for s in range(1, 6)),
        traces.ruled("block", n=17),
    ]


def wires(runs: list[Trace]) -> list[dict]:
    """The runs as the browser gets them."""
    return [sent(trace) for trace in runs]


@cache
def sent(trace: Trace) -> dict:
    """One of them."""
    return stage.wire(trace)


def number_of_tests(r: Round) -> int:
    """How many drafted tokens are tested: by blocks all of them, unless nothing is drawn."""
    every = r.rule == "block" and all(token.u is not None for token in r.drafted)
    return len(r.drafted) if every else r.accepted + r.rejected
