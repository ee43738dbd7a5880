"""A drafter's model card: markdown, every number of which was computed or measured."""

from __future__ import annotations

from collections.abc import Sequence

from specdec.distill import results
from specdec.distill.about import Facts, training, what
from specdec.distill.results import Result
from specdec.distill.tables import number, spread, table

ROWS = 12  # of the curve


def card(facts: Facts, found: Sequence[Result]) -> str:
    """The whole card."""
    sections = (what(facts), training(facts), greedy(facts, found), sampled(facts, found))
    parts = [*sections, costs(facts, found), curve(facts)]
    return "\n\n".join("\n".join(part) for part in parts if part) + "\n"


def greedy(facts: Facts, found: Sequence[Result]) -> list[str]:
    """Acceptance by kind of prompt and by depth."""
    kinds = {r.kind: [x for x in found if x.kind == r.kind] for r in found} | {"**all**": found}
    depths = [f"depth {i + 1}" for i in range(facts.k)]
    rows, more = [], []
    for kind, some in kinds.items():
        counts = results.total([r.greedy.counts for r in some])
        per_pass = counts.tokens / counts.passes
        rates = [per_pass, results.alpha(counts), *results.conditional(counts)]
        rows.append([kind, str(len(some)), *map(number, rates)])
        more.append([kind, *map(number, results.cumulative(counts))])
    equal = sum(r.greedy.equal for r in found)
    return [
        f"## Greedy, k = {facts.k}, {facts.n} tokens a prompt",
        "",
        "Acceptance where all depths before were accepted (what the target judged):",
        "",
        *table(["prompts", "number", "tokens a pass", "α", *depths], rows),
        "",
        "Share of the rounds that accepted so far:",
        "",
        *table(["prompts", *depths], more),
        "",
        f"The text was plain decoding's, token by token, in {equal} of {len(found)} runs "
        f"(in {facts.hardware[0]}; in low precision two right texts can part at a near tie).",
    ]


def sampled(facts: Facts, found: Sequence[Result]) -> list[str]:
    """Overlap at temperature 1."""
    counts = results.total([r.sampled for r in found])
    rows = [
        ["Σ min(p, q)", *map(number, results.overlaps(counts))],
        ["accepted", *map(number, results.conditional(counts))],
        ["judged", *map(str, counts.judged)],
    ]
    return [
        "## At temperature 1",
        "",
        "Mean Σ min(p, q) of the full laws where all depths before were accepted, and what was "
        "accepted of the drafts drawn there:",
        "",
        *table(["", *(f"depth {i + 1}" for i in range(facts.k))], rows),
    ]


def costs(facts: Facts, found: Sequence[Result]) -> list[str]:
    """c, its floor, and what became of it, as medians over the greedy runs."""
    dtype, _, machine = facts.hardware
    names = {"c": "c, a drafter pass ÷ a target pass", "v": "v, one more position verified"}
    names |= {"measured": "speed-up, measured", "predicted": "speed-up by the formula"}
    rows = [[words, *spread([getattr(r.greedy, n) for r in found])] for n, words in names.items()]
    return [
        f"## Cost, on {machine} in {dtype}",
        "",
        *table(["", "median", "least", "most"], rows),
        "",
        f"A drafter pass reads {facts.bytes_ratio:.3f} of the bytes that a target pass reads: "
        "where memory is what waits, c cannot be less.",
    ]


def curve(facts: Facts) -> list[str]:
    """Acceptance against the amount of text, from the log."""
    lines = [line for line in facts.log if "held" in line]
    if not lines:
        return []
    lines = [lines[round(i * (len(lines) - 1) / max(1, ROWS - 1))] for i in range(ROWS)]
    rows = [
        [
            str(x["text"]),
            str(x["step"]),
            *map(number, x["held"]["greedy"]),
            *map(number, x["held"]["overlap"]),
        ]
        for x in {line["step"]: line for line in lines}.values()
    ]
    depths = range(1, len(lines[0]["held"]["greedy"]) + 1)
    heads = [f"greedy {d}" for d in depths] + [f"overlap {d}" for d in depths]
    return [
        "## Against the amount of text",
        "",
        "Measured while training, on held-out texts without the engine, with averaged weights; "
        "text and steps grow together. The overlap is over the 8 ids stored of p, so a little too "
        "low.",
        "",
        *table(["different tokens seen", "steps", *heads], rows),
    ]
