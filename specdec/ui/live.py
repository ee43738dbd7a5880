"""What "Live pair" shows beside the stage: controls, rates, the check, in words and numbers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from specdec import measure, recordings, theory
from specdec.compare import Check
from specdec.law import Sampling
from specdec.presets import Preset, presets
from specdec.trace import Settings, Trace
from specdec.ui import query
from specdec.ui.engine import MAX_K, MAX_NEW_TOKENS, Asked
from specdec.ui.measured import Measured, remember
from specdec.ui.stage import Position, steps

OWN = "own"  # the name of a reader's own prompt
DRAFTERS = {"model": "small model", "lookup": "prompt lookup"}
RULES = {
    "pq": "min(1, p/q), else the residual",
    "match": "sampler-match: keep what the target draws too",
    "block": "block verification: the draft judged as a whole",
}
KEYS = (
    "k",
    "T",
    "top_k",
    "top_p",
    "n",
    "seed",
    "drafter",
    "prompt",
    "chat",
    "rule",
    "round",
    "step",
)
LIMITS = {
    "k": query.Number(4, 0, MAX_K, whole=True),
    "n": query.Number(64, 1, MAX_NEW_TOKENS, whole=True),
    "top_p": query.Number(1.0, 0.05, 1.0),
}


def controls(link: Mapping[str, Any]) -> Asked:
    """The settings, as widgets that start from a link."""
    known = {p.name: p for p in presets()}
    named = link["prompt"] if link["prompt"] in known else OWN if link["prompt"] else "chat"
    choice = st.segmented_control(
        "Prompt",
        [*known, OWN],
        default=named,
        format_func=lambda name: known[name].title if name in known else "Your own",
        key="live preset",
        required=True,
    )
    left, right = st.columns([3, 2], gap="large")
    with left:
        prompt, chat = _prompt(choice, known, link)
    with right:
        drafter = st.segmented_control(
            "Drafter",
            list(DRAFTERS),
            default=link["drafter"],
            format_func=DRAFTERS.get,
            key="live drafter",
            required=True,
        )
        k = st.slider("k, drafted tokens a round", 0, MAX_K, link["k"], key="live k")
        temperature = st.slider(
            "Temperature (0: greedy)", 0.0, 2.0, float(link["T"]), 0.05, key="live T"
        )
        with st.popover("Top-k, top-p, length, rule, seed", width="stretch"):
            top_k = st.number_input("Top-k (0: off)", 0, 1000, link["top_k"], key="live top_k")
            top_p = st.slider("Top-p (1: off)", 0.05, 1.0, float(link["top_p"]), key="live top_p")
            n = st.slider("Tokens at most", 1, MAX_NEW_TOKENS, link["n"], key="live n")
            rule = st.radio(
                "Rule", list(RULES), list(RULES).index(link["rule"]), RULES.get, key="live rule"
            )
            seed = st.number_input("Seed", 0, 2**32 - 1, link["seed"], key="live seed")
    sampling = Sampling(temperature, int(top_k), top_p)
    return Asked(prompt, Settings(k, drafter, sampling, n, int(seed), rule, chat=chat))


def _prompt(choice: str, known: Mapping[str, Preset], link: Mapping[str, Any]) -> tuple[str, bool]:
    if choice in known:
        preset = known[choice]
        st.text_area(
            "The prompt", preset.prompt, disabled=True, height=140, key=f"live text {choice}"
        )
        return preset.prompt, preset.chat
    own = "" if link["prompt"] in known else link["prompt"]
    text = st.text_area(
        "The prompt", own, height=140, max_chars=2000, key="live own", placeholder="Any text"
    )
    label = "As a chat message (else: text to continue)"
    return text, st.checkbox(label, link["chat"] == "1", key="live chat")


def recorded(asked: Asked, name: str) -> recordings.Recording:
    """The recorded run nearest to what is asked for."""
    s = asked.settings
    way = "lookup" if s.drafter == "lookup" else "model" if s.sampling.greedy else "sampled"
    return recordings.load(name if name != OWN else "chat", way)


def link_to(asked: Asked, name: str, place: Position) -> dict[str, Any]:
    """The values of the link to a place in what was asked for; a preset's prompt by its name."""
    s = asked.settings
    return {
        "prompt": asked.prompt if name == OWN else name,
        "chat": int(s.chat),
        "drafter": s.drafter,
        "k": s.k,
        "T": s.sampling.temperature,
        "top_k": s.sampling.top_k,
        "top_p": s.sampling.top_p,
        "n": s.max_new_tokens,
        "seed": s.seed,
        "rule": s.rule,
        "round": place.round,
        "step": place.step,
    }


def telling(trace: Trace) -> Position:
    """The end of the first round in which all happens: two kept, one rejected, some discarded."""
    for r in trace.rounds:
        if r.accepted >= 2 and r.rejected and len(r.drafted) > r.accepted + 1:
            return Position(r.index + 1, steps(r) - 1)
    return Position(1, 0)


def source(trace: Trace) -> str:
    """Where a trace comes from, in a sentence."""
    s = trace.source
    where = f"{s.dtype} on {s.device}, {s.machine}"
    if s.kind == "recorded":
        return f"**Recorded** on {s.when}: {s.target} with {s.drafter}, {where}."
    return f"**Live**, decoded just now: {s.target} with {s.drafter}, {where}."


def rates(trace: Trace, plain: Trace | None) -> None:
    """The four rates and the speed, as numbers in a row."""
    fast = plain and measure.measured_speedup(trace, plain)
    columns = st.columns(5)
    per = " · ".join(number(x) for x in trace.per_position[:6]) or "n/a"
    columns[0].metric("Tokens per pass", number(trace.tokens_per_pass), help=HELP["tokens"])
    columns[1].metric("α (of the judged)", number(trace.alpha), help=HELP["alpha"])
    columns[2].metric("Draft yield", number(trace.draft_yield), help=HELP["yield"])
    columns[3].metric("Measured speed-up", f"{fast:.2f} ×" if fast else "n/a", help=HELP["speed"])
    if trace.settings.rule != "pq":
        st.caption(
            "Under this rule accepted ÷ judged is not Σ min(p, q): the formulas take it as an α "
            "all the same, so read the prediction as a rough one."
        )
    costs = measure.costs_of(trace, plain) if plain else None
    guess = measure.predicted_speedup(trace, costs) if costs else None
    columns[4].metric("Predicted", f"{guess:.2f} ×" if guess else "n/a", help=HELP["predicted"])
    st.caption(
        f"Accepted at position 1, 2, … of the draft, of all rounds: {per}. {advice(trace, costs)}"
    )
    if fast and guess and trace.source.kind == "live":
        label = f"{trace.source.drafter}, k = {trace.settings.k}"
        remember(Measured(label, trace.settings.k, trace.alpha, costs.c, costs.v, fast))


def advice(trace: Trace, costs: measure.Costs | None) -> str:
    """Which k the closed form would take with this run's α, c and v."""
    if costs is None or trace.alpha is None or not trace.draft_passes:
        return ""
    k = theory.best_k(trace.alpha, costs.c, costs.v, MAX_K)
    measured = f"With c = {costs.c:.2f} and v = {costs.v:.2f}, as these runs show,"
    if not k:
        return f"{measured} no draft of this kind pays: the best is k = 0."
    speed = theory.speedup(trace.alpha, k, costs.c, costs.v)
    return f"{measured} the best is k = {k}, with {speed:.2f} × by the formula."


HELP = {
    "tokens": "Written tokens ÷ target passes; corrections and bonus tokens included.",
    "alpha": "Accepted ÷ (accepted + rejected). Discarded tokens were never judged. "
    "This is the α of every formula.",
    "yield": "Accepted ÷ drafted: what engines log as acceptance rate. It falls with k.",
    "speed": "Seconds per token of plain decoding ÷ of this run, both measured, prefill left out.",
    "predicted": "The closed form at this run's α, with c and v from these two runs.",
}


def number(x: float | None) -> str:
    """Two decimals, or n/a where nothing was counted."""
    return "n/a" if x is None else f"{x:.2f}"


def verdict(trace: Trace, plain: Trace | None, check: Check | None) -> str:
    """Is the text the target's own? One paragraph."""
    if plain is None:
        return ""
    if not trace.settings.sampling.greedy:
        return (
            "Sampled: the same *law* as plain decoding, not the same text. Page “The rule” is "
            "about why; only greedy texts can be compared word for word."
        )
    if check is None:
        return "Not compared word for word."
    if check.natural.equal:
        return f"✓ The same {len(trace.token_ids)} tokens as plain decoding, one by one."
    at = check.natural.first
    words = f"The two texts part at token {at + 1}. "
    if check.tie:
        words += (
            f"There the target's two best logits are {check.tie.gap:.3g} apart: a near tie, which "
            f"{trace.source.dtype} rounds differently in a pass over one row and over several. "
        )
    if check.fixed and check.fixed.equal:
        words += "With every pass at one fixed shape the two are the same, bit for bit ✓"
    elif check.fixed:
        words += (
            f"At one fixed shape they part too, at token {check.fixed.first + 1}: please report it."
        )
    return words
