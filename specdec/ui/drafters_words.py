"""Page 6 in sentences and tables: who was first, what each way pays, and what to notice."""

from __future__ import annotations

from specdec.compare import compare
from specdec.contest import Contest, Entry
from specdec.measure import predicted_speedup, priced_speedup
from specdec.ui.drafters import WORDS, Chosen
from specdec.ui.race import origin

PLACES = 4  # of a draft whose acceptance the table has
SLIGHT = 0.02  # of a speed-up: no more than chance


def question(chosen: Chosen) -> tuple[str, tuple[str, ...]]:
    """What to predict, and the answers there are."""
    names = ("plain", *chosen.ways)
    return "All write the same prompt's answer. **Who is first?**", names


def answer(contest: Contest, ways: tuple[str, ...], guess: str) -> tuple[bool, str]:
    """Whether the guess was right, and who was first, and who wrote the most a pass."""
    speeds = {"plain": 1.0} | {name: contest.speedups(name)[1] for name in ways}
    best = max(speeds, key=speeds.get)
    right = speeds[guess] >= speeds[best] - SLIGHT
    words = f"First was **{WORDS[best]}**, {speeds[best]:.2f}× plain decoding"
    words += "." if guess == best else f"; {WORDS[guess]} came to {speeds[guess]:.2f}×."
    most = max(("plain", *ways), key=lambda name: contest.entry(name).trace.tokens_per_pass)
    if speeds[most] < speeds[best] - SLIGHT:
        trace = contest.entry(most).trace
        words += (
            f" The most tokens a target pass had {WORDS[most]}, {trace.tokens_per_pass:.2f}: what "
            f"it spends on {trace.draft_passes} draft passes and longer checks ate the gain."
        )
    return right, words


def source(contest: Contest) -> str:
    """Where the contest comes from, in a line."""
    s, n = contest.source, len(contest.plain.seconds)
    begin = origin(contest.plain.trace)
    return (
        f"{begin[:1].upper()}{begin[1:]} · {s.target} · {s.dtype} on {s.device} · {s.machine} · "
        f"every way {n} time{'s' * (n != 1)}, in turn; drawn is the middle one"
    )


def label(entry: Entry) -> str:
    """A way with its k: what was asked of it in a round."""
    s = entry.trace.settings
    if not s.k:
        return WORDS[entry.name]
    if s.adaptive:
        ks = [r.k for r in entry.trace.rounds]
        return f"{WORDS[entry.name]}, {min(ks)} to {max(ks)}"
    what = "guesses in" if entry.name == "tree" else "k ="
    tail = f"{s.k} {what} a round" if entry.name == "tree" else f"{what} {s.k}"
    return f"{WORDS[entry.name]}, {tail}"


def table(contest: Contest, ways: tuple[str, ...]) -> list[dict[str, str]]:
    """A row for each way: what it kept, what it paid, what was to be expected and what came."""
    return [_row(contest, contest.entry(name)) for name in ("plain", *ways)]


def _row(contest: Contest, entry: Entry) -> dict[str, str]:
    trace, costs = entry.trace, contest.costs(entry.name)
    least, middle, most = contest.speedups(entry.name)
    drafts = trace.settings.k > 0
    return {
        "way": label(entry),
        "kept at 1, 2, …": " ".join(map(_rate, trace.per_position[:PLACES])) or "–",
        "α": _rate(trace.alpha),
        "tokens a pass": f"{trace.tokens_per_pass:.2f}",
        "draft passes": str(trace.draft_passes) if drafts else "–",
        "c": _rate(costs and costs.c, 3),
        "v": _rate(costs and costs.v, 3),
        "memory": memory(entry),
        "by α": _times(costs and predicted_speedup(trace, costs)),
        "by its passes": _times(costs and priced_speedup(trace, costs)),
        "measured": "1×" if entry.name == "plain" else f"{middle:.2f}×",
        "spread": "–" if entry.name == "plain" else f"{least:.2f} to {most:.2f}",
        "text": _same(contest, entry),
    }


def memory(entry: Entry) -> str:
    """What the drafter adds to the target's memory: its weights, and its cache of this text."""
    found, trace = entry.trace.source.memory, entry.trace
    if not found or not trace.settings.k or not found.drafter_weights:
        return "none" if trace.settings.k else "–"
    tokens = len(trace.prompt) + len(trace.token_ids)
    cache = found.drafter_token * tokens / 1e6
    return f"{found.drafter_weights / 1e6:.0f} + {cache:.1f} MB"


def _same(contest: Contest, entry: Entry) -> str:
    if entry.name == "plain":
        return "–"
    if not contest.greedy:
        return "same law"
    found = compare(entry.trace, contest.plain.trace)
    return "the same" if found.equal else f"parts at {found.first + 1}"


def below(contest: Contest, ways: tuple[str, ...]) -> str:
    """What the columns mean, and why a text may part."""
    words = (
        "Kept at 1, 2, …: the share of rounds that kept a guess at that place, of those that "
        "drafted so far. c: a draft pass ÷ a plain target pass; v: what one more checked position "
        "adds; both as these runs show them. **By α**: the closed forms at the run's own α, for "
        "chains. **By its passes**: what it wrote ÷ the price of its passes, trees too. Memory: "
        "the drafter's weights + its cache of this text. Spread: least and most of the turns."
    )
    rows = [_same(contest, contest.entry(name)) for name in ways]
    if any(row.startswith("parts") for row in rows):
        words += (
            " A text that parts met a near tie, which passes over more or fewer rows round "
            "differently; “Where it goes wrong” has the gap."
        )
    return words


def notices(contest: Contest, ways: tuple[str, ...]) -> tuple[str, ...]:
    """What to see in this very contest, as far as it is there to be seen."""
    found = ["A tree keeps at most one path: more guesses for a place, fewer places ahead."]
    if "early-exit" in ways:
        costs = contest.costs("early-exit")
        found.append(
            f"Early exit needs no weights of its own, but a draft pass is {costs.c:.2f} of a "
            "target pass here: it cannot pay before the target is trained to be left early."
        )
    if "lookup" in ways:
        trace = contest.entry("lookup").trace
        idle = sum(not r.drafted for r in trace.rounds)
        found.append(
            f"Lookup had nothing to copy in {idle} of {len(trace.rounds)} rounds: those cost as "
            "much as plain decoding, and no more."
        )
    if "oracle" in ways:
        trace = contest.entry("oracle").trace
        found.append(
            f"The oracle writes {trace.tokens_per_pass:.2f} tokens a pass, and pays for no draft: "
            f"no chain of k = {trace.settings.k} can write more."
        )
    if "random" in ways:
        speed = contest.speedups("random")[1]
        found.append(
            f"Random guesses: {speed:.2f}×, and the text is the target's all the same. A bad "
            "drafter costs time, never the law."
        )
    return tuple(found)


def _rate(x: float | None, digits: int = 2) -> str:
    return "n/a" if x is None else f"{x:.{digits}f}"


def _times(x: float | None) -> str:
    return "–" if x is None else f"{x:.2f}×"
