"""Station 6: the end of the text inside a draft."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

import streamlit as st

from specdec import toy
from specdec.lab import past_the_end
from specdec.lab.past_the_end import Case, Ends
from specdec.presets import ASSETS
from specdec.trace import Trace
from specdec.ui import query, tables
from specdec.ui.literal import literal
from specdec.ui.live_rates import number
from specdec.ui.shown import source
from specdec.ui.stage import Position, stage, steps
from specdec.ui.stations.parts import part, question

MOST_K, LONGEST = 8, 40
TEXTS = {"model": "A recorded text of the default target", "toy": "The kiln, a toy text"}
EOS = {"model": "<|im_end|>", "toy": "<end>"}
KINDS = {"eos": "the end-of-text token", "stop": "a stop string", "length": "the length limit"}
DRAFTERS = {"lookup": "prompt lookup", "oracle": "an oracle that was told the text"}
STOPS = {"model": ". Every", "toy": "its heat"}
LIMITS = {
    "open": query.Choice("model-eos", tuple(f"{text}-{kind}" for text in TEXTS for kind in KINDS)),
    "k": query.Number(4, 1, MOST_K, whole=True),
    "n": query.Number(64, 1, 80, whole=True),
    "drafter": query.Choice("oracle", tuple(DRAFTERS)),
    "prompt": query.Text("", LONGEST),
}


def draw(link: Mapping[str, Any]) -> dict[str, Any]:
    """Draw the station; returns its state for a link."""
    _question()
    part(
        "do",
        "Let two loops write the same text with the same drafts. Ours looks at every token of a "
        "round; the naive one, from the lab, looks for the end at the *last* token of a round.",
    )
    text, ends, state = _controls(link)
    k, drafter, plain = state["k"], state["drafter"], told(text)
    case = past_the_end.run(plain, ends, k=k, drafter=drafter)
    words = (
        f"{source(plain)} The target's words are that run's; drafts, tests and the cut are made "
        "now, by the engine. What the target thinks after a wrong guess is not known here."
    )
    st.caption(words)

    part("symptom", _symptom(case, ends))
    st.caption("Ours")
    st.code(case.ours.text, language=None, wrap_lines=True)
    st.caption("What the naive loop added")
    st.code(
        "".join(token.text for token in case.surplus) or "nothing", language=None, wrap_lines=True
    )
    st.markdown("By luck the end is sometimes the last token of a round. At every k, past the end:")
    st.table([_by_k(plain, ends, drafter)])

    part("cause", _cause(case))
    last = case.ours.rounds[-1]
    key = f"ends {text} {drafter} {k} {ends}"
    stage(case.ours, key=key, start=Position(last.index + 1, steps(last) - 1))

    part(
        "cure",
        "Cut the *written* tokens at the first of: an end-of-text token, the token that completes "
        "a stop string, the limit. Then roll both caches back to the cut, and count only what was "
        "judged before it: what stands behind the end is *discarded*, and leaves every rate.",
    )
    st.table(_counts(case))
    return state


@cache
def told(text: str) -> Trace:
    """Plain decoding of a text that goes on past its end: recorded, or of the toy tables."""
    if text == "model":
        return Trace.from_json((ASSETS / "traces" / "ends.json").read_bytes())
    kiln = toy.table(tables.TARGET)
    return toy.speculative_greedy(kiln, kiln, 24, k=0)


def eos(text: str) -> int:
    """The id of the token that ends it."""
    return next(t.id for t in told(text).written if t.text.strip() == EOS[text])


def _question() -> None:
    case = past_the_end.run(told("toy"), Ends(12, eos("toy")), k=4, drafter="oracle")
    question(
        "ends",
        "The drafter is right four times, and its second guess is the end of the text. The loop "
        "looks at the last token of every round for the end. What does the reader get?",
        ("The right text", "Words past the end", "A text without its end"),
        "Words past the end",
        "The end went by inside the round, and nothing looked at it. On the kiln with k = 4 such "
        f"a loop writes {len(case.naive.written)} tokens where {len(case.ours.written)} were due.",
    )


def _controls(link: Mapping[str, Any]) -> tuple[str, Ends, dict[str, Any]]:
    first_text, first_kind = link["open"].split("-")
    left, right = st.columns(2)
    text = left.radio(
        "Text", list(TEXTS), list(TEXTS).index(first_text), key="ends text", format_func=TEXTS.get
    )
    drafter = left.radio(
        "Drafter",
        list(DRAFTERS),
        list(DRAFTERS).index(link["drafter"]),
        key="ends drafter",
        format_func=DRAFTERS.get,
    )
    kind = right.radio(
        "It ends with",
        list(KINDS),
        list(KINDS).index(first_kind),
        key="ends kind",
        format_func=KINDS.get,
    )
    left, right = st.columns(2)
    k = left.slider("k, drafted tokens a round", 1, MOST_K, link["k"], key="ends k")
    most = len(told(text).token_ids) - MOST_K
    n = right.slider("Limit, tokens", 1, most, min(link["n"], most), key=f"ends n {text}")
    string = link["prompt"] or STOPS[text]
    if kind == "stop":
        string = st.text_input("Stop string", string, LONGEST, key=f"ends stop {text}")
    ends = Ends(n, eos(text) if kind == "eos" else None, string if kind == "stop" else "")
    if ends.string and ends.string not in told(text).text:
        st.info(f"“{literal(ends.string)}” does not occur in this text: the limit ends it.")
    state = {"open": f"{text}-{kind}", "k": k, "n": n, "drafter": drafter, "prompt": ends.string}
    return text, ends, state


def _symptom(case: Case, ends: Ends) -> str:
    ours, naive = case.ours, case.naive
    more, passes = len(case.surplus), naive.target_passes - ours.target_passes
    if not more:
        return (
            f"Nothing, this time: both loops wrote {len(ours.written)} tokens, because the end is "
            "the last token of its round. Change k or the limit."
        )
    why = {"eos": "the end-of-text token", "stop": "the stop string", "length": "the limit"}
    return (
        f"Ours stops at {why[ours.stop_reason]} after **{len(ours.written)} tokens**; the naive "
        f"loop has written **{more} more**, in {passes} more target pass{'es' * (passes != 1)}. "
        "The text was right until there, so a test on short outputs sees nothing."
    )


def _cause(case: Case) -> str:
    before, after = case.before.rounds[-1], case.ours.rounds[-1]
    return (
        f"A round writes up to k + 1 tokens at once. Round {after.index + 1} drafted "
        f"{len(after.drafted)} and accepted {before.accepted}: {len(before.written)} tokens to "
        f"write, and the end is number {len(after.written)} of them. A loop made for one token a "
        "pass looks once a pass."
    )


def _by_k(plain: Trace, ends: Ends, drafter: str) -> dict[str, str]:
    return {
        f"k = {k}": str(len(past_the_end.run(plain, ends, k=k, drafter=drafter).surplus))
        for k in range(1, MOST_K + 1)
    }


def _counts(case: Case) -> list[dict[str, str]]:
    columns = {
        "ours, after the cut": case.ours,
        "the same rounds before it": case.before,
        "the naive loop": case.naive,
    }
    rows = {
        "written": lambda t: str(len(t.written)),
        "target passes": lambda t: str(t.target_passes),
        "accepted": lambda t: str(sum(r.accepted for r in t.rounds)),
        "rejected": lambda t: str(sum(r.rejected for r in t.rounds)),
        "α = accepted ÷ judged": lambda t: number(t.alpha),
        "draft yield": lambda t: number(t.draft_yield),
        "tokens per pass": lambda t: number(t.tokens_per_pass),
    }
    return [
        {"": row} | {name: show(trace) for name, trace in columns.items()}
        for row, show in rows.items()
    ]
