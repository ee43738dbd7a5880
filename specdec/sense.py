"""Whether a trace from a file can have happened: types say what a field is, this what it may be.

A file that somebody hands on is opened on the stage like any run, so it must not lie to it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from specdec import tree_rounds, tree_rule

if TYPE_CHECKING:
    from specdec.trace import Drafted, Memory, Round, Top, Trace

SLACK = 1e-6  # sums of probabilities that were rounded on their way
MOST_ROUNDS, MOST_TOKENS, MOST_TOPS = 4096, 32768, 10
MOST_K, MOST_SECONDS, MOST_BYTES = 1024, 1e6, 2**53  # a page lays out rows, clocks and sizes


def check(trace: Trace) -> None:
    """ValueError with the place in the trace and what cannot be there."""
    _need(len(trace.rounds) <= MOST_ROUNDS, "trace", f"more than {MOST_ROUNDS} rounds")
    _need(len(trace.prompt) <= MOST_TOKENS, "trace", f"a prompt of over {MOST_TOKENS} tokens")
    _need(trace.settings.k >= 0, "trace.settings", "k is negative")
    _need(trace.settings.k <= MOST_K, "trace.settings", f"k is more than {MOST_K}")
    _chances((trace.settings.confidence,), "trace.settings.confidence")
    _memory(trace.source.memory, "trace.source.memory")
    at, last = len(trace.prompt), len(trace.rounds) - 1
    for i, r in enumerate(trace.rounds):
        where = f"trace.rounds[{i}]"
        _need(r.index == i, where, f"its index is {r.index}")
        _need(r.start == at, where, f"it starts at {r.start}, but {at} tokens stand before it")
        _need(i == last or r.stop_reason is None, where, "rounds follow one that ended the text")
        _round(r, where)
        at += len(r.written)
    if trace.rounds and trace.stop_reason != "cancelled":
        same = trace.rounds[-1].stop_reason == trace.stop_reason
        _need(same, "trace", "its stop reason is not that of its last round")


def _memory(memory: Memory | None, where: str) -> None:
    if memory is None:
        return
    target = memory.target_weights, memory.target_token
    drafter = memory.drafter_weights, memory.drafter_token
    _need(min(target) > 0, where, "a target and its cache weigh more than 0 bytes")
    _need(min(drafter) >= 0, where, "a negative number of bytes")
    _need(max(*target, *drafter) <= MOST_BYTES, where, f"more than {MOST_BYTES} bytes")


def _round(r: Round, where: str) -> None:
    verdicts = [token.verdict for token in r.drafted]
    order = ["accepted", "rejected", "discarded"]
    for i, token in enumerate(r.drafted):
        _need(-1 <= token.parent < i, f"{where}.drafted[{i}]", f"its parent is {token.parent}")
    if tree_rounds.branches(r):
        _tree(r, where)
    else:
        _need(verdicts == sorted(verdicts, key=order.index), where, "its verdicts are out of order")
        _need(r.rejected <= 1, where, "two drafted tokens are rejected")
    _need(len(r.drafted) <= r.k, where, f"{len(r.drafted)} drafted tokens of k = {r.k} asked for")
    _need(bool(r.written), where, "it wrote nothing")
    _need(r.k <= MOST_K, where, f"k is more than {MOST_K}")
    _need(r.draft_passes >= 0, where, "a negative number of draft passes")
    _need(r.draft_passes <= MOST_TOKENS, where, f"more than {MOST_TOKENS} draft passes")
    _written(r, where)
    times = (r.seconds.draft, r.seconds.verify, r.seconds.accept, r.seconds.prefill)
    _need(min(times) >= 0, where, "negative seconds")
    _need(max(times) <= MOST_SECONDS, where, f"more than {MOST_SECONDS:g} seconds")
    lengths = (*r.lengths.target, *(r.lengths.drafter or ()))
    _need(min(lengths) >= 0, where, "a negative length of a cache")
    _need(max(lengths) <= 2 * MOST_TOKENS, where, f"a cache of over {2 * MOST_TOKENS} tokens")
    for i, token in enumerate(r.drafted):
        _drafted(token, f"{where}.drafted[{i}]")
    for i, token in enumerate(r.written):
        _chances((token.p, token.u), f"{where}.written[{i}]")
        _top(token.p_top, f"{where}.written[{i}].p_top")


def _tree(r: Round, where: str) -> None:
    """The accepted tokens are a path; beside it the elder siblings are rejected, no others."""
    parents, path = tree_rounds.parents(r), tree_rounds.path(r)
    _need(r.rule == "pq", where, f"its draft is a tree, which {r.rule!r} cannot judge")
    _need([parents[i] for i in path] == [-1, *path][: len(path)], where, "it accepted no path")
    rejected = [i for i, token in enumerate(r.drafted) if token.verdict == "rejected"]
    judged = tree_rule.failed(parents, path)
    cut = [i for i in judged if parents[i] != (path[-1] if path else -1)]
    _need(rejected in (judged, cut), where, "its verdicts are out of order")


def _written(r: Round, where: str) -> None:
    """Accepted drafts, then a correction if what follows them was rejected, or else a bonus."""
    path, kinds = tree_rounds.path(r), [token.kind for token in r.written]
    kept = [token.id for token in r.written[: r.accepted]]
    ends = [t.verdict for t in r.drafted if t.parent == (path[-1] if path else -1)]
    _need(
        kinds[: r.accepted] == ["accepted"] * r.accepted, where, "accepted tokens are not written"
    )
    _need(kept == [r.drafted[i].id for i in path], where, "it wrote others than it accepted")
    allowed = ["corrected"] if "rejected" in ends else [] if ends else ["bonus"]
    _need(kinds[r.accepted :] in ([], allowed), where, "the kinds it wrote do not fit its verdicts")
    whole = len(kinds) > r.accepted or r.stop_reason is not None
    _need(whole, where, "the target's own token is missing")
    replaced = "rejected" not in ends or len(kinds) > r.accepted
    _need(replaced, where, "nothing replaced a rejected token")


def _drafted(token: Drafted, where: str) -> None:
    _chances((token.q, token.p, token.u, token.threshold), where)
    for name in ("p_top", "q_top", "residual_top"):
        _top(getattr(token, name), f"{where}.{name}")
    if token.mended:
        _need(token.verdict == "discarded", where, "only a discarded token is looked at again")
        _chances((token.mended.p, token.mended.u, token.mended.threshold), f"{where}.mended")
        _top(token.mended.p_top, f"{where}.mended.p_top")


def _top(top: Top | None, where: str) -> None:
    if top is None:
        return
    chances = [chance for _, _, chance in top.entries]
    _need(len(chances) <= MOST_TOPS, where, f"more than {MOST_TOPS} entries")
    _chances((*chances, top.rest), where)
    _need(sum(chances) + top.rest <= 1 + SLACK, where, "its chances sum to more than 1")


def _chances(chances: Iterable[float | None], where: str) -> None:
    for chance in chances:
        fits = chance is None or -SLACK <= chance <= 1 + SLACK
        _need(fits, where, f"{chance} is not a chance between 0 and 1")


def _need(holds: bool, where: str, wrong: str) -> None:
    if not holds:
        raise ValueError(f"{where}: {wrong}.")
