"""Page 7 in words and tables: the question, the verdict, and what each chart shows."""

from __future__ import annotations

import numpy as np

from specdec import batch, theory
from specdec.independence import independence
from specdec.jitter import waits
from specdec.machine import Machine, TimedRun, v_between
from specdec.profile import named
from specdec.ui.live_rates import number
from specdec.ui.machine import WORDS
from specdec.waterfall import NAMES, Waterfall, best, c_of, curve, measured, predicted, waterfall

NEAR = 0.05  # of a speed-up: what counts as “about the same”
GUESSES = ("Clearly less", f"About the same (within {NEAR:.0%})", "Clearly more")
CAUSES = dict(
    zip(
        NAMES,
        (
            "k passes of the drafter before each check",
            "a pass over k + 1 tokens takes longer than one over 1",
            "the chance of a guess depends on its place in the draft",
            "rounds that draft fewer than k, and guesses beyond the last token",
            "passes take other times in a run: a cache of another length, other data in between",
            "tests, bookkeeping, a lookup's search, and plain decoding's own share",
        ),
    )
)


def question(machine: Machine, run: TimedRun) -> str:
    """What to predict before looking."""
    return (
        f"**Predict first.** The {WORDS[run.drafter]} at k = {run.k} had α = {number(run.alpha)} "
        f"and c = {c_of(machine, run):.3f} here; with these the article's formula promises "
        f"**{ideal(machine, run):.2f}×**. What did the clock say?"
    )


def answer(machine: Machine, run: TimedRun, guess: str) -> tuple[bool, str]:
    """Whether the guess was right, and the measured number."""
    speed, promised = measured(machine, run)[1], ideal(machine, run)
    off = speed / promised - 1
    right = GUESSES[0 if off < -NEAR else 2 if off > NEAR else 1]
    return guess == right, f"Measured: {speed:.2f}×, that is {off:+.0%} against {promised:.2f}×."


def ideal(machine: Machine, run: TimedRun) -> float:
    """The article's speed-up: v = 0, no overhead."""
    return theory.speedup(run.alpha or 0.0, run.k, c_of(machine, run))


def verdict(machine: Machine, run: TimedRun) -> str:
    """Whether to speculate here, why, and with which k."""
    fall, speed = waterfall(machine, run), measured(machine, run)[1]
    k, fastest = best(machine, run)
    words = WORDS[run.drafter]
    if fall is None:
        return f"**{speed:.2f}×.** The {words} proposed nothing that was judged."
    why = f"**{speed:.2f}×** at k = {run.k}, because {reasons(fall)}"
    if not k:
        return f"**▼ Don't speculate here** with the {words}: {why}; no k is predicted to pay."
    here = float(curve(machine, run, np.array([run.k]))[0])
    advice = f"use **k = {k}**: predicted {fastest:.2f}×, against {here:.2f}× at k = {run.k}"
    if k == run.k:
        advice = "no other k up to 16 is predicted to be faster"
    return f"**{'▲ Speculate' if speed > 1 else '▼ Not with this k'}:** {why}; {advice}."


def reasons(fall: Waterfall) -> str:
    """The two causes that take most from the ideal."""
    worst = sorted((b for b in fall.bars if b.change < 0), key=lambda b: b.change)[:2]
    parts = [f"{bar.name} takes {-bar.change:.2f}" for bar in worst]
    lost = " and ".join(parts) if parts else "nothing is lost"
    return f"from an ideal {fall.start:.2f}× {lost}"


def figures(machine: Machine, run: TimedRun) -> list[tuple[str, str, str | None, str]]:
    """Label, value, remark and help of the numbers in a row."""
    least, middle, most = measured(machine, run)
    guess = predicted(machine, run)
    value = "n/a" if guess is None else f"{guess:.2f}×"
    off = None if guess is None else f"{guess / middle - 1:+.0%}"
    first, spread = machine.target.seconds[0], f"{least:.2f} to {most:.2f}"
    return [
        ("Measured", f"{middle:.2f}×", spread, "The median over the repeats, and their range."),
        (
            "Predicted here",
            value,
            off,
            "With this machine's pass times and the run's α; below, how far off.",
        ),
        ("c", f"{c_of(machine, run):.3f}", None, "A drafter pass ÷ a target pass."),
        ("Target pass", f"{first * 1e3:.1f} ms", None, "Over one token."),
        ("Fixed cost a round", f"{run.own * 1e3:.1f} ms", None, "All of a round but its passes."),
    ]


def ranges(machine: Machine) -> list[dict[str, str]]:
    """Pass times and v on every stretch."""
    times, rows = machine.target, []
    stretches = [None, *v_between(times)]
    for n, seconds, v in zip(times.tokens, times.seconds, stretches):
        rows.append(
            {
                "tokens in one pass": str(n),
                "milliseconds": f"{seconds * 1e3:.1f}",
                "÷ a pass over 1": f"{seconds / times.seconds[0]:.2f}",
                "v since the row above": "" if v is None else f"{v:.3f}",
                "per token": f"{seconds / n * 1e3:.2f} ms",
            }
        )
    return rows


def bars(fall: Waterfall) -> list[dict[str, str]]:
    """The waterfall in numbers."""
    start = {"cause": "ideal", "change": "", "speed-up after it": f"{fall.start:.3f}×"}
    start["what it is"] = "tokens per pass: free drafts, free checks, independent guesses"
    rows = [
        {
            "cause": bar.name,
            "change": f"{bar.change:+.3f}",
            "speed-up after it": f"{bar.after:.3f}×",
            "what it is": CAUSES[bar.name],
        }
        for bar in fall.bars
    ]
    return [start, *rows]


def batches(machine: Machine, run: TimedRun) -> list[dict[str, str]]:
    """Best k at each batch size, as far as the timed passes reach."""
    rows = []
    for size in batch.BATCHES:
        if size > min(machine.draft.tokens[-1], machine.target.tokens[-1]):
            break
        k, speed, reach = batch.best(machine, run, size)
        [own] = batch.speedup(machine, run, size, np.array([run.k]))
        rows.append(
            {
                "B": str(size),
                "best k": "0: don't" if not k else str(k),
                "speed-up there": f"{speed:.2f}×",
                f"at k = {run.k}": "not timed" if np.isnan(own) else f"{own:.2f}×",
                "k looked at": f"0 to {reach}",
            }
        )
    return rows


def dial(machine: Machine, run: TimedRun, size: int) -> str:
    """The batch that the reader chose."""
    if size > min(machine.draft.tokens[-1], machine.target.tokens[-1]):
        return f"**B = {size}:** more tokens than the longest timed pass."
    k, speed, reach = batch.best(machine, run, size)
    flat = batch.ridge(machine)
    words = f"A pass over {flat} tokens costs at most a quarter more than over one here"
    if flat == 1:
        words = "Every timed pass over more than one token costs over a quarter more here"
    if not k:
        return f"**B = {size}: don't speculate.** {words}; k up to {reach} was looked at."
    return f"**B = {size}: k = {k}, {speed:.2f}×.** {words}; k up to {reach} was looked at."


def arrivals(machine: Machine, drafter: str) -> list[dict[str, str]]:
    """Percentiles of the time between tokens against k."""
    rows = []
    for run in (machine.plain, *machine.of(drafter)):
        found = waits(run)
        if found:
            ms = {name: f"{getattr(found, name) * 1e3:.1f} ms" for name in ("p50", "p90", "p99")}
            rows.append(
                {"run": named(run.drafter, run.k)}
                | {name.upper(): value for name, value in ms.items()}
                | {"mean": f"{found.mean * 1e3:.1f} ms", "tokens at once": f"{found.burst:.2f}"}
            )
    return rows


def places(run: TimedRun) -> list[dict[str, str]]:
    """Acceptance at each place of the draft, given that all before were accepted."""
    found = independence(run.steps, run.k)
    return [
        {"place": str(i), "accepted": f"{p.accepted} of {p.judged}", "rate": f"{p.rate:.2f}"}
        for i, p in enumerate(found.positions if found else (), 1)
    ]


def dependence(run: TimedRun) -> str:
    """How far the closed form is off, and what the autocorrelation says."""
    found = independence(run.steps, run.k)
    if found is None:
        return "Nothing was judged in this run."
    judged = sum(step.judged for step in run.steps)
    noise = 2 / np.sqrt(judged)
    said = (
        "all verdicts are alike: there is none to see"
        if found.lag is None
        else f"{found.lag:+.2f}; chance alone stays within ±{noise:.2f} in 19 of 20 runs of "
        f"{judged} verdicts, so this run "
        + ("shows dependence" if abs(found.lag) > noise else "shows none for sure")
    )
    return (
        f"Tokens a pass: **{found.formula:.2f}** by the formula at α = {found.alpha:.2f}, "
        f"**{found.by_position:.2f}** from the rates of the places (formula {found.off:+.1%}), "
        f"**{found.observed:.2f}** as it was, with short drafts and the cut at the end. "
        f"Autocorrelation from one verdict to the next: {said}."
    )


def beside(one: Machine, other: Machine) -> list[dict[str, str]]:
    """Two measurements, number by number."""
    names = ("this one", "your file")
    rows = [_row("machine", names, [f"{m.source.machine}, {m.source.dtype}" for m in (one, other)])]
    rows.append(_row("target", names, [m.source.target for m in (one, other)]))
    rows.append(_row("prompt", names, [m.prompt for m in (one, other)]))
    ms = [f"{m.target.seconds[0] * 1e3:.1f} ms" for m in (one, other)]
    rows.append(_row("target pass over 1 token", names, ms))
    ratio = [f"{m.draft.seconds[0] / m.target.seconds[0]:.3f}" for m in (one, other)]
    rows.append(_row("c of the small model", names, ratio))
    rows.append(
        _row("tokens at + 25 % of a pass", names, [str(batch.ridge(m)) for m in (one, other)])
    )
    asked = dict.fromkeys((r.drafter, r.k) for m in (one, other) for r in m.runs[1:])
    for drafter, k in asked:
        cells = []
        for m in (one, other):
            run = next((r for r in m.of(drafter) if r.k == k), None)
            cells.append("not measured" if run is None else f"{measured(m, run)[1]:.2f}×")
        rows.append(_row(f"speed-up, {named(drafter, k)}", names, cells))
    return rows


def _row(what: str, names: tuple[str, str], cells: list[str]) -> dict[str, str]:
    return {"": what} | dict(zip(names, cells))
