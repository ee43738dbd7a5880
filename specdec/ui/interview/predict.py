"""Predict, then reveal: recorded rounds to foresee, with a confidence, and how good that was."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from specdec import predict
from specdec.language import text
from specdec.predict import HINTS, KEPT, Question
from specdec.predict_score import Answer
from specdec.presets import presets
from specdec.trace import Drafted
from specdec.ui import query, shell, stage
from specdec.ui.interview import predict_chart
from specdec.ui.interview.kept import widget
from specdec.ui.interview.series import LIMITS as SERIES
from specdec.ui.interview.series import series, verdict
from specdec.ui.literal import literal
from specdec.ui.overlap_trace import code

LIMITS = SERIES | {"hint": query.KEYS["hint"]}
ANSWERS = "predict answers"  # of the session state: address → (choice, Answer)
TAIL = 600  # characters of the text before that are shown


def draw(link: Mapping[str, Any]) -> dict[str, Any]:
    """Draw the part; returns its state for a link."""
    words = text("predict")
    st.markdown(words["intro"])
    at = series("predict", link)
    hint = st.radio(
        words["hint"],
        HINTS,
        key=widget("hint", link["hint"]),
        format_func=words["hints"].__getitem__,
        horizontal=True,
    )
    asked, given = (
        predict.question(at.seed, at.step, hint),
        st.session_state.setdefault(ANSWERS, {}),
    )
    address = (at.seed, at.step, hint)
    with st.container(border=True):
        _ask(asked, words, hint == "laws")
        if address not in given:
            _form(asked, words, address)
        if address in given:
            _reveal(asked, words, *given[address])
    predict_chart.panel([answer for _, answer in given.values()])
    if given and st.button(words["forget"]):
        given.clear()
        st.rerun()
    return {"seed": at.seed, "step": at.step, "hint": hint}


def _ask(asked: Question, words: Mapping[str, Any], laws: bool) -> None:
    place, settings = asked.place, asked.place.trace.settings
    prompt = next(p.prompt for p in presets() if p.name == place.preset)
    st.caption(words["prompt"].format(prompt=literal(prompt)))
    st.markdown(words["before"])
    st.code(asked.before[-TAIL:] or words["nothing"], language=None, wrap_lines=True)
    which = "lost" if asked.kind == "word" and asked.drafted else asked.kind
    tokens = " ".join(code(token.text) for token in asked.drafted)
    st.markdown(words["ask"][which].format(token=tokens, tokens=tokens, k=settings.k))
    if laws and asked.kind != "word":
        st.table([_row(token) for token in asked.drafted])
    elif laws:
        st.table(_alternatives(asked))
        st.caption(words["unknown"])
    way, T = words["ways"][place.way], settings.sampling.temperature
    st.caption(words["source"].format(way=way, k=settings.k, T=T))


def _row(token: Drafted) -> dict[str, str]:
    return {"token": code(token.text), "p": _short(token.p), "q": _short(token.q)}


def _alternatives(asked: Question) -> list[dict[str, str]]:
    """Each choice with what the trace holds of p, and of the rejected token's q."""
    r = asked.place.of_round
    lost = asked.drafted[0] if asked.drafted else None
    heads = {"p": lost.p_top if lost else r.written[-1].p_top, "q": lost and lost.q_top}
    masses = {n: {t: x for _, t, x in top.entries} for n, top in heads.items() if top}
    if lost:
        masses["p"][lost.text], masses["q"][lost.text] = lost.p, lost.q
    return [
        {"token": code(c.text)}
        | {name: _short(law[c.text]) if c.text in law else "–" for name, law in masses.items()}
        for c in asked.choices
    ]


def _form(asked: Question, words: Mapping[str, Any], address: tuple) -> None:
    least = round(100 * asked.guess)
    with st.form(f"predict {address}", border=False):
        choice = st.radio(
            words["choice"],
            range(len(asked.choices)),
            None,
            key=f"predict choice {address}",
            format_func=lambda i: _label(asked, words, i),
        )
        sure = st.slider(
            words["sure"].format(guess=least), least, 100, least, key=f"predict sure {address}"
        )
        sent = st.form_submit_button(words["answer"], type="primary")
    if sent and choice is None:
        st.warning(words["choose"])
    elif sent:
        right, picked = choice == asked.right, asked.choices[choice]
        chance = None if asked.greedy else float(picked.chance)
        st.session_state[ANSWERS][address] = (choice, Answer(sure / 100, right, chance))
        st.rerun()


def _label(asked: Question, words: Mapping[str, Any], i: int) -> str:
    said = asked.choices[i].text
    if asked.kind == "word":
        return code(said)
    return words["verdicts"][said] if asked.kind == "judge" else said


def _reveal(asked: Question, words: Mapping[str, Any], choice: int, answer: Answer) -> None:
    label = _label(asked, words, choice)
    said = words["said"].format(answer=label)
    st.markdown(f"{verdict(answer.right)} {said} {_told(asked, words)}")
    if answer.chance is None:
        st.markdown(words["greedy"])
    else:
        said = {"chance": f"{answer.chance:.0%}", "sure": f"{answer.sure:.0%}"}
        st.markdown(words["chance"].format(**said))
    st.page_link(
        shell.page("live").path,
        label=words["show"].format(round=asked.place.round + 1),
        icon=":material/play_circle:",
        query_params=shell.carried() | query.write(**stage_link(asked)),
    )


def _told(asked: Question, words: Mapping[str, Any]) -> str:
    """What is in the trace, in a sentence."""
    told, r = words["told"], asked.place.of_round
    own = code(r.written[-1].text)
    if asked.kind == "word":
        return told["lost" if asked.drafted else "word"].format(own=own)
    if asked.kind == "count":
        kept = [f"✓ {code(token.text)}" for token in r.drafted[: r.accepted]]
        lost = [f"✗ {code(token.text)}" for token in r.drafted[r.accepted : r.accepted + 1]]
        sign = "↻" if lost else "+"
        return told["count"].format(row=" · ".join([*kept, *lost, f"{sign} {own}"]))
    [token] = asked.drafted
    said = words["verdicts"][asked.choices[asked.right].text]
    if token.u is None:
        best = token.text if asked.choices[asked.right].text == KEPT else r.written[-1].text
        return told["greedy"].format(own=code(best), verdict=said)
    chance = asked.choices[0].chance
    return told["judge"].format(
        u=_short(token.u),
        p=_short(token.p),
        q=_short(token.q),
        chance=_short(chance),
        sign="u < min(1, p/q)" if token.u < chance else "u ≥ min(1, p/q)",
        verdict=said,
    )


def stage_link(asked: Question) -> dict[str, Any]:
    """The state of "Live pair" whose stage stands at the end of the question."""
    place, s, r = asked.place, asked.place.trace.settings, asked.place.of_round
    judged, last = r.accepted + r.rejected, stage.steps(r) - 1
    tail = judged < len(r.drafted)
    step = last - tail - judged + place.token if asked.kind == "judge" else last
    return {
        **{"prompt": place.preset, "chat": int(s.chat), "drafter": s.drafter, "k": s.k},
        **{"T": s.sampling.temperature, "top_k": s.sampling.top_k, "top_p": s.sampling.top_p},
        **{"n": s.max_new_tokens, "seed": s.seed, "rule": s.rule},
        **{"round": place.round + 1, "step": step},
    }


def _short(x: float) -> str:
    """A chance to three places, never a false 0 or 1."""
    plain = f"{x:.3f}"
    return f"{x:.2g}" if 0 < x < 1 and plain in ("0.000", "1.000") else plain
