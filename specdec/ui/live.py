"""What a reader of "Live pair" asks for: the controls, and the link that restores them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import streamlit as st

from specdec.law import Sampling
from specdec.presets import Preset, presets
from specdec.trace import Settings
from specdec.ui import engine, query
from specdec.ui.engine import MAX_K, MAX_NEW_TOKENS, Asked
from specdec.ui.stage import Position

OWN = "own"  # the name of a reader's own prompt
OPENED = "opened file"  # of the session state: (name, trace) of a reader's file
PROMPTS = {"own", "chat"}  # widgets that are only there for a reader's own prompt
LAST = "live last"  # of the session state: what the widgets showed; their own state goes with them
DRAFTERS = {
    "model": "small model",
    "lookup": "prompt lookup",
    "heads": "heads on the target",
    "combined": "lookup, else heads",
}
RULES = {
    "pq": "min(1, p/q), else the residual",
    "match": "sampler-match: keep what the target draws too",
    "block": "block verification: the draft judged as a whole",
}
KEYS = (
    *("k", "T", "top_k", "top_p", "n", "seed", "drafter", "prompt", "chat", "rule"),
    *("dtype", "device", "panel", "round", "step"),
)
LIMITS = {
    "k": query.Number(4, 0, MAX_K, whole=True),
    "n": query.Number(64, 1, MAX_NEW_TOKENS, whole=True),
    "top_p": query.Number(1.0, 0.05, 1.0),
}


def controls(link: Mapping[str, Any]) -> Asked:
    """The settings, as widgets that start from a link; later their own state counts.

    A reader who comes back without a link finds what he left.
    """
    known = {p.name: p for p in presets()}
    values = _values(link, known)
    for name in values.keys() - PROMPTS:
        st.session_state.setdefault(f"live {name}", values[name])
    choice = st.segmented_control(
        "Prompt",
        [*known, OWN],
        format_func=lambda name: known[name].title if name in known else "Your own",
        key="live preset",
        required=True,
    )
    left, right = st.columns([3, 2], gap="large")
    with left:
        prompt, chat = _prompt(choice, known, values)
    with right:
        drafter = st.segmented_control(
            "Drafter",
            list(DRAFTERS),
            format_func=DRAFTERS.get,
            key="live drafter",
            required=True,
        )
        k = st.slider("k, drafted tokens a round", 0, MAX_K, key="live k")
        temperature = st.slider("Temperature (0: greedy)", 0.0, 2.0, step=0.05, key="live T")
        with st.popover("Top-k, top-p, length, rule …", width="stretch"):
            top_k = st.number_input("Top-k (0: off)", 0, 1000, key="live top_k")
            top_p = st.slider("Top-p (1: off)", 0.05, 1.0, key="live top_p")
            n = st.slider("Tokens at most", 1, MAX_NEW_TOKENS, key="live n")
            rule = st.radio("Rule", list(RULES), format_func=RULES.get, key="live rule")
            seed = st.number_input("Seed", 0, 2**32 - 1, key="live seed")
            machine = _machine(link["device"])
    st.session_state[LAST] = {
        name: st.session_state.get(f"live {name}", value) for name, value in values.items()
    }
    sampling = Sampling(temperature, int(top_k), top_p)
    return Asked(prompt, Settings(k, drafter, sampling, n, int(seed), rule, chat=chat), *machine)


def _values(link: Mapping[str, Any], known: Mapping[str, Preset]) -> dict[str, Any]:
    """What widgets without a state of their own show: a link's values, else what they last did."""
    arrives = "live k" not in st.session_state and any(key in st.query_params for key in KEYS)
    return _first(link, known) | ({} if arrives else st.session_state.get(LAST, {}))


def _first(link: Mapping[str, Any], known: Mapping[str, Preset]) -> dict[str, Any]:
    """What the widgets show on the first visit: the link's values."""
    names = ("drafter", "k", "top_k", "n", "rule", "seed", "dtype", "device")
    preset = link["prompt"] if link["prompt"] in known else OWN if link["prompt"] else "chat"
    return {name: link[name] for name in names} | {
        "preset": preset,
        "T": float(link["T"]),
        "top_p": float(link["top_p"]),
        "own": link["prompt"] if preset == OWN else "",
        "chat": link["chat"] == "1",
    }


def _machine(device: str) -> tuple[str, str]:
    """Precision, and device where there is a choice."""
    dtype = st.selectbox(
        "Precision",
        list(engine.DTYPES),
        format_func=engine.DTYPES.get,
        key="live dtype",
        help="Another precision is loaded beside the first, on the next run.",
    )
    if not engine.has_gpu():
        return dtype, device
    words = engine.DEVICES.get
    return dtype, st.selectbox("Device", list(engine.DEVICES), format_func=words, key="live device")


def _prompt(
    choice: str, known: Mapping[str, Preset], values: Mapping[str, Any]
) -> tuple[str, bool]:
    if choice in known:
        preset = known[choice]
        st.text_area(
            "The prompt", preset.prompt, disabled=True, height=140, key=f"live text {choice}"
        )
        return preset.prompt, preset.chat
    for name in PROMPTS:
        st.session_state.setdefault(f"live {name}", values[name])
    text = st.text_area(
        "The prompt", height=140, max_chars=2000, key="live own", placeholder="Any text"
    )
    return text, st.checkbox("As a chat message (else: text to continue)", key="live chat")


def link_to(asked: Asked, name: str, place: Position, panel: str) -> dict[str, Any]:
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
        "dtype": asked.dtype,
        "device": asked.device,
        "panel": panel,
        "round": place.round,
        "step": place.step,
    }


def one_more(run: engine.Live, asked: Asked) -> Callable[[], None] | None:
    """What gives a run that pauses its next round; None where there is none to give."""
    if run.trace is None or run.ended or run.asked != asked:
        return None
    return lambda: run.start(asked, one_round=True)


def buttons(run: engine.Live, asked: Asked) -> None:
    """Start, step and stop; a run of one's own closes a file that was opened."""

    def start(one_round: bool) -> None:
        st.session_state.pop(OPENED, None)
        run.start(asked, one_round=one_round)

    with st.container(horizontal=True):
        for label, one_round in (("Run", False), ("One round", True)):
            st.button(
                label,
                type="secondary" if one_round else "primary",
                on_click=start,
                args=(one_round,),
                disabled=run.running,
            )
        st.button("Stop", on_click=run.cancel, disabled=not run.running)
