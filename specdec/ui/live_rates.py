"""The rates of a run on "Live pair": as numbers in a row, and why four of them differ."""

from __future__ import annotations

import streamlit as st

from specdec import measure, theory
from specdec.trace import Trace
from specdec.ui.engine import MAX_K
from specdec.ui.measured import Measured, remember
from specdec.ui.shown import Shown

HELP = {
    "tokens": "Written tokens ÷ target passes; corrections and bonus tokens included.",
    "alpha": "Accepted ÷ (accepted + rejected). Discarded tokens were never judged. "
    "This is the α of every formula.",
    "yield": "Accepted ÷ drafted: what engines log as acceptance rate. It falls with k.",
    "speed": "The speed-up: seconds per token of plain decoding ÷ of this run, both measured, "
    "prefill left out.",
    "predicted": "The speed-up by the closed form at this run's α, with c and v from these runs.",
}


def rates(run: Shown) -> None:
    """Tokens per pass, α, yield, measured and predicted speed-up; a live run is remembered."""
    trace, plain = run.trace, run.plain
    fast = plain and measure.measured_speedup(trace, plain)
    columns = st.columns(5)
    columns[0].metric("Tokens per pass", number(trace.tokens_per_pass), help=HELP["tokens"])
    columns[1].metric("α (judged)", number(trace.alpha), help=HELP["alpha"])
    columns[2].metric("Draft yield", number(trace.draft_yield), help=HELP["yield"])
    columns[3].metric("Measured", f"{fast:.2f} ×" if fast else "n/a", help=HELP["speed"])
    if trace.settings.rule != "pq":
        st.caption(
            "Under this rule accepted ÷ judged is not Σ min(p, q): the formulas take it as an α "
            "all the same, so read the prediction as a rough one."
        )
    costs = measure.costs_of(trace, plain) if plain else None
    guess = measure.predicted_speedup(trace, costs) if costs else None
    columns[4].metric("Predicted", f"{guess:.2f} ×" if guess else "n/a", help=HELP["predicted"])
    if words := advice(trace, costs):
        st.caption(words)
    if fast and guess and run.live:
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


def explained(run: Shown) -> None:
    """The four rates of this run with their counts, and how the yield falls with k."""
    trace = run.trace
    if trace.alpha is None:
        st.markdown("Nothing was judged in this run, so no rate of acceptance exists: “n/a”.")
        return
    st.markdown(story(trace))
    st.table(counted(trace), border="horizontal")
    st.markdown(
        "**Why the yield falls with k.** A longer draft adds places behind a rejected token, and "
        "what stands there is discarded whatever it is. α looks at judged tokens only and stays."
    )
    st.dataframe(falling(trace.alpha, max(8, trace.settings.k)), hide_index=True, width="content")


def story(trace: Trace) -> str:
    """What became of all drafted tokens, in a sentence or two."""
    accepted, judged, drafted = counts(trace)
    words = (
        f"{drafted} tokens were drafted. {judged} of them were judged, of which {accepted} were "
        f"accepted and {judged - accepted} rejected; {drafted - judged} were discarded unjudged, "
        "behind a rejected one."
    )
    cut = sum(len(r.drafted) for r in trace.rounds) - drafted
    if cut:
        words += f" {cut} more stood beyond the end of the text: they count nowhere."
    return words


def counts(trace: Trace) -> tuple[int, int, int]:
    """Accepted, judged and drafted tokens, after cuts."""
    accepted = sum(r.accepted for r in trace.rounds)
    return (
        accepted,
        accepted + sum(r.rejected for r in trace.rounds),
        sum(r.counted for r in trace.rounds),
    )


def counted(trace: Trace) -> list[dict[str, str]]:
    """Rows of the table of the four rates."""
    accepted, judged, drafted = counts(trace)
    written, passes = len(trace.written), trace.target_passes
    each = " · ".join(number(x) for x in trace.per_position[:8])
    return [
        _row("α", f"{accepted} ÷ {judged} judged", number(trace.alpha), "what the formulas take"),
        _row(
            "draft yield",
            f"{accepted} ÷ {drafted} drafted",
            number(trace.draft_yield),
            "what engines log as acceptance rate; no formula takes it",
        ),
        _row(
            "per position",
            "rounds that accepted their 1st, 2nd, … ÷ rounds that drafted it",
            each,
            "falls about as α, α², … would",
        ),
        _row(
            "tokens per pass",
            f"{written} written ÷ {passes} target passes",
            number(trace.tokens_per_pass),
            "the gain before its price; never below 1",
        ),
    ]


def _row(rate: str, counted: str, value: str, use: str) -> dict[str, str]:
    return {"rate": rate, "counted": counted, "value": value, "what it is good for": use}


def falling(alpha: float, k_max: int) -> dict[str, list]:
    """Columns: k, and what the closed form gives at this α for tokens a pass and yield."""
    ks = list(range(1, k_max + 1))
    tokens = [theory.tokens_per_pass(alpha, k) for k in ks]
    return {
        "k": ks,
        "tokens a pass": [round(t, 2) for t in tokens],
        "draft yield": [round((t - 1) / k, 2) for t, k in zip(tokens, ks)],
        "α": [round(alpha, 2)] * len(ks),
    }


def number(x: float | None) -> str:
    """Two decimals, or n/a where nothing was counted."""
    return "n/a" if x is None else f"{x:.2f}"
