"""Station 7: a cache that holds something else than the text, and a context that is too short."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any

import streamlit as st

from specdec.compare import compare
from specdec.lab import broken_caches
from specdec.lab.broken_caches import FAULTS, Broken, Case, Cell
from specdec.ledger import ledger, sums
from specdec.presets import presets
from specdec.run import generate
from specdec.ties import ROWS
from specdec.trace import Trace
from specdec.ui import engine, query
from specdec.ui.job import Job
from specdec.ui.live_rates import number
from specdec.ui.shown import source
from specdec.ui.stage import stage
from specdec.ui.stations.parts import part, question
from specdec.ui.watch import unfolded, watched

CASES = {
    "stale-target": "Not rolled back, in the target",
    "stale-drafter": "Not rolled back, in the drafter",
    "twice-target": "Rolled back once too often, in the target",
    "twice-drafter": "Rolled back once too often, in the drafter",
    "owed-drafter": "The owed token forgotten, in the drafter",
    "short": "A drafter with a short context",
    "none": "Nothing broken",
}
CONTEXT, WORDS, REAL = 16, 32, 48  # the short drafter's; toy words; real tokens
LIMITS = {
    "open": query.Choice("stale-target", tuple(CASES)),
    "k": query.Number(4, 1, 8, whole=True),
    "alpha": query.Number(0.9, 0.0, 1.0),
    "seed": query.Number(1, 0, 999, whole=True),
}
GLYPHS = {"right": "", "stale": "✗", "lost": "∅"}
CAUSES = {
    "stale": "After a round the count goes back, the cells do not. The next pass writes behind "
    "them, and every later token reads what was rejected as if it had been written.",
    "twice": "Each rollback takes one cell more than was rejected. The next pass feeds what the "
    "count says is lacking, so the cell is never written again: later tokens read a text with "
    "a hole.",
    "owed": "The last draft of a round is never fed to the drafter: nothing was to follow it. When "
    "all drafts are accepted it is in the text, so *two* tokens are owed, it and the bonus. This "
    "drafter feeds the newest one alone.",
    "short": "A model has positions for so many tokens and no more. The engine asks the drafter "
    "for no token beyond its end: each later round is a plain one. Nothing is wrong but the "
    "choice of the drafter.",
    "none": "The length of a cache is all that the engine keeps: it feeds what lies behind the "
    "length, and sets the length back. Full acceptance, rejection and a skipped round need no "
    "special case.",
}
CURES = {
    "stale": "Let one number, the length, say what is valid, and let mask, positions and writes "
    "all take it from there: then setting it back *is* the rollback.",
    "twice": "Count once, in one place: after a round a cache holds the text without its last "
    "token, or less. Test against decoding without any cache.",
    "owed": "Feed `text[length:]`, however many tokens that are, instead of “the last token”.",
    "short": "Take a drafter whose context is as long as the target's, or one that has none: "
    "prompt lookup. Watch the acceptance *and* the drafted tokens per round over a long text.",
    "none": "Test a cache against decoding without one, token for token, and the acceptance of a "
    "model that drafts for itself: it must be 1.",
}


def draw(link: Mapping[str, Any]) -> dict[str, Any]:
    """Draw the station; returns its state for a link."""
    question(
        "caches",
        "After a rejection the *drafter's* cache is not rolled back; the target's is. Decoding is "
        "greedy. What do you see?",
        ("The text goes wrong", "The right text, and α falls", "An error at once"),
        "The right text, and α falls",
        "Whatever the drafter proposes, the target judges it by its own cache. A fault in the "
        "drafter costs speed alone, and no test of the text finds it; one in the target's cache "
        "bends the text.",
    )
    part("do", "Two toy models, whose next word hangs on every word before it. Break one cache.")
    name, k, agree, seed = _controls(link)
    case = _case(name, k, agree, seed)
    fault = name.split("-")[0]
    st.caption(source(case.broken) + " Decoded now, by the engine, on the cache that you chose.")

    part("symptom", symptom(case))
    _texts(case)
    st.table(rates(case.right, case.broken))

    part("cause", CAUSES[fault])
    st.markdown(_holds(case, name))
    st.code(cells(case.cache.cells, case.cache.own.vocab), language=None, wrap_lines=True)
    st.table([_account(case, name)])
    unfolded(
        "Both ledgers, round by round",
        "caches ledger",
        lambda: stage(
            case.broken, key=f"caches {name} {k} {agree} {seed}", ledger=True, report=False
        ),
    )
    part("cure", CURES[fault])
    _real(name)
    return {"open": name, "k": k, "alpha": agree, "seed": seed}


def _controls(link: Mapping[str, Any]) -> tuple[str, int, float, int]:
    names = list(CASES)
    name = st.selectbox(
        "What is broken", names, names.index(link["open"]), key="caches what", format_func=CASES.get
    )
    left, middle, right = st.columns(3)
    k = left.slider("k, drafted tokens a round", 1, 8, link["k"], key="caches k")
    agree = middle.slider(
        "How often the drafter knows the next word", 0.0, 1.0, link["alpha"], key="caches agree"
    )
    seed = right.number_input("Seed of the two models", 0, 999, link["seed"], key="caches seed")
    return name, k, agree, int(seed)


@lru_cache(64)
def _case(name: str, k: int, agree: float, seed: int) -> Case:
    options = {"n": WORDS, "k": k, "agree": agree, "seed": seed}
    if name == "short":
        return broken_caches.run_short(CONTEXT, **options)
    fault, _, where = name.partition("-")
    return broken_caches.run(fault, where or "drafter", **options)


def symptom(case: Case) -> str:
    """What can be seen from outside: the text, and the rates."""
    n, right, wrong = len(case.plain.token_ids), case.right, case.broken
    if case.first is not None:
        same = sum(a == b for a, b in zip(wrong.token_ids, case.plain.token_ids))
        text = (
            f"**The text is wrong from word {case.first + 1} on**: {same} of {n} words stand where "
            "the target alone puts them."
        )
    else:
        text = f"**The text is right**, all {n} words."
    if right.target_passes == wrong.target_passes:
        return f"{text} And it took the same {right.target_passes} target passes: no symptom."
    return (
        f"{text} It took **{wrong.target_passes} target passes** where the right caches take "
        f"{right.target_passes}."
    )


def _texts(case: Case) -> None:
    for label, trace in (("The target alone", case.plain), ("With this cache", case.broken)):
        words = trace.text.split()
        if case.first is not None:
            words[case.first] = f"[{words[case.first]}]"
        st.caption(label)
        st.code(" ".join(words), language=None, wrap_lines=True)


def rates(right: Trace, broken: Trace) -> list[dict[str, str]]:
    """The two runs in numbers."""
    return [
        {
            "run": name,
            "target passes": str(t.target_passes),
            "tokens per pass": number(t.tokens_per_pass),
            "accepted": str(sum(r.accepted for r in t.rounds)),
            "rejected": str(sum(r.rejected for r in t.rounds)),
            "α": number(t.alpha),
        }
        for name, t in (("right caches", right), ("this cache", broken))
    ]


def cells(found: list[Cell], vocab: list[str]) -> str:
    """The cache as a line: ✗ before a stale cell, ∅ before one that is lost."""
    return " ".join(GLYPHS[c.state] + (vocab[c.token] or "⟨start⟩") for c in found)


def _holds(case: Case, name: str) -> str:
    counts = Counter(c.state for c in case.cache.cells)
    who = "target" if name.endswith("target") else "drafter"
    if counts["stale"] or counts["lost"]:
        return (
            f"The {who}'s cache says {case.cache.length} cells, as the engine expects. At the end "
            f"of the run it holds {counts['right']} that belong to the text, "
            f"**{counts['stale']} stale** (✗: the text dropped them, later tokens still read them) "
            f"and lacks **{counts['lost']}** (∅: the text has them, nothing reads them):"
        )
    return f"The {who}'s cache says {case.cache.length} cells, and holds just these of the text:"


def _account(case: Case, name: str) -> dict[str, str]:
    """The ledger as the lengths tell it, beside what was really dropped."""
    entries = ledger(case.broken)
    target = name.endswith("target")
    total = sums([e.target if target else e.drafter for e in entries])[-1]
    counts = Counter(c.state for c in case.cache.cells)
    dropped = total.rolled_back - counts["stale"]
    if name.startswith("twice"):
        dropped += counts["lost"]
    return {
        "by the lengths: fed": str(total.fed),
        "kept": str(total.kept),
        "rolled back": str(total.rolled_back),
        "really dropped": str(dropped),
        "never fed": str(counts["lost"] if name.startswith("owed") else 0),
    }


def _real(name: str) -> None:
    """The same fault in a cache of the default pair, on request."""
    fault, _, where = name.partition("-")
    if fault not in FAULTS or not where:
        return
    st.markdown(
        "**And a real pair?** The toys are strict: one wrong word before it, and a guess is worth "
        "nothing. A transformer forgives more, which makes the fault harder to see."
    )
    watched(
        f"caches real {name}",
        "Break it in the default pair",
        lambda job: _run(job, fault, where),
        lambda found: found and _found(*found),
        engine.progress,
    )


def _run(job: Job, fault: str, where: str) -> tuple[Trace, Trace, Trace] | None:
    """The target alone, right caches, broken ones: at one shape, so that no near-tie parts them."""
    pair = engine.load()
    [prompt] = [p for p in presets() if p.name == "code"]
    options = {"max_new_tokens": REAL, "chat": prompt.chat, "tops": 0, "rows": ROWS}
    field = {"target": "target", "drafter": "draft"}[where]
    broken = replace(pair, **{field: Broken(getattr(pair, field), fault)})
    runs = []
    for words, model, k in (
        ("The target alone", pair, 0),
        ("With right caches", pair, 4),
        ("With the broken one", broken, 4),
    ):
        job.say(len(runs) / 3, words)
        with engine.GATE.turn(job):
            runs.append(generate(model, prompt.prompt, k=k, **options))
        if job.cancelled:
            return None
    return tuple(runs)


def _found(plain: Trace, right: Trace, broken: Trace) -> None:
    st.caption(source(right))
    at = compare(broken, plain).first
    words = f"✗ parts at token {at + 1}" if at is not None else "✓ the same tokens"
    st.markdown(f"With the broken cache, beside the target alone: {words}.")
    st.code(broken.text, language=None, wrap_lines=True)
    st.table(rates(right, broken))
